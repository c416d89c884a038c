"""Precision, recall and F1 of a ranked list of terms against a glossary."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from projects.terms.keys import key_of

AT = (100, 200, 500)


@dataclass(frozen=True)
class Judged:
    name: str
    language: str
    is_tuned: bool
    documents: list[str]
    # The names of each term of the glossary.
    glossary: list[list[str]]


def judged_sets(folder: Path) -> list[Judged]:
    sets = []
    for path in sorted(folder.glob("*.json")):
        data = json.loads(path.read_text())
        data.pop("glossary_size")
        sets.append(Judged(**data))
    return sets


@dataclass(frozen=True)
class Quality:
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def quality(ranked: Sequence[Sequence[str]], glossary: Sequence[Sequence[str]], at: int) -> Quality:
    """`ranked`: the spellings of each term found, best first. A term of the glossary counts once,
    and a term found is right if any of its spellings is one of the glossary's."""
    wanted = [{key_of(name) for name in names} for names in glossary]
    found = [{key_of(name) for name in names} for names in ranked[:at]]
    seen = set[str]().union(*found) if found else set()
    every = set[str]().union(*wanted)
    recall = sum(bool(names & seen) for names in wanted) / len(wanted)
    return Quality(sum(bool(names & every) for names in found) / max(len(found), 1), recall)
