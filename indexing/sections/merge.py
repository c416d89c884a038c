"""Putting tiny sections together with their neighbours."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from indexing.sections.limits import Limits
from indexing.sections.sheet import Sheet, Span
from indexing.sections.tree import Section


@dataclass(frozen=True, slots=True)
class Measured:
    """A section, or several in a row under the first one's heading, and its text."""

    # That of the first one in the list of sections.
    index: int
    section: Section
    # None: over the limit.
    span: Span | None


def merged(sheet: Sheet, sections: Iterable[Section], limits: Limits) -> Iterator[Measured]:
    """All sections in their order; only neighbours of one parent and one level, with nothing below
    them, are put together. The headings that disappear are lines of the text then.
    """
    measured = (
        Measured(index, section, _span(sheet, section, limits))
        for index, section in enumerate(sections)
    )
    for _, siblings in groupby(measured, key=_kinship):
        yield from Siblings(sheet, limits, list(siblings)).put_together()


def _span(sheet: Sheet, section: Section, limits: Limits) -> Span | None:
    return sheet.span_of_lines(section.first_line, section.end_line, limits.max_tokens)


def _kinship(measured: Measured) -> tuple[int | None, int, int | None]:
    section = measured.section
    own = None if section.is_leaf else measured.index
    return section.parent, section.heading.level, own


class Siblings:
    """Sections in a row that may be put together."""

    def __init__(self, sheet: Sheet, limits: Limits, row: list[Measured]) -> None:
        self._sheet = sheet
        self._limits = limits
        self._row = row

    def put_together(self) -> list[Measured]:
        # Tiny ones with each other first and no more than it takes: in a glossary each heading is a
        # term, and a term is found best where the heading is its own.
        groups: list[Measured] = []
        for one in self._row:
            both = self._is_tiny(one) and groups and self._is_tiny(groups[-1])
            joined = self._joined(groups[-1], one) if both else None
            if joined:
                groups[-1] = joined
            else:
                groups.append(one)
        # Then what is left over with the one before, whose heading stays; else with the one after.
        row: list[Measured] = []
        for one in groups:
            joined = None
            if row and (self._is_tiny(one) or self._is_tiny(row[-1])):
                joined = self._joined(row[-1], one)
            if joined:
                row[-1] = joined
            else:
                row.append(one)
        return row

    def _is_tiny(self, one: Measured) -> bool:
        return one.span is not None and one.span.tokens < self._limits.min_tokens

    def _joined(self, one: Measured, other: Measured) -> Measured | None:
        section = replace(one.section, end_line=other.section.end_line)
        span = _span(self._sheet, section, self._limits)
        return replace(one, section=section, span=span) if span else None
