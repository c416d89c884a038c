"""What one run says that another does not, and what publishing a run would change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from projects.services.glossary.publishing import Effect, effect_of
from runs.models import Run
from runs.services.publishing import data_of, entries_of

# What makes two entries of one term differ, the definition first: it is what people read.
FIELDS = ("definition", "term", "category", "aliases", "related")


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
    old, new = sides_of(older), sides_of(newer)
    changed = [
        Changed(old[key], side, fields)
        for key, side in new.items()
        if key in old and (fields := _differing(old[key], side))
    ]
    added = [side for key, side in new.items() if key not in old]
    return Comparison(
        added=added,
        removed=[side for key, side in old.items() if key not in new],
        changed=changed,
        same_count=len(new) - len(added) - len(changed),
    )


def sides_of(run: Run) -> dict[str, Side]:
    """By key. Without the evidence, which is the largest part of an entry and is not compared."""
    columns = ("key", "term", "definition", "category", "aliases", "related", "confidence")
    return {row["key"]: _side(row) for row in entries_of(run).values(*columns)}


def _side(row: Mapping[str, Any]) -> Side:
    lists = {name: tuple(map(str, row[name])) for name in ("aliases", "related")}
    return Side(**{**row, **lists})


def _differing(old: Side, new: Side) -> tuple[str, ...]:
    return tuple(name for name in FIELDS if _plain(old, name) != _plain(new, name))


def _plain(side: Side, name: str) -> Any:
    """Aliases and related terms say the same in any order."""
    value = getattr(side, name)
    return frozenset(value) if isinstance(value, tuple) else value


def preview(run: Run) -> Effect:
    """What would become of the project's glossary."""
    return effect_of(project=run.project, entries=map(data_of, entries_of(run)))
