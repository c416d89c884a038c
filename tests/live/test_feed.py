"""The event table: numbers without gaps or disorder, whoever writes and however slowly."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from glossary_site.live.models import Event, Stream
from glossary_site.live.reading import events_after, position
from glossary_site.live.services import prune_events, publish, publish_all


@pytest.mark.django_db
def test_numbers_rise_by_one_in_each_stream():
    assert publish("a", "x.happened", {"n": 1}) == 1
    assert publish("b", "x.happened", {}) == 1
    assert publish_all("a", [("x.happened", {"n": 2}), ("y.happened", {"n": 3})]) == 3
    assert [(e["number"], e["type"], e["payload"]) for e in events_after("a", 0)] == [
        (1, "x.happened", {"n": 1}),
        (2, "x.happened", {"n": 2}),
        (3, "y.happened", {"n": 3}),
    ]
    assert [e["number"] for e in events_after("a", 2)] == [3]


@pytest.mark.django_db(transaction=True)
def test_what_is_rolled_back_was_never_news():
    publish("a", "kept", {})
    with transaction.atomic():
        publish("a", "lost", {})
        transaction.set_rollback(True)
    publish("a", "kept", {})
    assert [(e["number"], e["type"]) for e in events_after("a", 0)] == [(1, "kept"), (2, "kept")]


@pytest.mark.django_db(transaction=True)
def test_a_slow_transaction_never_commits_behind_a_readers_back():
    """With two transactions open at once, the later number must not show before the earlier."""
    publish("a", "first", {})
    first_has_number, second_done = threading.Event(), threading.Event()
    seen_while_open: list[int] = []

    def slow():
        with transaction.atomic():
            publish("a", "slow", {})
            first_has_number.set()
            # The other writer must be waiting now; a reader sees neither event.
            assert not second_done.wait(0.5)
        connection.close()

    def fast():
        first_has_number.wait()
        publish("a", "fast", {})
        second_done.set()
        connection.close()

    threads = [threading.Thread(target=slow), threading.Thread(target=fast)]
    for thread in threads:
        thread.start()
    first_has_number.wait()
    seen_while_open = [e["number"] for e in events_after("a", 0)]
    for thread in threads:
        thread.join()
    assert seen_while_open == [1]
    assert [e["type"] for e in events_after("a", 0)] == ["first", "slow", "fast"]


@pytest.mark.django_db(transaction=True)
def test_a_tailing_reader_misses_nothing_under_concurrent_writers():
    writers, each = 4, 25
    done = threading.Event()

    def write():
        for _ in range(each):
            publish("a", "tick", {})
        connection.close()

    seen: list[int] = []

    def read():
        while not done.is_set() or position("a").last > (seen[-1] if seen else 0):
            seen.extend(e["number"] for e in events_after("a", seen[-1] if seen else 0))
        connection.close()

    reader = threading.Thread(target=read)
    threads = [threading.Thread(target=write) for _ in range(writers)]
    reader.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    reader.join()
    assert seen == list(range(1, writers * each + 1))


@pytest.mark.django_db
def test_pruning_removes_the_old_and_says_up_to_where():
    publish_all("a", [("old", {})] * 3)
    Event.objects.update(created_at=timezone.now() - timedelta(days=31))
    publish("a", "new", {})
    publish("b", "new", {})
    assert prune_events(days=30) == 3
    assert [e["type"] for e in events_after("a", 0)] == ["new"]
    assert position("a").pruned == 3
    assert Stream.objects.get(name="b").pruned_number == 0
    assert prune_events(days=30) == 0
