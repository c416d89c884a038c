"""One document: where the terms stand in it, and what its sentences say of them."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, combinations
from typing import NamedTuple

from glossary_site.checking import Check, checked
from runs.engine.definitions import layout
from runs.engine.definitions.findings import MOST_SURE, adjusted
from runs.engine.definitions.judging import judged, may_define
from runs.engine.definitions.passages import Passage
from runs.engine.definitions.plain import plain
from runs.engine.definitions.reading import Block, Kind, Reading, cells, read
from runs.engine.definitions.scanning import Match, Scanner
from runs.engine.definitions.sentences import sentences
from runs.engine.definitions.spelling import Subject, is_japanese
from runs.engine.definitions.using import usage
from runs.pipeline.data import SourceDocument

# Of a term that is everywhere, so many examples of use are looked at in each document.
USES = 4
# More terms than this in one sentence are a list, and say nothing of each other.
MOST_TOGETHER = 12
# A longer passage is cut: nobody reads it, and a model should not have to.
MOST_CHARACTERS = 1200
# A sentence of so few characters says little without the next one.
TOO_SHORT = 30
# A definition in the term's own language is the better one.
OTHER_LANGUAGE = 0.06
# A label stands at the beginning, behind its marks at most; by so many characters one item is told
# from another.
NEAR = 4
ITS_BEGINNING = 120
# No paragraph that leads a list in is longer, and few lists have more items.
LEAD = 120
LONGEST_LIST = 40
# No definition is offered for what can be set.
OF_SETTINGS = 0.58
# Sentences that are judged between two checks.
PLACES_AT_A_TIME = 50
LINE = re.compile("[^\r\n]*(?:\r\n|\r|\n|\\Z)")

Span = tuple[int, int]


class Place(NamedTuple):
    block: int
    sentence: int


class Together:
    """Which terms stand in the same sentences, counted over all documents."""

    def __init__(self) -> None:
        self.sentences = 0
        self.counts: Counter[int] = Counter()
        self.pairs: Counter[tuple[int, int]] = Counter()
        # How many sections have a term's name as their heading.
        self.headings: Counter[int] = Counter()

    def add(self, subjects: set[int]) -> None:
        self.counts.update(subjects)
        if 1 < len(subjects) <= MOST_TOGETHER:
            self.pairs.update(combinations(sorted(subjects), 2))


class Pass:
    """Knows where each subject stands, by its number, and gives its passages when asked: to judge
    them takes longer than to find them."""

    def __init__(
        self,
        document: SourceDocument,
        number: int,
        subjects: Sequence[Subject],
        scanner: Scanner,
        *,
        check: Check = bool,
    ) -> None:
        self._check = check
        self._document, self._number = document, number
        self._subjects, self._scanner = subjects, scanner
        self._reading: Reading = read(document.text, check=check)
        self._blocks = self._reading.blocks
        self._text = self._reading.sheet.text
        self._starts = [block.start for block in self._blocks]
        self._spans: dict[int, list[Span]] = {}
        self._offsets = _offsets(document.text, self._reading)
        # Of each subject: the sentences it stands in, and the blocks right below its name.
        self._standing: dict[int, list[tuple[Place, Match]]] = {}
        self._titled: dict[int, list[int]] = {}

    def survey(self, together: Together) -> None:
        """Look for the subjects; asked once, before anything else."""
        places = sorted(self._places().items())
        for place, matches in checked(places, self._check, every=PLACES_AT_A_TIME):
            for number, match in matches.items():
                self._standing.setdefault(number, []).append((place, match))
            together.add({number for number, match in matches.items() if match.alone})
        together.sentences += sum(len(spans) for spans in self._spans.values())
        for index, numbers in self._headed():
            together.headings.update(numbers)
            for number in numbers:
                self._titled.setdefault(number, []).append(index)

    def subjects(self) -> set[int]:
        return self._standing.keys() | self._titled.keys()

    def passages(self, number: int) -> Iterator[Passage]:
        titled = self._titled.get(number, ())
        uses = USES
        standing = self._standing.get(number, ())
        for place, match in checked(standing, self._check, every=PLACES_AT_A_TIME):
            is_titled = place.sentence == 0 and place.block in titled
            passage = self._said(place, number, match, is_titled=is_titled)
            if passage is None and uses:
                uses -= 1
                passage = self._use(place, number, match)
            if passage:
                yield passage

    def labelled(self, number: int) -> Iterator[str]:
        """How the items and meanings begin that it stands before: "**Type**: a word …"."""
        subject = self._subjects[number]
        for place, match in self._standing.get(number, ()):
            block = self._blocks[place.block]
            if place.sentence or match.start - block.start > NEAR:
                continue
            end = block.start + ITS_BEGINNING
            if self._is_head(place.block):
                if layout.is_name(plain(self._text[block.start : block.end]), subject):
                    yield self._text[block.start : end]
            elif layout.is_labelled(self._text[block.start : min(block.end, end)], subject):
                yield self._text[block.start : end]

    def _is_head(self, index: int) -> bool:
        """Whether what it means follows, in a definition list."""
        block, following = self._blocks[index], self._blocks[index + 1 : index + 2]
        return bool(following) and following[0].head == (block.start, block.end)

    def unnamed(self, number: int) -> Iterator[Passage]:
        """Below its heading, a term need not be named again."""
        named = {place for place, _match in self._standing.get(number, ())}
        for index in self._titled.get(number, ()):
            place = Place(index, 0)
            if place in named:
                continue
            if passage := self._definition(place, self._subjects[number], is_titled=True):
                yield passage

    def _places(self) -> dict[Place, dict[int, Match]]:
        """The sentences with subjects, and where in each a subject stands first."""
        places: dict[Place, dict[int, Match]] = {}
        for match in self._scanner.matches(self._text):
            index = bisect_right(self._starts, match.start) - 1
            if index < 0 or match.start >= self._blocks[index].end:
                continue
            spans = self._sentences(index)
            sentence = bisect_right(spans, (match.start, len(self._text))) - 1
            matches = places.setdefault(Place(index, max(0, sentence)), {})
            known = matches.get(match.subject)
            if known is None or (match.alone, -match.start) > (known.alone, -known.start):
                matches[match.subject] = match
        return places

    def _sentences(self, index: int) -> list[Span]:
        """Of a block; the row of a table is one."""
        if index not in self._spans:
            block = self._blocks[index]
            spans = []
            if block.kind is not Kind.ROW:
                spans = sentences(self._text, block.start, block.end)
            self._spans[index] = spans or [(block.start, block.end)]
        return self._spans[index]

    def _headed(self) -> Iterator[tuple[int, set[int]]]:
        """Blocks right below a heading that is a subject's name."""
        for index, block in enumerate(self._blocks):
            if block.opens and block.kind is Kind.PROSE and not self._is_head(index):
                heading = self._reading.heading(block)
                if layout.LABEL.fullmatch(heading):
                    continue
                yield index, self._scanner.named(layout.names_in_heading(heading))

    def _said(self, place: Place, number: int, match: Match, *, is_titled: bool) -> Passage | None:
        """What defines the subject, where it stands."""
        subject = self._subjects[number]
        if not match.alone or layout.LABEL.fullmatch(subject.term.text):
            return None
        passage = self._set_out(place, subject)
        if passage:
            return passage
        start, end = self._sentences(place.block)[place.sentence]
        if not may_define(self._text[start:end], match.start - start):
            return None
        return self._definition(place, subject, is_titled=is_titled)

    def _use(self, place: Place, number: int, match: Match) -> Passage:
        subject, block = self._subjects[number], self._blocks[place.block]
        start, end = self._sentences(place.block)[place.sentence]
        if end - start < TOO_SHORT:
            end = self._end(place, 2)
        start, end = _cut(self._text, start, end, match.start)
        score = usage(
            self._text[start:end],
            match.start - start,
            match.end - start,
            language=subject.term.language,
            is_prose=block.kind is not Kind.ROW,
            is_alone=match.alone,
        )
        return self._made(block, start, end, score, "")

    def _set_out(self, place: Place, subject: Subject) -> Passage | None:
        """A definition by its place: in a table, a definition list or an item."""
        block = self._blocks[place.block]
        # No more than is shown in the end: a paragraph may be a whole book.
        raw = self._text[block.start : min(block.end, block.start + MOST_CHARACTERS)]
        if block.kind is Kind.ROW:
            finding = layout.in_row(cells(raw), block.header, subject)
            if finding is None or block.end - block.start > MOST_CHARACTERS:
                return None
            return self._made(block, block.start, block.end, finding.score, finding.pattern)
        if place.sentence:
            return None
        if self._is_head(place.block):
            return self._meaning(block, place.block + 1, subject)
        is_item = block.kind is Kind.ITEM
        headings = self._headings(block)
        if is_item and any(map(layout.CHANGES.fullmatch, headings)):
            return None
        finding = layout.in_item(raw, subject, is_item=is_item, is_ordered=block.ordered)
        if finding is None:
            return None
        if layout.is_of_settings(headings, self._lead(place.block)):
            finding = adjusted(finding, min(0.0, OF_SETTINGS - finding.score))
        # 「**X**：」 may end like a sentence by itself.
        end = self._end(place, 3)
        if end - block.start > MOST_CHARACTERS:
            return None
        return self._made(block, block.start, end, finding.score, finding.pattern)

    def _meaning(self, head: Block, index: int, subject: Subject) -> Passage | None:
        end = self._end(Place(index, 0), 2)
        name = self._text[head.start : head.end]
        if end - head.start > 2 * MOST_CHARACTERS:
            return None
        if not layout.is_name(plain(name), subject):
            return None
        meaning = plain(self._text[self._blocks[index].start : end])
        score = layout.meaning_score(meaning, name, subject, self._headings(head))
        return self._made(head, head.start, end, score, "definition-list")

    def _lead(self, index: int) -> str:
        """The paragraph that a list follows: "Parameters:"."""
        section, first = self._blocks[index].section, index
        while first and self._blocks[first - 1].kind is Kind.ITEM and first > index - LONGEST_LIST:
            first -= 1
        before = self._blocks[first - 1] if first else self._blocks[index]
        if before.kind is not Kind.PROSE or before.section != section:
            return ""
        return plain(self._text[before.start : min(before.end, before.start + LEAD)])

    def _headings(self, block: Block) -> list[str]:
        """Those it stands below, the nearest last."""
        return [self._reading.title, *self._reading.sections[block.section].path]

    def _definition(self, place: Place, subject: Subject, *, is_titled: bool) -> Passage | None:
        """A definition by its words."""
        # With the one before, of which it may only tell the name.
        first = max(0, place.sentence - 1)
        spans = self._sentences(place.block)[first : place.sentence + 1]
        if any(end - start > MOST_CHARACTERS for start, end in spans):
            return None
        raw = [self._text[start:end] for start, end in spans]
        found = judged(raw, place.sentence - first, subject, is_titled=is_titled)
        if found is None:
            return None
        score, pattern = found.finding.score, found.finding.pattern
        block = self._blocks[place.block]
        if block.kind is Kind.ITEM:
            score -= 0.04
        elif block.opens and first + found.sentence == 0:
            score += 0.03
        start, end = spans[found.sentence]
        if is_japanese(self._text[start:end]) != (subject.term.language == "ja"):
            score -= OTHER_LANGUAGE
        end = self._end(Place(place.block, first + found.sentence), 2)
        return self._made(block, start, end, score, pattern)

    def _end(self, place: Place, count: int) -> int:
        """Where the last of some sentences ends, from a place on in its block."""
        spans = self._sentences(place.block)[place.sentence : place.sentence + count]
        start = spans[0][0]
        ends = [end for _start, end in spans if end - start <= MOST_CHARACTERS]
        return max(ends, default=spans[0][1])

    def _made(self, block: Block, start: int, end: int, score: float, pattern: str) -> Passage:
        sheet = self._reading.sheet
        first, last = sheet.line_number(start), sheet.line_number(end - 1)
        begin = self._offsets[first - 1] + start - sheet.starts[first - 1]
        stop = self._offsets[last - 1] + end - sheet.starts[last - 1]
        return Passage(
            document=self._number,
            start=begin,
            line_start=first,
            line_end=last,
            heading_path=self._reading.sections[block.section].path,
            text=self._document.text[begin:stop],
            score=round(min(MOST_SURE, score), 2),
            pattern=pattern,
        )


def _offsets(text: str, reading: Reading) -> Sequence[int]:
    """Where each line begins in the document itself: the sheet's has other line ends, and no
    settings at the top."""
    sheet = reading.sheet
    if len(text) == len(sheet.text) and "\r" not in text:
        return sheet.starts
    lines = [len(line) for line in LINE.findall(text)]
    offsets = list(accumulate(lines, initial=0))
    if text.startswith("\ufeff"):
        offsets[0] = 1
    return offsets


def _cut(text: str, start: int, end: int, position: int) -> Span:
    """The part around a position of a sentence that never ends."""
    if end - start <= MOST_CHARACTERS:
        return start, end
    start = max(start, position - MOST_CHARACTERS // 2)
    end = min(end, start + MOST_CHARACTERS)
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - (len(piece) - len(piece.rstrip()))
