"""The chart as a drawing: well formed, in its bounds, readable by more than colour."""

import re
from datetime import date, timedelta
from xml.etree import ElementTree

import pytest
from django.template.loader import render_to_string
from django.utils import translation

from collection.statistics.asking import By, Per
from collection.statistics.chart import (
    HEIGHT,
    MOST_BARS,
    commits_chart,
    lines_chart,
    short,
)
from collection.statistics.counting import Figures, Group, GroupTotal, Row, Statistics
from collection.statistics.periods import next_after

NASTY = "\"><script>alert(1)</script>&amp;'綾"


def made(number, *, per=Per.WEEK, groups=1, commits=lambda place, group: place % 7 + group):
    periods = [date(2020, 1, 6) if per == Per.WEEK else date(2020, 1, 1)]
    while len(periods) < number:
        periods.append(next_after(per, periods[-1]))
    by = By.AUTHOR if groups > 1 else By.NONE
    names = [Group(f"{NASTY} {n}", f"{NASTY} {n}") for n in range(groups)]
    rows = [
        Row(period, group, commits(place, n), 100 * place, 40 * (place % 3))
        for place, period in enumerate(periods)
        for n, group in enumerate(names)
        if commits(place, n)
    ]
    by_period, by_group = {}, {}
    for row in rows:
        figures = Figures(row.commits, row.additions, row.deletions)
        by_period[row.period_start] = by_period.get(row.period_start, Figures()) + figures
        by_group[row.group] = by_group.get(row.group, Figures()) + figures
    totals = [GroupTotal(group, figures) for group, figures in by_group.items()]
    totals.sort(key=lambda each: -each.figures.commits)
    return Statistics(per, by, rows, sum(by_period.values(), Figures()), by_period, totals, periods)


def drawn(chart):
    """The svg elements, read by a parser that forgives nothing."""
    html = render_to_string("collection/_chart.html", {"chart": chart})
    assert "style=" not in html
    assert "<script>" not in html
    found = [ElementTree.fromstring(text) for text in re.findall(r"<svg.*?</svg>", html, re.S)]
    return found[-1], found[:-1]


@pytest.mark.parametrize("number", [1, 900])
@pytest.mark.parametrize("groups", [1, 12])
def test_every_piece_is_within_the_drawing(number, groups):
    found = made(number, groups=groups)
    for chart in (commits_chart(found), lines_chart(found)):
        svg, _keys = drawn(chart)
        rects = [each for each in svg.iter("rect") if each.get("class", "").startswith("chart-")]
        assert rects
        for rect in svg.findall("rect"):
            x, width = (float(rect.get(name).rstrip("%")) for name in ("x", "width"))
            y, height = (float(rect.get(name)) for name in ("y", "height"))
            assert x >= 0
            assert x + width <= 100.01
            assert y >= -1.01
            assert y + height <= HEIGHT + 1.01
        assert len(chart.columns) <= MOST_BARS


def test_the_bar_of_a_first_week_is_no_wall():
    (piece,) = commits_chart(made(1, commits=lambda place, group: 3)).pieces
    assert float(piece.width.removesuffix("%")) < 10


def test_heights_say_the_figures():
    found = made(4, commits=lambda place, _group: [10, 0, 5, 20][place])
    chart = commits_chart(found)
    top = 20
    assert [float(piece.height) for piece in chart.pieces] == [
        HEIGHT * value / top for value in (10, 5, 20)
    ]
    assert [tick.label for tick in chart.ticks] == ["0", "5", "10", "15", "20"]


def test_one_commit_among_thousands_is_seen():
    chart = commits_chart(made(2, commits=lambda place, _group: [1, 90_000][place]))
    assert float(chart.pieces[0].height) == 1.0


def test_six_groups_and_the_others_each_with_a_pattern():
    chart = commits_chart(made(10, groups=9, commits=lambda _place, group: 10 - group))
    assert len(chart.legend) == 7
    assert chart.legend[-1].label == "3 others"
    assert len({series.style for series in chart.legend}) == 7
    assert sum(series.total for series in chart.legend) == sum(
        row.commits for row in made(10, groups=9, commits=lambda _p, group: 10 - group).rows
    )
    svg, keys = drawn(chart)
    assert len(list(svg.iter("pattern"))) == 5
    assert len(keys) == 7


def test_screen_readers_get_one_picture_with_words():
    svg, _keys = drawn(commits_chart(made(8)))
    assert svg.get("role") == "img"
    ids = svg.get("aria-labelledby").split()
    words = {each.get("id"): each.text for each in svg if each.get("id")}
    assert words[ids[0]] == "Commits per week"
    assert words[ids[1]] == "2020-01-06 to 2020-02-24: 21 commits."


def test_many_periods_share_a_bar():
    found = made(520)
    chart = commits_chart(found)
    assert len(chart.columns) == 40
    assert chart.note == "Each bar stands for 13 weeks."
    assert chart.note in chart.description
    assert commits_chart(made(20)).note == ""
    # Nothing is lost in it.
    words = [re.search(r"\n([\d,]+) commit", column.words)[1] for column in chart.columns]
    assert sum(int(word.replace(",", "")) for word in words) == found.totals.commits


def test_in_japanese_numbers_stay_numbers():
    with translation.override("ja"):
        drawn(lines_chart(made(50, groups=2)))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (999, "999"), (1000, "1k"), (1234, "1.2k"), (-2_500_000, "2.5M"), (3 * 10**9, "3G")],
)
def test_short(value, text):
    assert short(value) == text


def test_the_last_period_comes_out_right():
    assert next_after(Per.MONTH, date(2025, 12, 1)) == date(2026, 1, 1)
    assert next_after(Per.WEEK, date(2025, 12, 29)) == date(2026, 1, 5)
    assert commits_chart(made(3, per=Per.MONTH)).columns[-1].words.startswith("2020-03\n")
    assert made(2).periods[1] - made(2).periods[0] == timedelta(days=7)
