"""Whose turn it is."""

from datetime import timedelta

import pytest
from django.utils import timezone

from collection.choices import Kind
from collection.services.collecting.turns import Turns, host_of

NOW = timezone.now()
SOON, LATE = NOW + timedelta(seconds=5), NOW + timedelta(hours=1)


@pytest.fixture
def turns(settings):
    settings.COLLECTION_PER_HOST = 2
    return Turns()


def take(turns, most=9, *, under_way=(), now=NOW):
    return turns.take(most, under_way=under_way, now=now)


def test_in_their_order_and_no_more_than_asked_for(turns):
    for pk in (3, 1, 2):
        turns.add(pk, host="")
    assert take(turns, 2) == [3, 1]
    assert take(turns, 0) == []
    assert take(turns) == [2]
    assert not turns


def test_so_many_of_a_host(turns):
    for pk in range(4):
        turns.add(pk, host="a")
    turns.add(9, host="b")
    assert take(turns) == [0, 1, 9]
    assert take(turns, under_way=[0, 9]) == [2]


def test_one_that_is_under_way_waits_for_its_end(turns):
    turns.add(1, host="")
    turns.add(2, host="")
    assert take(turns, under_way=[1]) == [2]
    assert turns.waits_until is None
    assert take(turns) == [1]


def test_it_comes_when_it_is_due_and_once(turns):
    turns.add(1, host="", due=SOON)
    turns.add(1, host="", due=SOON)
    assert take(turns) == []
    assert turns.waits_until == turns.next_due == SOON
    assert take(turns, now=SOON) == [1]
    assert not turns


def test_a_host_that_is_left_alone(turns):
    turns.add(1, host="a")
    turns.add(2, host="b")
    turns.leave_alone("a", LATE)
    turns.leave_alone("a", SOON)
    assert take(turns) == [2]
    assert turns.waits_until == LATE
    assert take(turns, now=LATE) == [1]


@pytest.mark.parametrize(
    ("kind", "address", "host"),
    [
        (Kind.LOCAL, "/srv/git/app", ""),
        (Kind.GIT, "ssh://git@Example.com:22/app", "example.com"),
        (Kind.GITHUB, "https://github.com/a/b", "github.com"),
    ],
    ids=["local", "ssh", "github"],
)
def test_hosts(kind, address, host):
    assert host_of(kind, address) == host
