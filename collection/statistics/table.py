"""The figures line by line: what stands beside the chart, and what is exported."""

import csv
from collections.abc import Iterable, Iterator
from datetime import date
from io import StringIO
from typing import NamedTuple

from collection.identities import Identity
from collection.statistics.asking import By
from collection.statistics.chart import period_label
from collection.statistics.counting import Figures, Group, Statistics
from projects.exports.csv import MARK, defused

FIGURES = ("commits", "additions", "deletions")
GROUP_COLUMNS: dict[By, tuple[str, ...]] = {
    By.NONE: (),
    By.AUTHOR: ("author", "email"),
    By.REPOSITORY: ("repository",),
    By.BRANCH: ("repository", "branch"),
}
# Format → its delimiter, media type, and what comes first.
FORMATS = {"csv": (",", "text/csv", MARK), "tsv": ("\t", "text/tab-separated-values", "")}


class Line(NamedTuple):
    period_start: date
    label: str
    group: Group
    figures: Figures


def lines_of(found: Statistics) -> list[Line]:
    """The newest first. Where nothing happened the chart shows it; a line of zeros would only be in
    the way."""
    if found.by == By.NONE:
        return [
            Line(period, period_label(found.per, period), Group(), found.by_period[period])
            for period in reversed(found.periods)
            if period in found.by_period
        ]
    labels = {period: period_label(found.per, period) for period in found.by_period}
    lines = [
        Line(start, labels[start], group, Figures(*figures))
        for start, group, *figures in found.rows
    ]
    # Within a period the order stays.
    return sorted(lines, key=lambda line: line.period_start, reverse=True)


def export(found: Statistics, format: str) -> Iterator[str]:
    delimiter, _media, mark = FORMATS[format]
    head = (str(found.per), *GROUP_COLUMNS[found.by], *FIGURES)
    yield mark + _written(head, delimiter)
    for line in lines_of(found):
        figures = line.figures
        cells = (
            line.label,
            *_group_cells(found.by, line.group),
            figures.commits,
            figures.additions,
            figures.deletions,
        )
        yield _written(cells, delimiter)


def _group_cells(by: By, group: Group) -> Iterable[str]:
    if by == By.NONE:
        return ()
    if by == By.AUTHOR:
        return map(_cell, Identity.read(group.key))
    if by == By.BRANCH:
        return map(_cell, (group.label.removesuffix(f" · {group.key}"), group.key))
    return (_cell(group.label),)


def _cell(text: str) -> str:
    """On one line, and nothing that a spreadsheet would run."""
    return defused(" ".join(text.split()))


def _written(cells: Iterable[object], delimiter: str) -> str:
    line = StringIO()
    csv.writer(line, delimiter=delimiter).writerow(cells)
    return line.getvalue()
