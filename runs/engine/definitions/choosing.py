"""Which passages of a term are shown: the most definitional, then as different as can be."""

import re
from collections.abc import Sequence

from indexing.sections.tokens import count_within
from runs.engine.definitions.findings import STRONG
from runs.engine.definitions.passages import Passage

# What a second passage of the same document, or below the same heading, counts less.
SAME_DOCUMENT, SAME_HEADING = 0.12, 0.08
# Two passages that share more of their words than this say the same.
ALIKE = 0.7
# So many are compared; those behind them are hardly ever better.
CONSIDERED = 60
WORDS = re.compile(r"[A-Za-z0-9]+|[^\W\sA-Za-z0-9_]{2}")


def choose(passages: Sequence[Passage], *, limit: int, most_tokens: int) -> list[Passage]:
    left = sorted(passages, key=Passage.order)[:CONSIDERED]
    chosen: list[Passage] = []
    words: list[frozenset[str]] = []
    room = most_tokens
    while left and len(chosen) < limit:
        best = min(left, key=lambda passage: (-_worth(passage, chosen), passage.order()))
        left.remove(best)
        own = _words(best.text)
        if any(_alike(own, other) for other in words):
            continue
        tokens = count_within(best.text, room)
        if tokens is None:
            continue
        room -= tokens
        chosen.append(best)
        words.append(own)
    return sorted(chosen, key=lambda passage: passage.score < STRONG)


def _worth(passage: Passage, chosen: Sequence[Passage]) -> float:
    worth = passage.score
    for other in chosen:
        if other.document == passage.document:
            worth -= SAME_DOCUMENT
            if other.heading_path == passage.heading_path:
                worth -= SAME_HEADING
    return worth


def _words(text: str) -> frozenset[str]:
    return frozenset(WORDS.findall(text.lower()))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    return shared > ALIKE * max(1, min(len(one), len(other)))
