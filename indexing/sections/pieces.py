"""What the splitter makes of a text: plain data, before it becomes rows."""

from typing import NamedTuple


class Piece(NamedTuple):
    """A section, or a part of one that is over the token limit."""

    # The position in the list; `parent` is that of another piece, always an earlier one.
    order: int
    parent: int | None
    depth: int
    number: str
    part: int
    heading: str
    heading_path: tuple[str, ...]
    line_start: int
    line_end: int
    # Its own text, without its heading and without the sections below it.
    content: str
    token_count: int
