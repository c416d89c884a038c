"""Which terms have to do with each other: by their words, and by standing together."""

import math
import re
from collections.abc import Sequence
from itertools import combinations

from indexing.lexical.analysis import JAPANESE
from runs.engine.definitions.finder import ContextFinder
from runs.engine.definitions.spelling import KANJI, SPACES, folded, stands_alone
from runs.pipeline.data import Term

MOST = 5
# Two terms are companions when they stand together this often, and this much more often than
# chance would have it (1 is always, 0 is by chance).
FEWEST_TOGETHER, LEAST_STRENGTH = 2, 0.35
# Terms with the same head are siblings, as long as they are few: everything may be a system.
MOST_SIBLINGS, SIBLINGS = 6, 0.3
JAPANESE_END = re.compile(f"[{JAPANESE}]")
SHORTEST_PART = 2
# Kanji words have two characters, most of them.
KANJI_HEAD = re.compile(f"(?:[{KANJI}]{{2}}|.*[^{KANJI}])([{KANJI}]{{2}})")


def relations(terms: Sequence[Term], finder: ContextFinder | None = None) -> dict[str, list[str]]:
    """Key → the names of related terms, the nearest first.

    A term whose head another one is (a message queue is a queue) comes before one that it begins
    with, and both come before those that only stand in the same sentences.
    """
    names = {term.key: term.text for term in terms}
    strengths: dict[str, dict[str, float]] = {key: {} for key in names}

    def relate(one: str, other: str, strength: float) -> None:
        for key, related in ((one, other), (other, one)):
            strengths[key][related] = max(strength, strengths[key].get(related, 0.0))

    for longer, shorter, strength in _by_words(terms):
        relate(longer, shorter, strength)
    for one, other in _siblings(terms):
        relate(one, other, SIBLINGS)
    if finder is not None:
        finder.prepare(terms)
        for one, other, strength in _by_company(finder, names):
            relate(one, other, strength)
    return {
        key: [
            names[other]
            for other, _strength in sorted(
                related.items(), key=lambda each: (-each[1], names[each[0]])
            )[:MOST]
        ]
        for key, related in strengths.items()
    }


def _by_words(terms: Sequence[Term]) -> list[tuple[str, str, float]]:
    """Terms that are made of another one: with it as their head, or in front."""
    found = []
    by_name = {SPACES.sub(" ", folded(term.text)).strip(): term.key for term in terms}
    for name, key in by_name.items():
        for part, is_head in _parts(name):
            other = by_name.get(part)
            if other is not None and other != key:
                # The more of the term it is, the nearer: 2 and more for heads, 1 for the others.
                share = len(part) / len(name)
                found.append((key, other, (2 if is_head else 1) + share))
    return found


def _parts(name: str) -> list[tuple[str, bool]]:
    """The ends and beginnings of a name that may be terms themselves."""
    parts = []
    words = name.split(" ")
    for n in range(1, len(words)):
        parts.append((" ".join(words[n:]), True))
        parts.append((" ".join(words[:n]), False))
    if JAPANESE_END.search(name):
        for n in range(1, len(name) - SHORTEST_PART + 1):
            parts.append((name[n:], True))
        for n in range(SHORTEST_PART, len(name)):
            parts.append((name[:n], False))
    # Inside a run of katakana or of letters nothing is a word of its own.
    return [
        (part, is_head)
        for part, is_head in parts
        if stands_alone(
            name, len(name) - len(part) if is_head else 0, len(name) if is_head else len(part)
        )
        is not None
    ]


def _siblings(terms: Sequence[Term]) -> list[tuple[str, str]]:
    """Pairs of terms with one head: 自立運転 and 単独運転."""
    heads: dict[str, list[str]] = {}
    for term in terms:
        if head := _head(SPACES.sub(" ", folded(term.text)).strip()):
            heads.setdefault(head, []).append(term.key)
    return [
        pair
        for keys in heads.values()
        if len(keys) <= MOST_SIBLINGS
        for pair in combinations(sorted(keys), 2)
    ]


def _head(name: str) -> str:
    """The last word of a term that has several; empty where that cannot be told."""
    words = name.split(" ")
    if len(words) > 1:
        return words[-1]
    compound = KANJI_HEAD.fullmatch(name)
    return compound[1] if compound else ""


def _by_company(finder: ContextFinder, names: dict[str, str]) -> list[tuple[str, str, float]]:
    """Terms that stand in the same sentences far more often than by chance: normalised pointwise
    mutual information."""
    found = []
    total = max(1, finder.sentence_count())
    for one, other, together in finder.companions(names):
        if together < FEWEST_TOGETHER:
            continue
        expected = finder.sentence_count(one) * finder.sentence_count(other) / total
        share = together / total
        if expected <= 0 or share >= 1:
            continue
        strength = math.log(together / expected) / -math.log(share)
        if strength >= LEAST_STRENGTH:
            found.append((one, other, min(strength, 0.99)))
    return found
