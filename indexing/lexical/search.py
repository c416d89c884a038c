"""Sections that have the words of a query, ranked: the same code for both databases."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from django.db import connection
from django.utils.translation import gettext as _

from indexing.lexical.analysis import is_japanese
from indexing.lexical.bm25 import Floats, Numbers, Postings, Totals, added, numbers, scores
from indexing.lexical.keeping import Scope, keeper
from indexing.lexical.postgres_postings import PostgresPostings
from indexing.lexical.query import Query
from indexing.lexical.sqlite_postings import SqlitePostings

# Of a long query, the rarest words say what it is about: more change nothing but the time.
MOST_WORDS = 16
# Postings that are read for the words of one query, the rarest words first (which are read
# anyway). What does not fit is in so many sections that it says next to nothing.
MOST_POSTINGS = 40_000
# Of the words with one beginning.
MOST_PREFIX_POSTINGS = 40_000
# Sections that are looked through for a phrase.
MOST_PHRASE_SECTIONS = 5_000

# How frequent a frequent word is takes long to count, and hardly changes.
_FREQUENT = 4_000
_KEPT = 10_000
_frequent: dict[tuple[str, tuple[int, ...], str], tuple[int, int]] = {}

# While somebody types, "runnin" is no word's beginning, but "run" is.
_SHORTEST_BEGINNING = 3
_SHORTENED_BY = 3


class Index(Protocol):
    def totals(self) -> Totals: ...
    def frequencies(self, words: Sequence[str]) -> list[int]: ...
    def of_words(self, words: Sequence[str]) -> list[Postings]: ...
    def of_frequent(self, word: str) -> Postings: ...
    def of_prefix(self, prefix: str, most: int) -> tuple[Postings, bool]: ...
    def begins(self, prefix: str) -> bool: ...
    def of_phrase(
        self, words: Sequence[str], most: int, among: Numbers | None = None
    ) -> tuple[Postings, bool]: ...
    def sections_of(self, documents: Sequence[int]) -> Numbers: ...


@dataclass(frozen=True)
class Found:
    # Of the best, the best first.
    scores: dict[int, float]
    # Of all; not exact when something was too frequent to look through.
    total: int
    exact: bool
    notices: list[str] = field(default_factory=list)


@dataclass
class _Evidence:
    """What was read so far."""

    parts: list[tuple[Numbers, Floats]] = field(default_factory=list)
    required: list[Numbers] = field(default_factory=list)
    exact: bool = True
    notices: list[str] = field(default_factory=list)


def find(
    query: Query,
    *,
    project_ids: Sequence[int],
    documents: Sequence[int] | None,
    limit: int,
) -> Found:
    """Sections that have any of the words or beginnings, all of the phrases, and nothing that is
    excluded. `documents` are the only ones to look at; None: all of the projects."""
    if query.is_empty or not project_ids:
        return Found({}, 0, True)
    projects = tuple(sorted(set(project_ids)))
    index = _index(projects)
    totals = index.totals()
    if totals.sections < 1 or totals.words < 1:
        return Found({}, 0, True)
    evidence = _Evidence()
    scope = Scope(str(connection.settings_dict["NAME"]), projects, totals)
    for phrase in query.phrases:
        _add_phrase(index, phrase, scope, evidence)
    _add_words(index, query.words, scope, evidence)
    for prefix in query.prefixes:
        _add_prefix(index, prefix, totals, evidence)
    begun = dict.fromkeys(_begun(index, beginning) for beginning in query.unfinished)
    for prefix in filter(None, begun):
        _add_prefix(index, prefix, totals, evidence)

    sections, values = added(evidence.parts)
    keep = np.ones(len(sections), dtype=np.bool_)
    for required in evidence.required:
        keep &= np.isin(sections, required)
    for phrase in query.excluded:
        keep &= ~np.isin(sections, _sections_with(index, phrase, sections))
    if documents is not None:
        keep &= np.isin(sections, index.sections_of(documents))
    sections, values = sections[keep], values[keep]
    best = _best(sections, values, limit)
    return Found(
        scores=dict(zip(sections[best].tolist(), values[best].tolist(), strict=True)),
        total=len(sections),
        exact=evidence.exact,
        notices=evidence.notices,
    )


def _index(projects: Sequence[int]) -> Index:
    if connection.vendor == "sqlite":
        return SqlitePostings(connection, projects)
    return PostgresPostings(connection, projects)


def _add_words(index: Index, words: Sequence[str], scope: Scope, evidence: _Evidence) -> None:
    counts = _frequencies(index, words, scope)
    there = sorted((count, word) for word, count in counts.items() if count)
    if len(there) > MOST_WORDS:
        evidence.notices.append(
            _("Only the %(count)d rarest words of the query were looked for.")
            % {"count": MOST_WORDS}
        )
    chosen: list[str] = []
    postings = 0
    for count, word in there[:MOST_WORDS]:
        postings += count
        # What a third of many sections have hardly tells them apart.
        says_nothing = count >= _FREQUENT and 3 * count > scope.totals.sections
        if chosen and (postings > MOST_POSTINGS or says_nothing):
            break
        chosen.append(word)
    if len(chosen) < len(there):
        evidence.exact = False
    for found in _read(index, chosen, counts, scope):
        evidence.parts.append((found.sections, scores(found, scope.totals)))


def _read(
    index: Index, words: Sequence[str], counts: dict[str, int], scope: Scope
) -> list[Postings]:
    """From the database, but for what is at hand."""
    found = {word: postings for word in words if (postings := keeper.get(scope, word))}
    missing = [word for word in words if word not in found]
    if len(words) == 1 and missing and counts[words[0]] > MOST_POSTINGS:
        read = [index.of_frequent(words[0])]
    else:
        read = index.of_words(missing)
    for word, postings in zip(missing, read, strict=True):
        keeper.put(scope, word, postings)
        found[word] = postings
    return [found[word] for word in words]


def _frequencies(index: Index, words: Sequence[str], scope: Scope) -> dict[str, int]:
    """In how many sections each word is: for the most frequent, in how many it was lately."""
    database, projects, totals = scope
    counts: dict[str, int] = {}
    for word in words:
        count, sections = _frequent.get((database, projects, word), (0, 0))
        if not count or abs(sections - totals.sections) * 10 > sections:
            count = keeper.count(scope, word)
        if count:
            counts[word] = count
    unknown = [word for word in words if word not in counts]
    for word, count in zip(unknown, index.frequencies(unknown), strict=True):
        counts[word] = count
        if count >= _FREQUENT:
            if len(_frequent) >= _KEPT:
                _frequent.clear()
            _frequent[database, projects, word] = count, totals.sections
    return counts


def _add_prefix(index: Index, prefix: str, totals: Totals, evidence: _Evidence) -> None:
    """All words with the beginning are one."""
    found, complete = index.of_prefix(prefix, MOST_PREFIX_POSTINGS)
    evidence.parts.append((found.sections, scores(found, totals)))
    evidence.exact &= complete


def _begun(index: Index, beginning: str) -> str | None:
    """The longest beginning of it that some word has."""
    least = 1 if is_japanese(beginning) else _SHORTEST_BEGINNING
    shortest = min(len(beginning), max(least, len(beginning) - _SHORTENED_BY))
    for length in range(len(beginning), shortest - 1, -1):
        if index.begins(beginning[:length]):
            return beginning[:length]
    return None


def _add_phrase(index: Index, phrase: Sequence[str], scope: Scope, evidence: _Evidence) -> None:
    if len(phrase) == 1:
        (found,) = _read(index, phrase, _frequencies(index, phrase, scope), scope)
    else:
        found, complete = index.of_phrase(phrase, MOST_PHRASE_SECTIONS)
        evidence.exact &= complete
    evidence.parts.append((found.sections, scores(found, scope.totals)))
    evidence.required.append(found.sections)


def _sections_with(index: Index, phrase: Sequence[str], among: Numbers) -> Numbers:
    if len(phrase) == 1:
        return index.of_words(phrase)[0].sections
    # All of them, for none may slip through.
    return index.of_phrase(phrase, max(len(among), 1), among)[0].sections


def _best(sections: Numbers, values: Floats, limit: int) -> Numbers:
    """Their places, the best first; of two alike, the older one."""
    places: Iterable[int] = range(len(sections))
    if len(sections) > limit > 0:
        # Those that are as good as the last one in stay in, for the order below to choose from.
        least = np.partition(values, len(values) - limit)[len(values) - limit]
        places = np.flatnonzero(values >= least)
    chosen = numbers(list(places))
    order = np.lexsort((sections[chosen], -values[chosen]))
    return chosen[order][:limit]
