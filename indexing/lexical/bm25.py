"""BM25 as SQLite's FTS5 has it, over postings from either database: that is why both rank alike."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexing.lexical.lengths import LENGTH_BITS, LONGEST

K1 = 1.2
B = 0.75
# A word in more than half of the sections would count against those that have it.
LEAST_IDF = 1e-6

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Totals:
    """Of all sections that are searched. Every change but a deletion raises the generation; a
    deletion leaves fewer sections."""

    sections: int
    words: int
    generation: int = 0


@dataclass(frozen=True)
class Postings:
    """Where something (a word, a beginning, a phrase) is: a row for each section that has it."""

    sections: Numbers
    hits: Numbers
    # In words, headings included.
    lengths: Numbers

    @property
    def count(self) -> int:
        return len(self.sections)

    def only(self, keep: npt.NDArray[np.bool_]) -> "Postings":
        return Postings(self.sections[keep], self.hits[keep], self.lengths[keep])


def numbers(values: list[int]) -> Numbers:
    return np.array(values, dtype=np.int64)


NOWHERE = Postings(numbers([]), numbers([]), numbers([]))


def packed(postings: Postings) -> Numbers:
    """A section, its hits and its length in eight bytes."""
    entries = postings.sections << 2 * LENGTH_BITS | postings.hits << LENGTH_BITS
    return entries | postings.lengths


def unpacked(entries: Numbers) -> Postings:
    return Postings(entries >> 2 * LENGTH_BITS, entries >> LENGTH_BITS & LONGEST, entries & LONGEST)


def grouped(documents: Numbers, weights: Numbers) -> Postings:
    """From occurrences: `documents` hold a section's number and its length."""
    if not len(documents):
        return NOWHERE
    if np.any(documents[1:] < documents[:-1]):
        order = np.argsort(documents, kind="stable")
        documents, weights = documents[order], weights[order]
    first = np.flatnonzero(np.concatenate(([True], documents[1:] != documents[:-1])))
    hits = np.minimum(np.add.reduceat(weights, first), LONGEST)
    documents = documents[first]
    return Postings(documents >> LENGTH_BITS, hits, documents & LONGEST)


def scores(postings: Postings, totals: Totals) -> Floats:
    average = totals.words / totals.sections
    frequency = postings.count
    idf = max(
        math.log((totals.sections - frequency + 0.5) / (frequency + 0.5))
        if frequency <= totals.sections
        else LEAST_IDF,
        LEAST_IDF,
    )
    hits = postings.hits
    longer = 1 - B + B * postings.lengths / average
    result: Floats = idf * hits * (K1 + 1) / (hits + K1 * longer)
    return result


def added(parts: list[tuple[Numbers, Floats]]) -> tuple[Numbers, Floats]:
    """The sum of the scores for each section."""
    if not parts:
        return numbers([]), np.array([], dtype=np.float64)
    sections, places = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    values = np.concatenate([part[1] for part in parts])
    return sections, np.bincount(places, values, len(sections)).astype(np.float64)
