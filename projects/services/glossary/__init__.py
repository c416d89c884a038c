"""The published glossary: every change is one transaction, has an author, and can be undone."""

from projects.exports.data import EntryData
from projects.services.glossary.entries import (
    add_entry,
    clear_category,
    delete_entry,
    edit_entry,
    unlock,
)
from projects.services.glossary.publishing import Published, publish_entries
from projects.services.glossary.undoing import can_undo, undo, undo_batch

__all__ = [
    "EntryData",
    "Published",
    "add_entry",
    "can_undo",
    "clear_category",
    "delete_entry",
    "edit_entry",
    "publish_entries",
    "undo",
    "undo_batch",
    "unlock",
]
