"""What the ranking needs of one document, and nothing of the others.

Phrases as long as they go, each once with all its lines; the terms in them are found when all
documents are looked at together. A document whose text is the same has the same analysis.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from glossary_site.checking import Check, checked
from runs.engine.terms.abbreviations import Pair, pairs_in
from runs.engine.terms.contexts import CALLED, context_marks
from runs.engine.terms.english import english_phrases
from runs.engine.terms.japanese import japanese_phrases
from runs.engine.terms.markup import Block, Kind, Mark, blocks_of
from runs.engine.terms.phrases import Phrase, Sort, Word
from runs.engine.terms.scripts import has_japanese, is_japanese_text

# Whoever keeps analyses throws away those of another version.
ANALYSIS_VERSION = 5

# Of one block, between two checks: it can be a whole book without a blank line.
PHRASES_AT_A_TIME = 100

# What a text says of a part of a phrase besides its words: the marks, and the kinds of block that
# it is all of. One letter each, as stored.
_MARKS = {
    Mark.STRONG: "s",
    Mark.EMPHASIS: "e",
    Mark.CODE: "c",
    Mark.LEAD: "l",
    Mark.QUOTED: "q",
    Mark.LINK: "k",
    Mark.REFERENCE: "g",
    Mark.NAMED: CALLED,
}
_KINDS = {Kind.TITLE: "T", Kind.HEADING: "h", Kind.FIRST_CELL: "f", Kind.DEFINED: "d"}
# What may stand around a term inside its mark.
_AROUND = " \t()（）「」『』“”\"':：,、.。*"
_END = attrgetter("end")


@dataclass
class Seen:
    """A phrase of a document: how often it stands there, where, and how it is marked."""

    lines: list[int] = field(default_factory=list)
    in_headings: int = 0
    # Where the case of its first letter says nothing: it begins a sentence, or is in a heading.
    without_case: int = 0
    # (mark, first word, word after the last) → how often.
    marks: dict[tuple[str, int, int], int] = field(default_factory=dict)


@dataclass(frozen=True)
class DocumentAnalysis:
    # Language and words → what was seen of them.
    phrases: dict[tuple[str, tuple[Word, ...]], Seen]
    pairs: tuple[Pair, ...] = ()
    characters: int = 0

    def to_json(self) -> dict[str, Any]:
        """Small: each word is written once, and phrases point at it."""
        words: dict[Word, int] = {}
        phrases = [
            [
                language,
                [words.setdefault(word, len(words)) for word in phrase],
                seen.lines,
                seen.in_headings,
                seen.without_case,
                [[*mark, count] for mark, count in seen.marks.items()],
            ]
            for (language, phrase), seen in self.phrases.items()
        ]
        return {
            "version": ANALYSIS_VERSION,
            "words": [[word.surface, str(word.sort)] for word in words],
            "phrases": phrases,
            "pairs": [list(pair) for pair in self.pairs],
            "characters": self.characters,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "DocumentAnalysis":
        if data.get("version") != ANALYSIS_VERSION:
            raise ValueError("This analysis is of another version.")
        words = [Word(surface, Sort(sort)) for surface, sort in data["words"]]
        phrases = {}
        for language, places, lines, in_headings, without_case, marks in data["phrases"]:
            phrases[language, tuple(words[place] for place in places)] = Seen(
                lines,
                in_headings,
                without_case,
                {(mark, start, end): count for mark, start, end, count in marks},
            )
        pairs = tuple(Pair(*pair) for pair in data["pairs"])
        return cls(phrases, pairs, data["characters"])


def analyse(text: str, *, check: Check = bool) -> DocumentAnalysis:
    """`check` is called often, and may raise what ends it early: a book takes half a minute."""
    phrases: dict[tuple[str, tuple[Word, ...]], Seen] = defaultdict(Seen)
    pairs: dict[Pair, None] = {}
    for block in blocks_of(text):
        check()
        found = list(_phrases_of(block, check))
        for phrase in checked(found, check, every=PHRASES_AT_A_TIME):
            _see(phrases[phrase.language, phrase.words], phrase, block)
        marked = _marked_otherwise(block, found)
        for language, word, place in checked(marked, check, every=PHRASES_AT_A_TIME):
            seen = phrases[language, (word,)]
            seen.lines.append(block.line_at(place))
            for mark in _exact_marks(block, place, place + len(word.surface)):
                seen.marks[mark, 0, 1] = seen.marks.get((mark, 0, 1), 0) + 1
        pairs.update(dict.fromkeys(pairs_in(block)))
    return DocumentAnalysis(dict(phrases), tuple(pairs), len(text))


def _phrases_of(block: Block, check: Check) -> Iterator[Phrase]:
    if not has_japanese(block.text):
        yield from english_phrases(block, check=check)
    elif is_japanese_text(block.text):
        yield from japanese_phrases(block, check=check)
    else:
        yield from english_phrases(block, check=check)
        for phrase in japanese_phrases(block, check=check):
            if all(has_japanese(word.surface) for word in phrase.words):
                yield phrase


def _see(seen: Seen, phrase: Phrase, block: Block) -> None:
    seen.lines.append(block.line_at(phrase.place))
    is_heading = block.kind in (Kind.HEADING, Kind.TITLE)
    seen.in_headings += is_heading
    seen.without_case += is_heading or phrase.begins_sentence
    if block.kind is Kind.TEXT:
        for mark in context_marks(block, phrase):
            place = (mark, 0, len(phrase.words))
            seen.marks[place] = seen.marks.get(place, 0) + 1
    if not block.spans and block.kind not in _KINDS:
        return
    ends = [*phrase.places[1:], None]
    for first in range(len(phrase.words)):
        for last in range(first, len(phrase.words)):
            after = ends[last]
            end = phrase.end if after is None else after - (block.text[after - 1] in " ・")
            for mark in _exact_marks(block, phrase.places[first], end):
                place = (mark, first, last + 1)
                seen.marks[place] = seen.marks.get(place, 0) + 1


def _exact_marks(block: Block, start: int, end: int) -> Iterator[str]:
    """The marks of which this is all."""
    first, last = start, end
    while first and block.text[first - 1] in _AROUND:
        first -= 1
    while last < len(block.text) and block.text[last] in _AROUND:
        last += 1
    if block.kind in _KINDS and first == 0 and last == len(block.text):
        yield _KINDS[block.kind]
    # Only those that end where they may: a block can have as many marks as words.
    at = bisect_left(block.spans, end, key=_END)
    while at < len(block.spans) and (span := block.spans[at]).end <= last:
        if first <= span.start <= start:
            yield _MARKS[span.mark]
        at += 1


_MOST_MARKED = 40


def _marked_otherwise(block: Block, found: Sequence[Phrase]) -> Iterator[tuple[str, Word, int]]:
    """What is marked as a term and is no noun phrase: "in-tree", "to fork", 見える化."""
    spans = [
        (span.start, span.end, span.mark is Mark.REFERENCE)
        for span in block.spans
        if span.mark not in (Mark.QUOTED, Mark.LINK)
    ]
    if block.kind in (Kind.FIRST_CELL, Kind.DEFINED):
        spans.append((0, len(block.text), False))
    places = sorted((phrase.place, phrase.end) for phrase in found)
    for start, end, is_term in dict.fromkeys(spans):
        text = _ARTICLE.sub("", block.text[start:end].strip(_AROUND))
        if not text or len(text) > _MOST_MARKED or not any(map(str.isalpha, text)):
            continue
        place = block.text.index(text, start)
        before = bisect_right(places, (place, len(block.text)))
        if before and place + len(text) <= places[before - 1][1]:
            continue
        language = "ja" if has_japanese(text) else "en"
        if is_term or _may_be_name(text, language):
            yield language, Word(text, Sort.OTHER), place


_MOST_MARKED_WORDS = 4
_MOST_JAPANESE = 12
_ARTICLE = re.compile(
    r"^(?:the|an?|your|our|its|their|this|these|those|no|any|each|every|some)\s+", re.IGNORECASE
)
_PARTICLES = re.compile("[はがをにでとのもへや]|から|まで|より|する|した|\\s")
_SENTENCE_SIGNS = frozenset("。、，,;；!?！？=<>{}[]()（）/\\|\ue005")


def _may_be_name(text: str, language: str) -> bool:
    if any(sign in _SENTENCE_SIGNS for sign in text):
        return False
    if language == "ja":
        return len(text) <= _MOST_JAPANESE and not _PARTICLES.search(text) and text[0].isalpha()
    return text[0].isalpha() and len(text) > 1 and text.count(" ") < _MOST_MARKED_WORDS
