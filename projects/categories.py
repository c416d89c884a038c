"""The kinds of terms of a project: those that every project has, and its own."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from projects.choices import Category
from projects.models import Project, TermCategory

# What the extraction leaves out of any glossary by itself.
AUTO_EXCLUDED = frozenset({Category.COMMON_NOUN.value})


@dataclass(frozen=True)
class CategoryInfo:
    key: str
    # In the reader's language where it is one of everybody's.
    label: Any
    # Only this project has it.
    own: bool
    auto_exclude: bool


def categories_of(project: Project) -> list[CategoryInfo]:
    """Everybody's first, then the project's own by name."""
    everybodys = [
        CategoryInfo(category.value, category.label, False, category.value in AUTO_EXCLUDED)
        for category in Category
    ]
    own = TermCategory.objects.filter(project=project).order_by("name", "pk")
    return everybodys + [CategoryInfo(row.key, row.name, True, row.auto_exclude) for row in own]


def category_keys(project: Project) -> frozenset[str]:
    own = TermCategory.objects.filter(project=project).values_list("key", flat=True)
    return frozenset({*Category.values, *own})


def auto_excluding(project: Project) -> frozenset[str]:
    """The keys of those whose terms are left out without anybody saying so."""
    own = TermCategory.objects.filter(project=project, auto_exclude=True)
    return AUTO_EXCLUDED | frozenset(own.values_list("key", flat=True))


def check_category(project: Project, key: str) -> None:
    """Empty is none, which is fine."""
    if key and key not in category_keys(project):
        raise Refusal(
            "category_unknown",
            _("This project has no category “%(key)s”.") % {"key": key},
            status=400,
        )
