"""Entries that are about one thing.

A name that looks alike proves nothing (`encryption`, `decryption`), nor do definitions about the
same matter: it takes both, or one of them to the letter.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext as _
from rapidfuzz import fuzz, process

from indexing.lexical.analysis import words_of
from projects.terms.keys import key_of
from runs.choices import IssueKind
from runs.engine.reviewing.alone import is_defined
from runs.pipeline.data import Entry, Issue

# Of 100: names that may be two spellings of one, and definitions that say the same.
NEAR_NAMES = 88
NEAR_DEFINITIONS = 80
SAME_DEFINITIONS = 88
# Cosines of definitions: near enough for names alike, and for names that are not.
NEAR_VECTORS = 0.85
SAME_VECTORS = 0.97
SHORTEST_NAME = 5
SHORTEST_READING = 3
# Rows of the comparison of each with each that are in memory at a time.
ROWS = 256

_DIGITS = re.compile(r"\d+")
_HUMPS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])")
_MORE_JAPANESE = re.compile(r"[\u30a0-\u30ff\u3400-\u9fff]{2,}")
_KANJI = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def duplicates(
    entries: Sequence[Entry], vectors: npt.NDArray[np.float32] | None = None
) -> list[Issue]:
    """One issue for each pair, on the later of the two: lists have the better ones first."""
    found: dict[tuple[int, int], str] = {}
    for pair, why in _pairs(entries, vectors):
        found.setdefault(pair, why)
    return [
        Issue(
            entries[second].key,
            IssueKind.DUPLICATE,
            why % {"other": entries[first].term},
            _("Keep one of them and make the other its alias, or say what sets them apart."),
            other_key=entries[first].key,
        )
        for (first, second), why in sorted(found.items())
    ]


def are_names_of_one(one: Entry, other: Entry) -> bool:
    """Whether more than their definitions says so. Two kinds of a thing may be defined alike."""
    pair = (one, other)
    ways = (_by_alias, _by_reading, _by_initials, _by_name)
    return any(True for way in ways for _pair in way(pair))


def _pairs(
    entries: Sequence[Entry], vectors: npt.NDArray[np.float32] | None
) -> Iterator[tuple[tuple[int, int], str]]:
    for pair in _by_alias(entries):
        yield pair, _("“%(other)s” is another name of the same thing.")
    for pair in _by_definition(entries):
        yield pair, _("It has the same definition as “%(other)s”.")
    for pair in _by_reading(entries):
        if _agree(entries, vectors, *pair):
            yield pair, _("It is read like “%(other)s” and defined alike.")
    for pair in _by_initials(entries):
        if _agree(entries, vectors, *pair):
            yield pair, _("One of it and “%(other)s” is short for the other.")
    for pair in _by_name(entries):
        if _agree(entries, vectors, *pair):
            yield pair, _("It is written almost like “%(other)s” and defined alike.")
    if vectors is not None:
        for pair in _by_vector(entries, vectors):
            yield pair, _("It is defined almost like “%(other)s”.")


def _by_alias(entries: Sequence[Entry]) -> Iterator[tuple[int, int]]:
    by_key = {entry.key: number for number, entry in enumerate(entries)}
    for number, entry in enumerate(entries):
        for alias in entry.aliases:
            other = by_key.get(key_of(alias), number)
            if other != number:
                yield min(number, other), max(number, other)


def _by_definition(entries: Sequence[Entry]) -> Iterator[tuple[int, int]]:
    """The same words, once each term itself is left out of its own definition."""
    by_words: dict[tuple[str, ...], int] = {}
    for number, entry in enumerate(entries):
        if not is_defined(entry):
            continue
        words = tuple(words_of(entry.definition))
        own = set(words_of(entry.term))
        for said in dict.fromkeys((words, tuple(word for word in words if word not in own))):
            if len(said) > 2 and by_words.setdefault(said, number) != number:
                yield by_words[said], number


def _by_reading(entries: Sequence[Entry]) -> Iterator[tuple[int, int]]:
    """Two ways to write a Japanese word. Words that only sound alike share no kanji."""
    by_reading: dict[str, list[int]] = defaultdict(list)
    for number, entry in enumerate(entries):
        if entry.language == "ja" and len(entry.reading) >= SHORTEST_READING:
            by_reading[entry.reading].append(number)
    for numbers in by_reading.values():
        for place, one in enumerate(numbers):
            for other in numbers[place + 1 :]:
                signs = [set(_KANJI.findall(entries[number].term)) for number in (one, other)]
                if signs[0] & signs[1] or not (signs[0] and signs[1]):
                    yield one, other


def _by_initials(entries: Sequence[Entry]) -> Iterator[tuple[int, int]]:
    by_initials: dict[str, list[int]] = defaultdict(list)
    for number, entry in enumerate(entries):
        words = _HUMPS.findall(entry.term)
        if len(words) > 1:
            by_initials["".join(word[0] for word in words).upper()].append(number)
    for number, entry in enumerate(entries):
        # In capitals, or it is a word like any other.
        if entry.term.isupper():
            for other in by_initials.get(entry.term, ()):
                yield min(number, other), max(number, other)


def _by_name(entries: Sequence[Entry]) -> Iterator[tuple[int, int]]:
    names = [unicodedata.normalize("NFKC", entry.term).casefold() for entry in entries]
    for top in range(0, len(names), ROWS):
        scores = process.cdist(
            names[top : top + ROWS],
            names,
            scorer=fuzz.ratio,
            score_cutoff=NEAR_NAMES,
            dtype=np.uint8,
        )
        for row, column in zip(*np.nonzero(scores), strict=True):
            one, other = top + int(row), int(column)
            if one < other and _may_be_one(names[one], names[other]):
                yield one, other


def _may_be_one(one: str, other: str) -> bool:
    """What differs at the beginning, in a number or by a word more is another thing (`asymmetric`,
    `IPv6`, `濃度制限` beside `濃度`)."""
    if min(len(one), len(other)) < SHORTEST_NAME or one[:2] != other[:2]:
        return False
    short, long = sorted((one, other), key=len)
    if long.startswith(short) and _MORE_JAPANESE.fullmatch(long[len(short) :]):
        return False
    return _DIGITS.findall(one) == _DIGITS.findall(other)


def _by_vector(
    entries: Sequence[Entry], vectors: npt.NDArray[np.float32]
) -> Iterator[tuple[int, int]]:
    defined = np.array([is_defined(entry) for entry in entries], dtype=bool)
    for top in range(0, len(entries), ROWS):
        near = vectors[top : top + ROWS] @ vectors.T >= SAME_VECTORS
        near &= defined[top : top + ROWS, None] & defined[None, :]
        for row, column in zip(*np.nonzero(near), strict=True):
            one, other = top + int(row), int(column)
            if one < other and _same_words(entries[one], entries[other]):
                yield one, other


def _same_words(one: Entry, other: Entry) -> bool:
    """Vectors know nothing of numbers or of which word is first."""
    if _DIGITS.findall(one.definition) != _DIGITS.findall(other.definition):
        return False
    return fuzz.ratio(one.definition, other.definition) >= SAME_DEFINITIONS


def _agree(
    entries: Sequence[Entry], vectors: npt.NDArray[np.float32] | None, one: int, other: int
) -> bool:
    """Whether two definitions say much the same."""
    first, second = entries[one], entries[other]
    if not (is_defined(first) and is_defined(second)):
        return False
    if fuzz.token_sort_ratio(first.definition, second.definition) >= NEAR_DEFINITIONS:
        return True
    return vectors is not None and float(vectors[one] @ vectors[other]) >= NEAR_VECTORS
