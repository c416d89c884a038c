"""Cutting the text of one section into parts that keep the token limit."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from indexing.sections.limits import Limits
from indexing.sections.sentences import line_ends, sentence_ends, stretches
from indexing.sections.sheet import Sheet, Span
from indexing.sections.tokens import count_tokens, count_within

# The overlap is looked for in so many characters for each of its tokens.
OVERLAP_SIGHT = 8
# Cuts are at least so many characters apart: the token limit divided by this.
CLOSE = 8

Way = Callable[[str, int, int], list[int]]


class Unit(NamedTuple):
    """What is put into a part as a whole. It reaches to the next one, spaces and all."""

    start: int
    end: int
    tokens: int
    is_prose: bool


def parts(sheet: Sheet, first_line: int, end_line: int, limits: Limits) -> Iterator[Span]:
    """The lines [first_line, end_line), over the limit as they are, as parts, each beginning with
    the end of the one before.

    Counts of units do not add up exactly to that of the whole, so each part is counted as it will
    be stored, and gives back what is too much.
    """
    units = Units(sheet, limits.max_tokens).of_lines(first_line, end_line)
    index, before = 0, 0
    while index < len(units):
        own = units[index]
        start, total = own.start, own.tokens
        if index:
            room = min(limits.overlap_tokens, limits.max_tokens - total)
            start = _overlap(sheet.text, before, units[index - 1], room)
            total += count_tokens(sheet.text[start : own.start])
        following = index + 1
        while following < len(units) and total + units[following].tokens <= limits.max_tokens:
            total += units[following].tokens
            following += 1
        while not (span := sheet.span(start, units[following - 1].end, limits.max_tokens)):
            if following - index > 1:
                following -= 1
            else:
                # A unit alone keeps the limit, so this ends here.
                start = own.start
        yield span
        index, before = following, start


def _overlap(text: str, start: int, last: Unit, room: int) -> int:
    """Where the last whole sentences of a part begin, with `room` tokens at most."""
    start = max(start + 1, last.end - room * OVERLAP_SIGHT)
    ends = sentence_ends if last.is_prose else line_ends
    found = last.end
    for position in reversed(ends(text, start, last.end)):
        if count_within(text[position : last.end], room) is None:
            break
        found = position
    return found


class Units:
    """Blocks; instead of one over the limit, the blocks in it; and so on down to sentences."""

    def __init__(self, sheet: Sheet, limit: int) -> None:
        self._sheet = sheet
        self._limit = limit
        self._found: list[Unit] = []

    def of_lines(self, first: int, end: int) -> list[Unit]:
        """Of lines that are over the limit as a whole."""
        self._add_inside(first, end)
        return self._found

    def _add_lines(self, first: int, end: int) -> None:
        starts, outline = self._sheet.starts, self._sheet.outline
        if not self._add(starts[first], starts[end], outline.is_prose(first)):
            self._add_inside(first, end)

    def _add_inside(self, first: int, end: int) -> None:
        starts, outline = self._sheet.starts, self._sheet.outline
        if borders := outline.borders(first, end):
            for line, next_line in pairwise([first, *borders, end]):
                self._add_lines(line, next_line)
            return
        is_prose = outline.is_prose(first)
        ways = (sentence_ends, line_ends) if is_prose else (line_ends, sentence_ends)
        self._add_text(starts[first], starts[end], is_prose, ways)

    def _add_text(self, start: int, end: int, is_prose: bool, ways: tuple[Way, ...]) -> None:
        """Cut in the first way, what is still too long in the next one, and at last anywhere."""
        text = self._sheet.text
        if ways:
            cuts = self._spaced(ways[0](text, start, end))
        else:
            cuts = stretches(text, start, end, self._limit, self._fits)
        for cut, next_cut in pairwise([start, *cuts, end]):
            if not self._add(cut, next_cut, is_prose):
                self._add_text(cut, next_cut, is_prose, ways[1:])

    def _fits(self, start: int, end: int) -> bool:
        return self._sheet.span(start, end, self._limit) is not None

    def _spaced(self, positions: list[int]) -> list[int]:
        """Not all of them where they are close: to count single words would take long."""
        spaced: list[int] = []
        for position in positions:
            if not spaced or position - spaced[-1] >= self._limit // CLOSE:
                spaced.append(position)
        return spaced

    def _add(self, start: int, end: int, is_prose: bool) -> bool:
        """Take a stretch as a unit if it keeps the limit. One with nothing in it is passed over."""
        span = self._sheet.span(start, end, self._limit)
        if span and span.start < span.end:
            self._found.append(Unit(start, end, span.tokens, is_prose))
        return span is not None
