"""A text on the table: with its lines and outline, ready to be cut."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from indexing.sections.counted import Counted
from indexing.sections.outline import Outline, outline
from projects import front_matter

LINE_END = re.compile("\n")


class Span(NamedTuple):
    """A stretch of the text with neither blank lines before it nor spaces after it."""

    start: int
    end: int
    tokens: int


@dataclass(frozen=True)
class Sheet:
    """Only "\\n" is between the lines of the text, and its front matter is blank."""

    text: str
    # The position at which each line begins, and the end of the text.
    starts: list[int]
    outline: Outline

    @cached_property
    def counted(self) -> Counted:
        """Whoever only reads does not count."""
        return Counted(self.text)

    @property
    def line_count(self) -> int:
        return len(self.starts) - 1

    def line_number(self, position: int) -> int:
        """As people count, from 1."""
        return bisect_right(self.starts, position)

    def trimmed(self, start: int, end: int) -> tuple[int, int]:
        """A stretch without the blank lines around it; its first line keeps its indent."""
        piece = self.text[start:end]
        filled = len(piece.rstrip())
        if not filled:
            return start, start
        blank = len(piece) - len(piece.lstrip())
        return start + piece.rfind("\n", 0, blank) + 1, start + filled

    def span(self, start: int, end: int, limit: int) -> Span | None:
        """The stretch, trimmed and counted; None when it has more than `limit` tokens."""
        start, end = self.trimmed(start, end)
        tokens = self.counted.within(start, end, limit)
        return None if tokens is None else Span(start, end, tokens)

    def span_of_lines(self, first: int, end: int, limit: int) -> Span | None:
        return self.span(self.starts[first], self.starts[end], limit)


def sheet_of(text: str) -> Sheet:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    # Settings are blanked, not removed: lines keep their numbers.
    _settings, text = front_matter.split(text)
    starts = [0, *(line_end.end() for line_end in LINE_END.finditer(text)), len(text)]
    return Sheet(text, starts, outline(text))
