"""Bars as SVG, made by the server.

No library: these are rectangles, and the page then needs no script, prints, and follows the theme.
Everything sideways is a percentage and everything upright a pixel, so a chart fills any width and
its words keep their size. Its colours are classes (statistics.css), for the site's policy forbids
styles in the markup and dark pages need others. The table beside it says the same in words; a chart
is one picture to a screen reader.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from math import ceil, floor, log10

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from collection.statistics.asking import By, Per
from collection.statistics.counting import Group, Statistics
from glossary_site.templatetags.site import number

HEIGHT = 160
# More cannot be told apart; then a bar stands for several periods.
MOST_BARS = 110
TOGETHER = {Per.WEEK: (1, 2, 4, 13, 26, 52), Per.MONTH: (1, 3, 6, 12, 24, 60, 120)}
# More groups cannot be told apart, either.
MOST_GROUPS = 6
OTHERS = MOST_GROUPS
MOST_LABELS = 6
GAP = 0.22
# So that the bar of a first week is a bar, and no wall.
FEWEST_BANDS = 12
# So that one commit among thousands is seen.
LEAST_HEIGHT = 1.0


@dataclass(frozen=True)
class Piece:
    """A rectangle; `style` is its class."""

    x: str
    y: str
    width: str
    height: str
    style: str


@dataclass(frozen=True)
class Column:
    """The place of a bar in its whole height: what one reads when pointing at it."""

    x: str
    width: str
    words: str


@dataclass(frozen=True)
class Tick:
    y: str
    label: str


@dataclass(frozen=True)
class Label:
    x: str
    text: str
    anchor: str
    # Left out where the page is narrow.
    is_extra: bool


@dataclass(frozen=True)
class Series:
    style: str
    label: str
    total: int


@dataclass(frozen=True)
class Chart:
    key: str
    title: str
    description: str
    # How many periods a bar stands for, where it is more than the one that the title speaks of.
    note: str
    pieces: list[Piece]
    columns: list[Column]
    ticks: list[Tick]
    labels: list[Label]
    zero: str
    legend: list[Series] = field(default_factory=list)
    height: int = HEIGHT

    @property
    def whole_height(self) -> int:
        """With the line of labels below."""
        return self.height + 22


@dataclass(frozen=True)
class _Span:
    """Some periods that one bar stands for."""

    first: date
    last: date
    periods: tuple[date, ...]

    def words(self, per: Per) -> str:
        return " – ".join(dict.fromkeys(period_label(per, day) for day in (self.first, self.last)))


def commits_chart(found: Statistics) -> Chart:
    """Commits of each period, one group upon the other where there are groups."""
    spans = _spans(found)
    series = _series(found)
    heights = [[_sum(values, span) for _one, values in series] for span in spans]
    top, ticks = _scale(max(map(sum, heights), default=0), 0)
    pieces: list[Piece] = []
    for place, parts in enumerate(heights):
        below = 0
        for (one, _values), value in zip(series, parts, strict=True):
            below += value
            if value:
                pieces.append(_piece(place, len(spans), below, value, top, 0, one.style))
    total = found.totals.commits
    words = ngettext("%(n)s commit", "%(n)s commits", total) % {"n": number(total)}
    return Chart(
        key="commits",
        title=_title(_("Commits per week"), _("Commits per month"), found.per),
        description=_description(found, spans, words),
        note=_note(found, spans),
        pieces=pieces,
        columns=_columns(spans, found.per, [_told(series, parts) for parts in heights]),
        ticks=_ticks(ticks, top, 0),
        labels=_labels(spans, found.per),
        zero=_px(HEIGHT),
        legend=[one for one, _values in series] if found.by != By.NONE else [],
    )


def lines_chart(found: Statistics) -> Chart:
    """Lines added above the line, lines deleted below it."""
    spans = _spans(found)
    added = {day: figures.additions for day, figures in found.by_period.items()}
    deleted = {day: figures.deletions for day, figures in found.by_period.items()}
    pairs = [(_sum(added, span), _sum(deleted, span)) for span in spans]
    most_added = max((pair[0] for pair in pairs), default=0)
    most_deleted = max((pair[1] for pair in pairs), default=0)
    top, ticks = _scale(most_added, most_deleted)
    bottom = max(0, -min(ticks))
    pieces = []
    for place, (plus, minus) in enumerate(pairs):
        if plus:
            pieces.append(_piece(place, len(spans), plus, plus, top, bottom, "chart-added"))
        if minus:
            pieces.append(_piece(place, len(spans), 0, minus, top, bottom, "chart-deleted"))
    words = _("%(added)s lines added, %(deleted)s deleted") % {
        "added": number(found.totals.additions),
        "deleted": number(found.totals.deletions),
    }
    told = [
        _("%(added)s added, %(deleted)s deleted")
        % {"added": number(plus), "deleted": number(minus)}
        for plus, minus in pairs
    ]
    return Chart(
        key="lines",
        title=_title(_("Lines per week"), _("Lines per month"), found.per),
        description=_description(found, spans, words),
        note=_note(found, spans),
        pieces=pieces,
        columns=_columns(spans, found.per, told),
        ticks=_ticks(ticks, top, bottom),
        labels=_labels(spans, found.per),
        zero=_px(_y(0, top, bottom)),
        legend=[
            Series("chart-added", _("Lines added"), found.totals.additions),
            Series("chart-deleted", _("Lines deleted"), found.totals.deletions),
        ],
    )


def short(value: int) -> str:
    """1,234,567 → 1.2M: an axis has little room."""
    size = abs(value)
    for unit, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if size >= unit:
            return f"{size / unit:.1f}".removesuffix(".0") + letter
    return str(size)


def period_label(per: Per, day: date) -> str:
    """As numbers: short, in order, and the same in every language."""
    return day.isoformat() if per == Per.WEEK else day.isoformat()[:7]


# ---- What is drawn ------------------------------------------------------------------------------


def _spans(found: Statistics) -> list[_Span]:
    periods = found.periods
    sizes = TOGETHER[found.per]
    size = next((size for size in sizes if len(periods) <= size * MOST_BARS), 0)
    size = size or ceil(len(periods) / MOST_BARS)
    parts = (tuple(periods[at : at + size]) for at in range(0, len(periods), size))
    return [_Span(part[0], part[-1], part) for part in parts]


def _series(found: Statistics) -> list[tuple[Series, Mapping[date, int]]]:
    """The busiest groups, and the others as one."""
    if found.by == By.NONE:
        whole = {day: figures.commits for day, figures in found.by_period.items()}
        return [(Series("chart-0", "", found.totals.commits), whole)]
    places: dict[Group, int] = {
        each.group: min(place, OTHERS) for place, each in enumerate(found.group_totals)
    }
    values: list[dict[date, int]] = [{} for _place in range(min(len(places), OTHERS + 1))]
    for row in found.rows:
        mine = values[places[row.group]]
        mine[row.period_start] = mine.get(row.period_start, 0) + row.commits
    names = [each.group.label for each in found.group_totals[:OTHERS]]
    if (others := len(found.group_totals) - OTHERS) > 0:
        names.append(ngettext("%(n)s other", "%(n)s others", others) % {"n": number(others)})
    return [
        (Series(f"chart-{place}", name, sum(mine.values())), mine)
        for place, (name, mine) in enumerate(zip(names, values, strict=True))
    ]


def _sum(values: Mapping[date, int], span: _Span) -> int:
    return sum(values.get(day, 0) for day in span.periods)


def _told(series: Sequence[tuple[Series, Mapping[date, int]]], parts: Iterable[int]) -> str:
    parts = list(parts)
    total = ngettext("%(n)s commit", "%(n)s commits", sum(parts)) % {"n": number(sum(parts))}
    named = [
        f"{one.label}: {number(value)}"
        for (one, _values), value in zip(series, parts, strict=True)
        if one.label and value
    ]
    return "\n".join([total, *named])


def _title(weeks: str, months: str, per: Per) -> str:
    return weeks if per == Per.WEEK else months


def _description(found: Statistics, spans: Sequence[_Span], words: str) -> str:
    if not spans:
        return words
    sentence = _("%(first)s to %(last)s: %(words)s.") % {
        "first": period_label(found.per, spans[0].first),
        "last": period_label(found.per, spans[-1].last),
        "words": words,
    }
    return f"{sentence} {_note(found, spans)}".strip()


def _note(found: Statistics, spans: Sequence[_Span]) -> str:
    together = len(spans[0].periods) if spans else 1
    if together == 1:
        return ""
    each = (
        _("Each bar stands for %(n)s weeks.")
        if found.per == Per.WEEK
        else _("Each bar stands for %(n)s months.")
    )
    return each % {"n": together}


# ---- Where it is drawn --------------------------------------------------------------------------


def _scale(above: int, below: int) -> tuple[int, list[int]]:
    """The highest value, and the round values that get a line: four or so."""
    step = _round_step((above + below) / 4)
    top = max(1, ceil(above / step)) * step
    bottom = ceil(below / step) * step
    return top, list(range(-bottom, top + 1, step))


def _round_step(least: float) -> int:
    """1, 2 or 5, with noughts behind."""
    if least <= 1:
        return 1
    power = 10 ** floor(log10(least))
    return int(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least))


def _y(value: float, top: int, bottom: int) -> float:
    return HEIGHT * (top - value) / (top + bottom)


def _piece(
    place: int, count: int, upper: int, value: int, top: int, bottom: int, style: str
) -> Piece:
    band = _band(count)
    y = _y(upper, top, bottom)
    height = max(LEAST_HEIGHT, HEIGHT * value / (top + bottom))
    return Piece(
        x=_percent(band * (place + GAP / 2)),
        # What is made higher than it is grows upwards from the line it stands on.
        y=_px(y if upper == 0 else min(y, _y(upper - value, top, bottom) - height)),
        width=_percent(band * (1 - GAP)),
        height=_px(height),
        style=style,
    )


def _columns(spans: Sequence[_Span], per: Per, told: Sequence[str]) -> list[Column]:
    band = _band(len(spans))
    return [
        Column(_percent(band * place), _percent(band), f"{span.words(per)}\n{words}")
        for place, (span, words) in enumerate(zip(spans, told, strict=True))
    ]


def _ticks(values: Iterable[int], top: int, bottom: int) -> list[Tick]:
    return [Tick(_px(_y(value, top, bottom)), short(value)) for value in values]


def _labels(spans: Sequence[_Span], per: Per) -> list[Label]:
    """A few, evenly: every other one can be left out where there is little room."""
    band = _band(len(spans))
    step = ceil(len(spans) / MOST_LABELS) or 1
    places = range(0, len(spans), step)
    return [
        Label(
            # From the left edge of its bar on, so that the first does not hang over.
            x=_percent(band * (place + GAP / 2)),
            text=period_label(per, spans[place].first),
            anchor="start",
            is_extra=bool(number_of % 2),
        )
        for number_of, place in enumerate(places)
    ]


def _band(count: int) -> float:
    """The width of a bar with its gap."""
    return 100 / max(FEWEST_BANDS, count)


def _percent(value: float) -> str:
    return f"{value:.3f}%"


def _px(value: float) -> str:
    return f"{value:.2f}"
