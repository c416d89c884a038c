"""The small parts: order, pages, readers."""

import time
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collection.origins.hosts import reading
from collection.origins.hosts.ordering import Link, Progress, parents_first
from collection.origins.hosts.paging import following
from collection.origins.hosts.reading import NotUnderstood


def test_a_commit_that_stands_on_itself():
    with pytest.raises(NotUnderstood):
        parents_first({"a": ("b",), "b": ("c",), "c": ("a",)})


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_parents_come_first(data):
    """Whatever the order in which they came."""
    size = data.draw(st.integers(0, 30))
    numbers = st.integers(0, max(size - 1, 0))
    graph = {
        str(number): tuple(
            str(parent)
            for parent in data.draw(st.lists(numbers, max_size=4, unique=True))
            if parent < number
        )
        for number in data.draw(st.permutations(range(size)))
    }
    ordered = parents_first(graph)
    assert sorted(ordered) == sorted(graph)
    place = {sha: number for number, sha in enumerate(ordered)}
    assert all(place[parent] < place[sha] for sha in graph for parent in graph[sha])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_position_stands_on_the_one_before(data):
    """And all that is under it has come: nothing is lost by beginning behind it."""
    size = data.draw(st.integers(1, 25))
    graph = {
        str(number): tuple(
            str(parent)
            for parent in data.draw(
                st.lists(st.integers(0, max(number - 1, 0)), max_size=3, unique=True)
            )
            if parent < number
        )
        for number in range(size)
    }

    def under(sha):
        return {sha}.union(*(under(parent) for parent in graph[sha]))

    start = data.draw(st.sampled_from(["", *graph]))
    known = under(start) if start else set()
    coming = [sha for sha in parents_first(graph) if sha not in known]
    portion = data.draw(st.integers(1, 6))
    progress = Progress(start)
    come = set(known)
    before = start
    for first in range(0, len(coming), portion):
        some = coming[first : first + portion]
        come |= set(some)
        position = progress.after(Link(sha, graph[sha]) for sha in some)
        if position:
            assert position in some
            assert come >= under(position)
            assert not before or before in under(position)
            before = position


def test_a_position_is_found_where_there_is_one():
    progress = Progress("known")
    assert progress.after([Link("side", ()), Link("side2", ("side",))]) == ""
    merge = Link("merge", ("known", "side2"))
    assert progress.after([merge, Link("other", ("side",))]) == "merge"
    assert progress.after([Link("next", ("merge",)), Link("last", ("next", "other"))]) == "last"


def test_a_long_line_of_parents():
    graph = {str(number): (str(number - 1),) for number in range(1, 50_000)}
    ordered = parents_first(graph)
    assert all(int(one) < int(other) for one, other in pairwise(ordered))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.none() | st.booleans() | st.floats() | st.text() | st.lists(st.text(), max_size=3))
def test_readers_take_or_refuse(value):
    """Whatever comes, there is an answer that can be stored or `NotUnderstood`."""
    for reader in (reading.sha, reading.person, reading.subject, reading.moment, reading.branch):
        try:
            found = reader(value)
        except NotUnderstood:
            continue
        if isinstance(found, str):
            found.encode()
            assert "\0" not in found


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=400))
def test_links_take_or_leave(text):
    begun = {"page": "1"}
    found = following({"Link": text}, begun, 5)
    assert found == {} or set(found) >= {"page"}


def test_a_link_does_not_take_long():
    began = time.monotonic()
    following({"Link": "<" * 100_000 + '; rel="next' * 1000}, {}, 5)
    assert time.monotonic() - began < 1


def test_next_pages():
    params = {"per_page": "2", "a": "b"}
    link = '<https://wrong.example/x?a=b&page_token=z%26>; rel="next", <https://w/x>; rel="first"'
    assert following({"Link": link}, params, 2) == {**params, "page_token": "z&"}
    assert following({"Link": '<https://w/x?page=9>; rel="last"'}, params, 2) == {}
    assert following({"X-Next-Page": "7"}, params, 2) == {**params, "page": "7"}
    assert following({"X-Next-Page": ""}, params, 2) == {}
    assert following({"X-Next-Page": "7"}, params, 0) == {}
    # No word about it: a full page may have one behind it, unless pages are counted by key.
    assert following({}, params, 2) == {**params, "page": "2"}
    assert following({}, {**params, "page": "2"}, 1) == {}
    assert following({}, {**params, "pagination": "keyset"}, 2) == {}
