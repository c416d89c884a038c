"""The fields of the filter above statistics and commits: what can be chosen, and what is."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from collection.models import Branch, Repository
from collection.statistics.asking import KEYS
from projects.models import Project

# More would be a list to search in; the pages of authors and repositories lead to the others.
MOST_SHOWN = 40


@dataclass(frozen=True)
class Option:
    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True)
class Choice:
    """A field with boxes to tick."""

    key: str
    label: Any
    options: list[Option]
    # Those that are not listed.
    more: int = 0

    @property
    def chosen(self) -> list[Option]:
        return [option for option in self.options if option.is_chosen]


def choices_of(
    project: Project, sent: QueryDict, authors: Iterable[tuple[str, str]]
) -> list[Choice]:
    """`authors` are keys and labels, the busiest first. What is chosen and is not there any more
    stays in the list: a filter from yesterday must not silently become another."""
    repositories = Repository.objects.seen_by(project).order_by("name", "pk")
    branches = Branch.objects.filter(repository__in=Repository.objects.seen_by(project))
    names = branches.order_by("name").values_list("name", flat=True).distinct()
    return [
        _choice(
            KEYS["repositories"],
            gettext_lazy("Repositories"),
            ((str(pk), name) for pk, name in repositories.values_list("pk", "name")),
            sent,
        ),
        _choice(KEYS["branches"], gettext_lazy("Branches"), ((name, name) for name in names), sent),
        _choice(KEYS["authors"], gettext_lazy("Authors"), authors, sent),
    ]


def _choice(key: str, label: Any, known: Iterable[tuple[str, str]], sent: QueryDict) -> Choice:
    chosen = dict.fromkeys(value for value in sent.getlist(key) if value)
    labels = dict(known)
    first = [
        Option(value, labels.get(value) or _("%(name)s (not here)") % {"name": value}, True)
        for value in chosen
    ]
    others = [value for value in labels if value not in chosen]
    shown = [Option(value, labels[value], False) for value in others[:MOST_SHOWN]]
    return Choice(key, label, first + shown, max(0, len(others) - MOST_SHOWN))
