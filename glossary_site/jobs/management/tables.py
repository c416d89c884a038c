"""What commands write to a terminal: columns that are aligned in every language, and times that are
read without reckoning."""

from collections.abc import Sequence
from datetime import datetime
from unicodedata import combining, east_asian_width

from django.utils.translation import gettext as _

from glossary_site.durations import in_words

GAP = "  "
NOTHING = "–"


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    cells = [[_one_line(cell) for cell in row] for row in (headings, *rows)]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    lines = (
        GAP.join(
            cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)
        )
        for row in cells
    )
    return "\n".join(line.rstrip() for line in lines)


def relative(moment: datetime | None, now: datetime) -> str:
    """“4 min ago”, “in 40 s”."""
    if moment is None:
        return NOTHING
    if moment <= now:
        return _("%(time)s ago") % {"time": in_words(now - moment)}
    return _("in %(time)s") % {"time": in_words(moment - now)}


def shortened(text: str, length: int) -> str:
    line = _one_line(text)
    return line if len(line) <= length else line[: length - 1] + "…"


def harmless(text: str) -> str:
    """A terminal obeys some characters, and texts come from anywhere. Line ends stay."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


def _one_line(cell: object) -> str:
    return " ".join(harmless(str(cell)).split()) or NOTHING


def _width(text: str) -> int:
    """How many places it takes on a terminal."""
    wide = sum(east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(1 for c in text if combining(c))
