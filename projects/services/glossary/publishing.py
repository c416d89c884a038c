"""Copying what a run wrote into the glossary, around what people have written there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction

from projects.access import Actor, author_of
from projects.categories import category_keys
from projects.choices import Change
from projects.exports.data import EntryData
from projects.models import GlossaryEntry, Project
from projects.models.terms import TERM_LENGTH
from projects.services.glossary.rows import (
    CONTENT,
    Writer,
    Written,
    save_all,
    snapshot,
    tell,
)
from projects.services.locking import lock_project
from projects.services.terms.lists import excluded_keys
from projects.terms.keys import key_of
from projects.terms.readings import index_letter
from projects.terms.signs import visible

# A locked definition collects what later runs find for it, but not without end.
MOST_EVIDENCE = 20
# What goes with the definition: it says nothing about another one.
OF_DEFINITION = ("definition", "confidence", "supported", "needs_review", "prompt_version")
# Figures that follow the documents: alone they make no revision.
FIGURES = ("score", "frequency", "reading", "letter", "language", "prompt_version", "run_id")


@dataclass(frozen=True)
class Effect:
    """On the glossary, in entries."""

    created: int
    updated: int
    unchanged: int
    # In how many something that a person wrote stays as it is, against the run.
    locked: int
    # From earlier runs, and not in this one: they stay.
    absent: int
    # Not published, because people have excluded their terms; what is in the glossary stays.
    excluded: int


@dataclass(frozen=True)
class Published(Effect):
    # For undoing all of it in one go.
    batch: UUID


@dataclass
class _Plan:
    new: list[EntryData] = field(default_factory=list)
    changed: list[Written] = field(default_factory=list)
    figures: list[GlossaryEntry] = field(default_factory=list)
    unchanged: int = 0
    held: int = 0
    absent: int = 0
    excluded: int = 0

    def effect(self) -> dict[str, int]:
        return {
            "created": len(self.new),
            "updated": len(self.changed),
            "unchanged": self.unchanged,
            "locked": self.held,
            "absent": self.absent,
            "excluded": self.excluded,
        }


def effect_of(*, project: Project, entries: Iterable[EntryData]) -> Effect:
    """What publishing these would do. Nothing is written."""
    return Effect(**_planned(project, entries, None, category_keys(project)).effect())


@transaction.atomic
def publish_entries(
    *, project: Project, entries: Iterable[EntryData], run_id: int | None, actor: Actor
) -> Published:
    """Write entries into the glossary, in one step. What is there and not among them stays."""
    lock_project(project)
    categories = category_keys(project)
    plan = _planned(project, entries, run_id, categories)
    written = [Written(None, _new_entry(project, data, run_id, categories)) for data in plan.new]
    written += plan.changed
    writer = Writer(project, Change.PUBLISHED, author_of(actor), run_id)
    save_all(plan.figures)
    writer.write(written)
    published = Published(**plan.effect(), batch=writer.batch)
    if written:
        _tell(project, actor, run_id, written, published)
    return published


def _planned(
    project: Project,
    entries: Iterable[EntryData],
    run_id: int | None,
    categories: frozenset[str],
) -> _Plan:
    known = {entry.key: entry for entry in GlossaryEntry.objects.filter(project=project)}
    renamed = _old_names(known.values())
    excluded = excluded_keys(project)
    news: dict[str, EntryData] = {}
    for data in entries:
        news.setdefault(data.key, data)
    plan = _Plan()
    seen: set[int] = set()
    for key, data in news.items():
        entry = known.get(key)
        if key in excluded:
            plan.excluded += 1
            if entry is not None:
                seen.add(entry.pk)
            continue
        if entry is None and key in renamed:
            entry = renamed[key]
            if entry.key in news or entry.pk in seen:
                # The run knows it by its new name as well, or by a better one of the old names.
                plan.unchanged += 1
                continue
        if entry is None:
            plan.new.append(data)
            continue
        seen.add(entry.pk)
        before = snapshot(entry)
        plan.held += _take_over(entry, data, run_id, categories)
        if any(before[name] != getattr(entry, name) for name in CONTENT):
            plan.changed.append(Written(before, entry))
            continue
        plan.unchanged += 1
        entry.run_id = before["run_id"]
        if any(before[name] != getattr(entry, name) for name in FIGURES):
            plan.figures.append(entry)
    plan.absent = sum(each.run_id is not None and each.pk not in seen for each in known.values())
    return plan


def _old_names(entries: Iterable[GlossaryEntry]) -> dict[str, GlossaryEntry]:
    """Entries that a person gave another name, by the keys of the names they go by as well."""
    return {
        key_of(alias): entry
        for entry in entries
        if "term" in entry.locked and "aliases" in entry.locked
        for alias in entry.aliases
    }


def _new_entry(
    project: Project, data: EntryData, run_id: int | None, categories: frozenset[str]
) -> GlossaryEntry:
    return GlossaryEntry(project=project, key=data.key, run_id=run_id, **_values(data, categories))


def _take_over(
    entry: GlossaryEntry, data: EntryData, run_id: int | None, categories: frozenset[str]
) -> bool:
    """Everything that nobody has locked; and whether something locked would have differed."""
    values = _values(data, categories)
    held = any(getattr(entry, name) != values[name] for name in entry.locked if name in values)
    locked = {*entry.locked}
    if "definition" in locked:
        locked.update(OF_DEFINITION)
        values["evidence"] = _together(entry.evidence, values["evidence"])
    elif entry.definition == values["definition"] and not entry.needs_review:
        # Somebody has looked at these very words.
        values["needs_review"] = False
    if "term" in locked or entry.key != data.key:
        locked.update(("term", "reading", "letter", "language"))
    for name, value in values.items():
        if name not in locked:
            setattr(entry, name, value)
    entry.run_id = run_id
    return held


def _values(data: EntryData, categories: frozenset[str]) -> dict[str, Any]:
    reading = data.reading[:TERM_LENGTH]
    return {
        "term": visible(data.term)[:TERM_LENGTH],
        "reading": reading,
        "letter": index_letter(reading),
        "language": data.language,
        "definition": data.definition,
        "confidence": min(1.0, max(0.0, data.confidence)),
        "category": data.category if data.category in categories else "",
        "aliases": [visible(name) for name in data.aliases],
        "related": [visible(name) for name in data.related],
        "evidence": [_as_stored(piece) for piece in data.evidence],
        "supported": data.supported,
        "needs_review": data.needs_review,
        "score": data.score,
        "frequency": data.frequency,
        "prompt_version": data.prompt_version,
    }


def _as_stored(piece: Mapping[str, Any]) -> dict[str, Any]:
    """As the database gives it back, so that the same is seen to be the same."""
    return {name: list(v) if isinstance(v, tuple) else v for name, v in piece.items()}


def _together(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each quote of each document once, at the place where it was seen last."""
    found = {(piece["path"], piece["quote"]): piece for piece in old}
    found |= {(piece["path"], piece["quote"]): piece for piece in new}
    return list(found.values())[:MOST_EVIDENCE]


def _tell(
    project: Project,
    actor: Actor,
    run_id: int | None,
    written: list[Written],
    published: Published,
) -> None:
    tell(
        project,
        actor,
        "glossary.published",
        [row.number for row in written],
        created=published.created,
        updated=published.updated,
        locked=published.locked,
        run_id=run_id,
        batch=str(published.batch),
    )
