"""Revisions of entries as a page shows them: who, when, and which words came and went."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, Window
from django.db.models.functions import RowNumber
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from projects.models import EntryRevision, GlossaryEntry, Project
from projects.rendering.diff import ADDED, REMOVED, SAME
from projects.rendering.words import Span, word_diff
from projects.services.glossary import can_undo

# Of a publication the history names this many entries.
FEW = 8

FIELD_NAMES: dict[str, Any] = {
    "term": _("Term"),
    "definition": pgettext_lazy("glossary", "Definition"),
    "category": _("Category"),
    "aliases": _("Aliases"),
    "related": _("Related terms"),
}


@dataclass(frozen=True)
class FieldChange:
    field: str
    label: Any
    spans: list[Span]


@dataclass(frozen=True)
class Row:
    revision: EntryRevision
    language: str
    changes: list[FieldChange]
    # Quotes that came, minus those that went.
    evidence: int
    # Fields whose locks were taken away, or set, by their names.
    unlocked: list[Any]
    reviewed: bool
    can_undo: bool


@dataclass(frozen=True)
class Batch:
    """What was done in one go: one change, or all that came from a run."""

    batch: UUID
    count: int
    # Of how many entries it can still be taken back.
    open: int
    # The only one, or the first few.
    rows: list[Row]

    @property
    def first(self) -> EntryRevision:
        return self.rows[0].revision


def batches_of(
    project: Project, page: Iterable[dict[str, Any]], labels: dict[str, Any]
) -> list[Batch]:
    """In the order of the page. Three queries, however large the batches are."""
    ids = [row["batch"] for row in page]
    counts = {
        row["batch"]: row
        for row in project.entry_revisions.filter(batch__in=ids)
        .order_by()
        .values("batch")
        .annotate(n=Count("pk"), open=Count("pk", filter=Q(undone_by=None)))
    }
    place = Window(RowNumber(), partition_by="batch", order_by="pk")
    # Numbers first: the rows of a large batch are long, and only a few of them are shown.
    first = project.entry_revisions.filter(batch__in=ids).annotate(place=place)
    few = list(first.filter(place__lte=FEW).order_by().values_list("pk", flat=True))
    shown = EntryRevision.objects.filter(pk__in=few).select_related("author", "entry")
    rows: dict[UUID, list[Row]] = {}
    for revision in shown.order_by("pk"):
        rows.setdefault(revision.batch, []).append(_row(revision, labels))
    return [Batch(id, counts[id]["n"], counts[id]["open"], rows[id]) for id in ids]


def rows_of(revisions: Iterable[EntryRevision], labels: dict[str, Any]) -> list[Row]:
    return [_row(revision, labels) for revision in revisions]


def _row(revision: EntryRevision, labels: dict[str, Any]) -> Row:
    before, after = revision.before or {}, revision.after or {}
    # Of an entry that came or went, the definition says enough.
    names = GlossaryEntry.FIELDS if before and after else ("definition",)
    changes = [
        FieldChange(name, FIELD_NAMES[name], _spans(name, before, after, labels))
        for name in names
        if before.get(name) != after.get(name) and (before.get(name) or after.get(name))
    ]
    lost = [name for name in before.get("locked", []) if name not in after.get("locked", [])]
    return Row(
        revision=revision,
        language=(after or before).get("language", ""),
        changes=changes,
        evidence=len(after.get("evidence", [])) - len(before.get("evidence", [])),
        unlocked=[FIELD_NAMES[name] for name in lost if after and name in FIELD_NAMES],
        reviewed=bool(before.get("needs_review") and after and not after.get("needs_review")),
        can_undo=can_undo(revision),
    )


def _spans(
    name: str, before: dict[str, Any], after: dict[str, Any], labels: dict[str, Any]
) -> list[Span]:
    if name in ("aliases", "related"):
        old, new = before.get(name) or [], after.get(name) or []
        gone = [Span(REMOVED, text) for text in old if text not in new]
        come = [Span(ADDED, text) for text in new if text not in old]
        return gone + come
    old_text, new_text = before.get(name) or "", after.get(name) or ""
    if not before:
        return [Span(SAME, new_text)]
    if name == "category":
        old_text = str(labels.get(old_text, old_text))
        new_text = str(labels.get(new_text, new_text))
        return [Span(k, t) for k, t in ((REMOVED, old_text), (ADDED, new_text)) if t]
    return word_diff(old_text, new_text)
