"""One round of the keeper after the other, in this process."""

import os
import time
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from glossary_site.jobs import process
from glossary_site.jobs.choices import WorkerRole
from glossary_site.jobs.keeper import WHOLE_EVERY, Keeper
from glossary_site.jobs.models import LeaderLease, TriggerEvent, Worker

pytestmark = pytest.mark.django_db

NODE = "node"
# A number that no process has: those of Linux are smaller.
NOBODY = 2**30


class Marks:
    def __init__(self) -> None:
        self.wishes: list[bool] = []

    def drain(self, on: bool) -> None:
        self.wishes.append(on)


@pytest.fixture
def marks() -> Marks:
    return Marks()


@pytest.fixture
def keeper(marks: Marks) -> Keeper:
    return Keeper(node=NODE, marks={"short": marks})


def worker(**fields) -> Worker:
    return Worker.objects.create(
        **{
            "name": f"{NODE}:short:{NOBODY}",
            "node": NODE,
            "role": WorkerRole.SHORT,
            "host": process.host(),
            "pid": NOBODY,
            "process_started": 1,
            **fields,
        }
    )


def test_it_enters_itself_and_leads(keeper):
    keeper.round()
    ours = Worker.objects.get(name=keeper.name)
    assert (ours.role, ours.pid, ours.stopped_at) == (WorkerRole.KEEPER, os.getpid(), None)
    assert LeaderLease.objects.get().holder == keeper.name


def test_the_dead_of_its_machine_are_struck_out_and_those_of_others_are_not(keeper):
    dead, elsewhere = worker(), worker(name="elsewhere", host="another machine")
    LeaderLease.objects.create(pk=LeaderLease.ONLY, holder=dead.name, epoch=3)
    keeper.round()
    dead.refresh_from_db()
    elsewhere.refresh_from_db()
    assert dead.stopped_at is not None
    assert elsewhere.stopped_at is None
    # Its lease was not waited for.
    keeper.round()
    lease = LeaderLease.objects.get()
    assert (lease.holder, lease.epoch) == (keeper.name, 4)


def test_one_that_was_taken_for_dead_enters_itself_again(keeper):
    keeper.round()
    Worker.objects.update(stopped_at=timezone.now())
    keeper.round()
    assert Worker.objects.get(name=keeper.name).stopped_at is None


def test_a_wish_to_drain_outlives_the_keeper_it_was_told(keeper, marks):
    worker(draining=True)
    keeper.round()
    assert Worker.objects.get(name=keeper.name).draining
    assert marks.wishes == [True]
    Worker.objects.update(draining=False)
    keeper.round()
    keeper.round()
    assert marks.wishes == [True, False]


def test_it_is_heard_of_now_and_then(keeper, settings):
    settings.JOB_LEASE_SECONDS = 0.03
    keeper.round()
    long_ago = timezone.now() - timedelta(days=1)
    Worker.objects.update(heartbeat_at=long_ago)
    time.sleep(settings.JOB_LEASE_SECONDS)
    keeper.round()
    assert Worker.objects.get(name=keeper.name).heartbeat_at > long_ago


def test_with_nothing_to_do_a_round_costs_little(keeper, django_assert_max_num_queries):
    keeper.round()
    # It told the page that there is a keeper now.
    keeper.round()
    # Every second, day and night. On PostgreSQL the clock is asked, too.
    with django_assert_max_num_queries(5 if connection.vendor == "sqlite" else 6):
        keeper.round()


def test_an_event_that_nobody_acted_on_waits_for_a_few_rounds_at_most(keeper):
    keeper.round()
    event = TriggerEvent.objects.create(dedupe_key="once", type="tide.turned")
    for _ in range(WHOLE_EVERY):
        keeper.round()
    event.refresh_from_db()
    assert event.processed_at is not None
