"""What somebody wants counted, from an address and from JSON."""

from datetime import date

import pytest

from collection.statistics.asking import BadFilter, By, Filter, Per

EVERYTHING = Filter(
    repositories=(3, 4),
    branches=("main", "release/1.0"),
    authors=("Ada <ada@example.com>", "綾 <aya@例.jp>"),
    since=date(2026, 1, 1),
    until=date(2026, 3, 31),
    per=Per.MONTH,
    by=By.AUTHOR,
    include_unreachable=True,
)


@pytest.mark.parametrize("filter", [Filter(), EVERYTHING], ids=["nothing", "everything"])
def test_nothing_is_lost_on_the_way(filter):
    assert Filter.from_query(filter.urlencode()) == filter
    assert Filter.from_json(filter.as_json()) == filter


def test_saying_nothing_is_short():
    assert Filter().urlencode() == ""
    assert not Filter(per=Per.MONTH, by=By.BRANCH).is_narrowed
    assert Filter(include_unreachable=True).is_narrowed


def test_each_value_once_and_empty_fields_are_nothing():
    asked = Filter.from_query("repository=2&repository=2&branch=&since=&per=&author=Ada+%3Ca%3E")
    assert asked == Filter(repositories=(2,), authors=("Ada <a>",))


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("repository=x", {"repository"}),
        ("repository=-1", {"repository"}),
        ("repository=" + "9" * 40, {"repository"}),
        ("since=2026-02-30", {"since"}),
        ("since=20260101", {"since"}),
        ("until=0001-01-01", {"until"}),
        ("until=9999-12-31", {"until"}),
        ("since=2026-02-01&until=2026-01-31", {"until"}),
        ("per=day&by=colour", {"per", "by"}),
        ("per=week&per=month", {"per"}),
        ("branch=a%00b", {"branch"}),
        ("unreachable=perhaps", {"unreachable"}),
        ("since=tomorrow&repository=all", {"since", "repository"}),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_what_is_wrong_is_said_of_each_field(query, fields):
    with pytest.raises(BadFilter) as caught:
        Filter.from_query(query)
    assert set(caught.value.errors) == fields
    assert all(caught.value.errors.values())
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ([], "filter"),
        ({"branch": ["main"]}, "branch"),
        ({"branches": [7]}, "branches"),
        ({"authors": ["\ud800"]}, "authors"),
        ({"repositories": [True]}, "repositories"),
        ({"since": 20260101}, "since"),
        ({"by": ["author", "branch"]}, "by"),
    ],
    ids=["list", "misspelt", "number", "half a character", "yes", "no text", "two"],
)
def test_json_is_read_strictly(data, field):
    with pytest.raises(BadFilter) as caught:
        Filter.from_json(data)
    assert set(caught.value.errors) == {field}


def test_json_may_leave_out_and_say_null():
    assert Filter.from_json({"since": None, "branches": "main"}) == Filter(branches=("main",))
