"""A table of a page as rows of pipes, with cells that span rows or columns kept in their place."""

import re

from bs4 import Tag

MAX_SPAN = 100
PIPE = re.compile(r"(?<!\\)\|")


def as_pipes(table: Tag, texts: dict[int, str]) -> str:
    rows = [row for row in _grid(table, texts) if any(row)]
    width = max(map(len, rows), default=0)
    if width < 2:
        # One column is no table: somebody used it to draw a box.
        return "\n\n".join(row[0] for row in rows)
    lines = [_line(row + [""] * (width - len(row))) for row in rows]
    # Markdown knows no table without a head, so the first row is it.
    lines.insert(1, _line(["---"] * width))
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(PIPE.sub(r"\\|", cell) for cell in cells) + " |"


def _grid(table: Tag, texts: dict[int, str]) -> list[list[str]]:
    rows: list[list[str]] = []
    # Column → how many further rows a cell from above still covers.
    covered: dict[int, int] = {}
    for tr in table.find_all("tr"):
        row: list[str] = []
        for cell in tr.find_all(["td", "th"], recursive=False):
            _skip_covered(row, covered)
            start, columns, down = len(row), _span(cell, "colspan"), _span(cell, "rowspan")
            row.extend([texts.get(id(cell), "")] + [""] * (columns - 1))
            if down > 1:
                # Counted for this row too, which takes one off at its end.
                covered.update(dict.fromkeys(range(start, start + columns), down))
        _skip_covered(row, covered)
        covered = {column: left - 1 for column, left in covered.items() if left > 1}
        rows.append(row)
    return rows


def _skip_covered(row: list[str], covered: dict[int, int]) -> None:
    while len(row) in covered:
        row.append("")


def _span(cell: Tag, name: str) -> int:
    value = str(cell.get(name) or "1")
    return max(1, min(MAX_SPAN, int(value))) if value.isdecimal() else 1
