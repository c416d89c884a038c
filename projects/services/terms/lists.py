"""What people have said about the terms of a project, for whoever extracts and defines them."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Q

from projects.choices import TermStatus
from projects.models import Project, SynonymGroup, Term
from projects.querysets import TermQuerySet


@dataclass(frozen=True)
class Lists:
    """Keys are those of `projects/terms/keys.py`."""

    # Key → spelling: the required terms, and those added by hand, which are looked for as well.
    required: Mapping[str, str]
    # As `excluded_keys` says.
    excluded: frozenset[str]
    # Key → what somebody chose or noted.
    categories: Mapping[str, str]
    notes: Mapping[str, str]
    # Of which somebody chose the spelling, the status or the category.
    chosen: frozenset[str]
    # Each group: the primary's spelling first.
    synonyms: list[tuple[str, ...]]


def touched_terms(project: Project) -> TermQuerySet:
    """Those about which somebody has said something: no extraction takes them away."""
    said = (
        Q(status__in=(TermStatus.REQUIRED, TermStatus.EXCLUDED))
        | Q(by_hand=True)
        | Q(group__isnull=False)
        | ~Q(notes="")
        | ~Q(chosen=[])
    )
    return Term.objects.filter(said, project=project)


def excluded_keys(project: Project) -> frozenset[str]:
    """By people. What an extraction left out by itself, the next one judges anew."""
    rows = Term.objects.filter(project=project, status=TermStatus.EXCLUDED)
    return frozenset(rows.values_list("key", flat=True))


def term_lists(project: Project) -> Lists:
    """In two queries, however many terms there are: most of them nobody ever touched."""
    rows = list(
        touched_terms(project)
        .order_by("pk")
        .only("text", "key", "status", "by_hand", "category", "notes", "chosen", "group")
    )
    return Lists(
        required={row.key: row.text for row in rows if _is_wanted(row)},
        excluded=frozenset(row.key for row in rows if row.status == TermStatus.EXCLUDED),
        categories={
            row.key: row.category for row in rows if row.category and "category" in row.chosen
        },
        notes={row.key: row.notes for row in rows if row.notes},
        chosen=frozenset(row.key for row in rows if row.chosen),
        synonyms=_groups(project, rows),
    )


def _is_wanted(term: Term) -> bool:
    if term.status == TermStatus.REQUIRED:
        return True
    return term.by_hand and term.status == TermStatus.CANDIDATE


def _groups(project: Project, terms: list[Term]) -> list[tuple[str, ...]]:
    """Without members that somebody excluded; what is left of a group must be two at least."""
    primaries = set(SynonymGroup.objects.filter(project=project).values_list("primary", flat=True))
    members: dict[int, list[Term]] = defaultdict(list)
    for term in terms:
        if term.group_id is not None and term.status != TermStatus.EXCLUDED:
            members[term.group_id].append(term)
    return [
        tuple(term.text for term in sorted(group, key=lambda term: term.pk not in primaries))
        for _number, group in sorted(members.items())
        if len(group) > 1
    ]
