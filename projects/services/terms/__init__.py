"""The terms of a project: what people do to them, what an extraction does, and what it is told."""

from projects.categories import CategoryInfo, categories_of
from projects.services.terms.changes import (
    add_term,
    delete_terms,
    list_term,
    set_category,
    set_status,
    update_term,
)
from projects.services.terms.extraction import Found, Taken, take_extraction
from projects.services.terms.lists import Lists, term_lists

__all__ = [
    "CategoryInfo",
    "Found",
    "Lists",
    "Taken",
    "add_term",
    "categories_of",
    "delete_terms",
    "list_term",
    "set_category",
    "set_status",
    "take_extraction",
    "term_lists",
    "update_term",
]
