"""What one run says that another does not, and what publishing a run would change."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.db.models import Max, TextField
from django.db.models.functions import Cast

from projects.categories import category_keys
from projects.models import EntryRevision
from projects.services.glossary.publishing import Effect, effect_of
from projects.services.terms.lists import excluded_keys
from runs.models import Run
from runs.services.publishing import data_of, entries_of

# What makes two entries of one term differ, the definition first: it is what people read.
FIELDS = ("definition", "term", "category", "aliases", "related")
COLUMNS = ("key", "term", "definition", "category", "confidence")
KEPT_SECONDS = 24 * 3600

# COLUMNS, then the aliases and the related terms as JSON.
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Side:
    """An entry as one of the two has it."""

    key: str
    term: str
    definition: str
    category: str
    aliases: tuple[str, ...]
    related: tuple[str, ...]
    confidence: float


@dataclass(frozen=True)
class Changed:
    """A term that both have, but not the same of it."""

    old: Side
    new: Side
    # Names of FIELDS.
    fields: tuple[str, ...]

    @property
    def key(self) -> str:
        return self.new.key

    @property
    def term(self) -> str:
        return self.new.term


@dataclass(frozen=True)
class Comparison:
    """Each list is in the order of the run that it is from: the best terms first."""

    added: list[Side]
    removed: list[Side]
    changed: list[Changed]
    same_count: int

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.removed or self.changed)


def compare(older: Run, newer: Run) -> Comparison:
    old, new = _rows_of(older), _rows_of(newer)
    both = {key: row for key, row in new.items() if key in old and row != old[key]}
    changed = [
        Changed(before, after, fields)
        for key, row in both.items()
        if (fields := _differing(before := _side(old[key]), after := _side(row)))
    ]
    added = [_side(row) for key, row in new.items() if key not in old]
    return Comparison(
        added=added,
        removed=[_side(row) for key, row in old.items() if key not in new],
        changed=changed,
        same_count=len(new) - len(added) - len(changed),
    )


def _rows_of(run: Run) -> dict[str, Row]:
    """By key. Without the evidence, which is the largest part of an entry and is not compared; the
    lists as they are stored, since of thousands of entries a few differ."""
    lists = {f"{name}_text": Cast(name, TextField()) for name in ("aliases", "related")}
    rows = entries_of(run).annotate(**lists)
    return {row[0]: row for row in rows.values_list(*COLUMNS, *lists)}


def _side(row: Row) -> Side:
    *plain, aliases, related = row
    lists = [tuple(map(str, json.loads(text))) for text in (aliases, related)]
    return Side(**dict(zip(COLUMNS, plain, strict=True)), aliases=lists[0], related=lists[1])


def _differing(old: Side, new: Side) -> tuple[str, ...]:
    return tuple(name for name in FIELDS if _plain(old, name) != _plain(new, name))


def _plain(side: Side, name: str) -> Any:
    """Aliases and related terms say the same in any order."""
    value = getattr(side, name)
    return frozenset(value) if isinstance(value, tuple) else value


def preview(run: Run) -> Effect:
    """What would become of the project's glossary. Remembered until somebody changes that, or
    excludes a term: the run itself says the same for ever, and comparing thousands of entries takes
    its time."""
    newest = EntryRevision.objects.filter(project=run.project_id).aggregate(Max("pk"))["pk__max"]
    # With the moment the run was made: numbers are given again where a database is made anew.
    lists = [sorted(keys(run.project)) for keys in (category_keys, excluded_keys)]
    state = (run.pk, run.created_at, newest, lists)
    name = f"runs.preview:{hashlib.sha256(repr(state).encode()).hexdigest()}"
    effect: Effect | None = cache.get(name)
    if effect is None:
        effect = effect_of(project=run.project, entries=map(data_of, entries_of(run)))
        cache.set(name, effect, KEPT_SECONDS)
    return effect
