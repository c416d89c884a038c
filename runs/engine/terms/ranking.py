"""Analyses of all documents → terms, best first."""

from collections.abc import Iterable, Mapping, Sequence

from projects.choices import Category
from projects.terms.keys import key_of
from projects.terms.readings import reading_of
from runs.engine.terms.analysis import DocumentAnalysis, Seen
from runs.engine.terms.categories import category_of
from runs.engine.terms.gathering import (
    Found,
    Total,
    candidates_of,
    is_piece,
    totals_of,
    word_counts,
)
from runs.engine.terms.merging import decided_in, merge
from runs.engine.terms.phrases import Word
from runs.engine.terms.scoring import Corpus, features_of, score
from runs.engine.terms.scripts import has_japanese
from runs.pipeline.data import MOST_OCCURRENCES, Candidate, Occurrence, TermLists

COMMON_NOUN = str(Category.COMMON_NOUN)
_MOST_VARIANTS = 20
# A mark that an author gives to terms, not to whatever matters.
_TERM_MARKS = ("s", "d", "f", "l", "T", "n", "g")


def rank(
    analyses: Mapping[int, DocumentAnalysis], *, lists: TermLists, limit: int | None = None
) -> list[Candidate]:
    """What people have said something about is in it whatever the limit and however seldom it was
    seen, excluded terms never. Common nouns are in it too, with the reason why they should not be
    in a glossary; the limit counts without these and without required terms."""
    totals = totals_of(analyses)
    found = candidates_of(totals)
    counts = word_counts(totals)
    sizes = {language: sum(words.values()) for language, words in counts.items()}
    corpus = Corpus(len(analyses), counts, sizes, found)
    pairs = dict.fromkeys(pair for number in sorted(analyses) for pair in analyses[number].pairs)
    paired = {key_of(form) for pair in pairs for form in (pair.short, pair.long)}
    # Before merging: a long form that counts with its short one would swallow its own parts.
    pieces = {key for key, each in found.items() if is_piece(each, found)}
    decided = decided_in(lists)
    merge(found, pairs, lists)
    scored: list[tuple[float, str, dict[str, float]]] = []
    for key, candidate in found.items():
        if key in lists.excluded or not (
            key in decided or _is_worth_it(candidate, key, paired, pieces)
        ):
            continue
        features = features_of(candidate, corpus, is_paired=key in paired)
        scored.append((score(features, corpus.language), key, features))
    scored.sort(key=lambda each: (-each[0], each[1]))
    lines = _Lines(analyses, totals)
    ranked: list[Candidate] = []
    counted = 0
    for points, key, features in scored:
        if limit is not None and counted >= limit and key not in decided:
            continue
        term = _candidate(found[key], points, features, lists, lines)
        counted += not term.excluded_because and not term.required
        ranked.append(term)
    known = {term.key for term in ranked}
    ranked.extend(
        _unseen(key, text, lists)
        for key, text in sorted(lists.required.items())
        if key not in known and key not in lists.excluded
    )
    return ranked


def _is_worth_it(candidate: Found, key: str, paired: set[str], pieces: set[str]) -> bool:
    """Unmarked and seen once, or only as a piece of another, nothing speaks for it."""
    is_seen = candidate.count > 1 and key not in pieces
    return (is_seen or is_marked(candidate) or key in paired) and len(key) > 1


def is_marked(found: Found) -> bool:
    return any(found.marks[mark] for mark in _TERM_MARKS)


def _candidate(
    found: Found,
    points: float,
    features: Mapping[str, float],
    lists: TermLists,
    lines: "_Lines",
) -> Candidate:
    # Among equals small letters come first.
    spellings = sorted(found.spellings, key=lambda text: (-found.spellings[text], text.swapcase()))
    is_required = found.key in lists.required
    text = lists.required.get(found.key) or spellings[0]
    marked = is_marked(found)
    category = lists.categories.get(found.key) or category_of(
        spellings[0], found, weirdness=features["weird_mean"], is_marked=marked
    )
    # People's word is the last: what they require, or gave a kind of its own, is in.
    is_common = category == COMMON_NOUN and not is_required
    return Candidate(
        text=text,
        key=found.key,
        language=found.language,
        reading=reading_of(text),
        score=round(points, 4),
        frequency=found.count,
        document_count=len(found.documents),
        variants=tuple(dict.fromkeys([text, *spellings]))[1 : _MOST_VARIANTS + 1],
        occurrences=lines.of(found),
        category=str(category),
        required=is_required,
        excluded_because=COMMON_NOUN if is_common else "",
    )


def _unseen(key: str, text: str, lists: TermLists) -> Candidate:
    return Candidate(
        text=text,
        key=key,
        language="ja" if has_japanese(text) else "en",
        reading=reading_of(text),
        score=0.0,
        frequency=0,
        document_count=0,
        category=lists.categories.get(key) or str(Category.TECHNICAL_TERM),
        required=True,
    )


class _Lines:
    """Where candidates stand: looked up only for those that are handed out."""

    def __init__(self, analyses: Mapping[int, DocumentAnalysis], totals: Sequence[Total]) -> None:
        self.analyses = analyses
        self.totals = totals

    def of(self, found: Found) -> tuple[Occurrence, ...]:
        """A few of every document rather than all of the first ones."""
        places: dict[int, dict[int, int]] = {}
        for number, _start, _end in found.parts:
            total = self.totals[number]
            for document in total.documents:
                seen = self._seen(document, total.language, total.words)
                lines = places.setdefault(document, {})
                for line in seen.lines:
                    lines[line] = lines.get(line, 0) + 1
        return tuple(_fairly(places))

    def _seen(self, document: int, language: str, words: tuple[Word, ...]) -> Seen:
        return self.analyses[document].phrases[language, words]


def _fairly(places: Mapping[int, Mapping[int, int]]) -> Iterable[Occurrence]:
    """Not more than MOST_OCCURRENCES, as many of each document as go into that."""
    share = len(places) and max(MOST_OCCURRENCES // len(places), 1)
    rest = MOST_OCCURRENCES - sum(min(len(lines), share) for lines in places.values())
    for document in sorted(places)[:MOST_OCCURRENCES]:
        lines = places[document]
        more = min(max(len(lines) - share, 0), max(rest, 0))
        rest -= more
        for line in sorted(lines)[: share + more]:
            yield Occurrence(document, line, lines[line])
