"""A Markdown text → pieces: what is searched, and what is shown as a result.

A section has its own text only, so every paragraph is in one of them; those over the token limit
are in parts, and tiny ones are put together. `content` is always cut out of the text as it is, and
ends on `line_end`: the line of anything in it can be told by counting back from there.
"""

from indexing.sections.limits import Limits
from indexing.sections.merge import Measured, merged
from indexing.sections.parts import parts
from indexing.sections.pieces import Piece
from indexing.sections.sheet import Sheet, sheet_of
from indexing.sections.tree import NO_HEADING, sections_of


def split(text: str, *, limits: Limits) -> list[Piece]:
    """Every line that is neither blank nor front matter is in the line span of one section."""
    sheet = sheet_of(text)
    sections = sections_of(sheet.outline.headings, sheet.line_count)
    pieces: list[Piece] = []
    # The place of each section's first part among the pieces.
    orders: dict[int, int] = {}
    for measured in merged(sheet, sections, limits):
        parent = measured.section.parent
        orders[measured.index] = len(pieces)
        _add(pieces, sheet, measured, limits, None if parent is None else orders[parent])
    return pieces


def _add(
    pieces: list[Piece], sheet: Sheet, measured: Measured, limits: Limits, parent: int | None
) -> None:
    section, heading, whole = measured.section, measured.section.heading, measured.span
    spans = [whole] if whole else parts(sheet, section.first_line, section.end_line, limits)
    for part, span in enumerate(spans):
        is_empty = span.start == span.end
        if is_empty and heading is NO_HEADING:
            return
        is_below_heading = part == 0 and heading is not NO_HEADING
        first = heading.start + 1 if is_below_heading else sheet.line_number(span.start)
        pieces.append(
            Piece(
                order=len(pieces),
                parent=parent,
                depth=heading.level,
                number=section.number,
                part=part,
                heading=heading.text,
                heading_path=section.path,
                line_start=first,
                line_end=heading.end if is_empty else sheet.line_number(span.end - 1),
                content=sheet.text[span.start : span.end],
                token_count=span.tokens,
            )
        )
