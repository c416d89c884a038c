"""All documents together: candidates, each with what was seen of it."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from glossary_site.checking import Check, checked
from projects.terms.keys import key_of
from runs.engine.terms.analysis import DocumentAnalysis
from runs.engine.terms.phrases import Sort, Word, text_of, windows

# A phrase of all documents, and a part of it: words from … to before ….
Part = tuple[int, int, int]
# A spelling that begins a sentence or is in a heading counts for little when the usual one is told.
_WITHOUT_CASE = 0.01
_NEARLY_ALWAYS = 0.9
# Phrases, or candidates, between two checks: some milliseconds.
AT_A_TIME = 500


@dataclass
class Total:
    """A phrase over all documents."""

    language: str
    words: tuple[Word, ...]
    documents: list[int] = field(default_factory=list)
    count: int = 0
    in_headings: int = 0
    without_case: int = 0
    marks: Counter[tuple[str, int, int]] = field(default_factory=Counter)


@dataclass
class Found:
    """A candidate over all documents."""

    key: str
    # Of the documents it stands in most; its words as they are there.
    language: str
    words: tuple[Word, ...]
    languages: Counter[str] = field(default_factory=Counter)
    count: int = 0
    # As a phrase of its own, and not as a part of a longer one.
    alone: int = 0
    in_headings: int = 0
    documents: set[int] = field(default_factory=set)
    spellings: dict[str, float] = field(default_factory=dict)
    sorts: Counter[str] = field(default_factory=Counter)
    marks: Counter[str] = field(default_factory=Counter)
    # Keys of the longer candidates it is a part of; how many of them it ends, and begins.
    longer: set[str] = field(default_factory=set)
    ends: int = 0
    begins: int = 0
    # The phrases it stands in, for its lines.
    parts: list[Part] = field(default_factory=list)
    capitals: float = 0.0
    with_case: int = 0


def totals_of(analyses: Mapping[int, DocumentAnalysis], *, check: Check = bool) -> list[Total]:
    totals: dict[tuple[str, tuple[Word, ...]], Total] = {}
    for document in sorted(analyses):
        phrases = analyses[document].phrases.items()
        for phrase, seen in checked(phrases, check, every=AT_A_TIME):
            total = totals.get(phrase)
            if total is None:
                total = totals[phrase] = Total(*phrase)
            total.documents.append(document)
            total.count += len(seen.lines)
            total.in_headings += seen.in_headings
            total.without_case += seen.without_case
            if seen.marks:
                total.marks.update(seen.marks)
    return list(totals.values())


def candidates_of(totals: Sequence[Total], *, check: Check = bool) -> dict[str, Found]:
    found: dict[str, Found] = {}
    for number, total in enumerate(checked(totals, check, every=AT_A_TIME)):
        sorts = tuple(word.sort for word in total.words)
        inside = [(start, end, _key(total.words, start, end)) for start, end in _windows(sorts)]
        for start, end, key in inside:
            candidate = found.get(key)
            if candidate is None:
                words = total.words[start:end]
                candidate = found[key] = Found(key, total.language, words)
            elif candidate.language != total.language:
                _settle_language(candidate, total, start, end)
            _add(candidate, number, total, start, end)
            for first, after, longer in inside:
                around = first <= start and end <= after and longer != key
                if around and longer not in candidate.longer:
                    candidate.longer.add(longer)
                    candidate.ends += after == end
                    candidate.begins += first == start
    return found


def _settle_language(candidate: Found, total: Total, start: int, end: int) -> None:
    """Words are cut differently in the two languages: those of the more frequent one count."""
    if candidate.languages[total.language] + total.count > candidate.languages[candidate.language]:
        candidate.language, candidate.words = total.language, total.words[start:end]


def _add(candidate: Found, number: int, total: Total, start: int, end: int) -> None:
    text = text_of(total.words[start:end])
    candidate.count += total.count
    candidate.languages[total.language] += total.count
    candidate.documents.update(total.documents)
    candidate.in_headings += total.in_headings
    candidate.parts.append((number, start, end))
    candidate.sorts["".join(word.sort for word in total.words[start:end])] += total.count
    if end - start == len(total.words):
        candidate.alone += total.count
    for (mark, first, after), count in total.marks.items():
        if first == start and after == end:
            candidate.marks[mark] += count
    # Inside a phrase the case of a word is its own.
    without_case = total.without_case if start == 0 else total.in_headings
    with_case = total.count - without_case
    weight = with_case + _WITHOUT_CASE * without_case
    candidate.spellings[text] = candidate.spellings.get(text, 0.0) + weight
    candidate.with_case += with_case
    if text != text.lower():
        candidate.capitals += with_case


@lru_cache(maxsize=1 << 14)
def _windows(sorts: tuple[Sort, ...]) -> tuple[tuple[int, int], ...]:
    if sorts == (Sort.OTHER,):
        # Not by its words but by its mark.
        return ((0, 1),)
    return tuple(windows(sorts))


def _key(words: tuple[Word, ...], start: int, end: int) -> str:
    return key_of(text_of(words[start:end]))


def c_value(candidate: Found, found: Mapping[str, Found]) -> float:
    """Occurrences that are its own and not those of longer terms, times its length."""
    around = (found.get(key) for key in candidate.longer)
    longer = [each.count for each in around if each and each.count > 1]
    own = candidate.count - (sum(longer) / len(longer) if longer else 0.0)
    return math.log2(len(candidate.words) + 1) * own


def is_piece(candidate: Found, found: Mapping[str, Found]) -> bool:
    """Nearly always inside one and the same longer candidate: プレーン of コントロールプレーン."""
    least = _NEARLY_ALWAYS * candidate.count
    return any(key in found and found[key].count >= least for key in candidate.longer)


def word_counts(totals: Iterable[Total], *, check: Check = bool) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for total in checked(totals, check, every=AT_A_TIME):
        for word in total.words:
            counts[total.language][key_of(word.surface)] += total.count
    return counts
