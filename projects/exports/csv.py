"""The glossary as a table for spreadsheets."""

import csv
from collections.abc import Iterable, Iterator

from projects.exports.data import EntryData

COLUMNS = (
    "term",
    "reading",
    "definition",
    "category",
    "aliases",
    "related",
    "confidence",
    "score",
    "occurrences",
    "evidence",
)
# Without it, spreadsheets take UTF-8 for the encoding of the country.
MARK = "\ufeff"
# A cell that begins so is a formula to a spreadsheet, and would be run; full-width signs as well.
STARTS_FORMULA = frozenset("=+-@＝＋－＠")
BETWEEN = "; "


class _Line:
    """What the writer of the standard library writes to, a line at a time."""

    text = ""

    def write(self, text: str) -> int:
        self.text = text
        return len(text)


def glossary_csv(entries: Iterable[EntryData]) -> Iterator[str]:
    line = _Line()
    writer = csv.writer(line)
    writer.writerow(COLUMNS)
    yield MARK + line.text
    for entry in entries:
        writer.writerow(_cells(entry))
        yield line.text


def _cells(entry: EntryData) -> tuple[str | float, ...]:
    places = (
        f"{piece['path']}:{piece['line_start']}: {' '.join(str(piece['quote']).split())}"
        for piece in entry.evidence
    )
    return (
        defused(entry.term),
        defused(entry.reading),
        defused(entry.definition),
        defused(entry.category),
        defused(BETWEEN.join(entry.aliases)),
        defused(BETWEEN.join(entry.related)),
        round(entry.confidence, 4),
        round(entry.score, 4),
        entry.frequency,
        defused("\n".join(places)),
    )


def defused(text: str) -> str:
    """As text to a spreadsheet too. An apostrophe in front says so, and most do not show it."""
    # Spaces and tabs in front do not stop a formula from being one.
    first = text.lstrip()[:1]
    return f"'{text}" if first in STARTS_FORMULA and first else text
