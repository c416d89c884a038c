"""What the operations page shows, and the sentences that say why nothing runs."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from glossary_site.jobs.choices import Continuation, State
from glossary_site.jobs.models import JobRun, Worker
from glossary_site.jobs.overview import overview
from glossary_site.jobs.reasons import Level, reasons, why
from glossary_site.jobs.services.definitions import create_definition
from glossary_site.jobs.services.transitions import make_next_attempt
from tests.jobs.scene import (
    NODE,
    ago,
    ahead,
    changed,
    ended,
    failed,
    lead,
    make_node,
    make_worker,
    running,
    waiting,
)

pytestmark = pytest.mark.django_db


def codes(view=None) -> list[str]:
    return [reason.code for reason in reasons(view or overview())]


def sentence(code: str) -> str:
    return next(reason.sentence for reason in reasons(overview()) if reason.code == code)


class TestPicture:
    def test_processes_are_grouped_by_node_with_what_they_do(self):
        first = make_node()
        make_node("other/worker-b2", draining=True)
        run = running(worker=first["short"])
        one, other = overview().nodes
        assert (one.name, one.draining, one.in_hand) == (NODE, False, 1)
        assert (other.name, other.draining) == ("other/worker-b2", True)
        assert [line.worker.role for line in one.workers] == ["short", "long", "keeper"]
        assert [line.run_ids for line in one.workers] == [[run.pk], [], []]

    def test_who_was_not_heard_of_is_silent_and_then_gone(self):
        make_worker()
        make_worker(seconds=20)
        make_worker(seconds=60)
        Worker.objects.update(stopped_at=None)
        make_worker(stopped_at=ago(seconds=1))
        (node,) = overview().nodes
        assert [line.is_silent for line in node.workers] == [False, True]

    def test_the_queue_tells_what_could_begin_from_what_waits_for_its_time(self):
        waiting("work.note", since=40)
        waiting("work.note", since=10)
        waiting("work.note", due_in=300)
        waiting("work.slog", due_in=30)
        view = overview()
        note, slog = sorted(view.queue, key=lambda depth: depth.kind)
        assert (note.due, note.later, note.lane) == (2, 1, "short")
        assert 39 < (view.now - note.oldest).total_seconds() < 50
        assert (slog.due, slog.later, slog.oldest) == (0, 1, None)
        short, long = view.lanes
        assert (short.due, short.later, long.due, long.later) == (2, 1, 0, 1)
        assert (view.due, view.later) == (2, 2)

    def test_stuck_is_apart_from_running(self):
        moving = running(heard=5)
        silent = running(heard=50)
        asked = changed(
            running(heard=10),
            continuation_state=Continuation.CONFIRMING,
            continuation_deadline=ahead(seconds=9),
        )
        view = overview()
        assert [line.run for line in view.moving] == [moving]
        assert {line.run for line in view.stuck} == {silent, asked}

    def test_work_that_fails_again_and_again_is_told_of_once(self):
        first = failed()
        second = make_next_attempt(first)
        changed(
            second,
            state=State.FAILED,
            started_at=ago(seconds=9),
            finished_at=ago(seconds=8),
            leader_epoch=3,
        )
        third = make_next_attempt(second)
        gone = changed(failed("work.nap"), finished_at=ago(days=2))
        given_up = changed(ended("work.note", State.TIMED_OUT), error="too long")
        view = overview()
        assert {line.kind: line.count for line in view.failed} == {"work.fail": 2, "work.note": 1}
        assert view.failures == 3
        assert [run.pk for run in view.newest_failures] == [given_up.pk, second.pk]
        assert view.newest_failures[1].next_attempt == third
        assert gone not in view.newest_failures

    def test_the_next_slots_are_those_of_enabled_definitions_by_the_clock(self):
        for name, options in {
            "nightly": {"cron": "17 3 * * *"},
            "off": {"cron": "17 4 * * *", "enabled": False},
            "by event": {"event_type": "push"},
        }.items():
            create_definition(actor="tests", name=name, kind="work.note", **options)
        assert [definition.name for definition in overview().next_slots] == ["nightly"]

    def test_the_number_of_queries_does_not_grow(self):
        def queries() -> int:
            with CaptureQueriesContext(connection) as captured:
                reasons(overview())
            return len(captured)

        empty = queries()
        for number in range(5):
            node = make_node(f"host/worker-{number}")
            running(worker=node["short"])
            waiting("work.slog", since=30)
            failed()
        create_definition(actor="tests", name="nightly", kind="work.note", cron="17 3 * * *")
        # PostgreSQL is asked for its time as well.
        assert queries() == empty <= 8


class TestReasons:
    def test_all_is_well(self):
        make_node()
        lead()
        assert codes() == []
        running()
        assert codes() == []

    def test_no_worker(self):
        assert sentence("no_worker").startswith("No worker is running: start one with")
        waiting(since=60)
        waiting(since=60)
        assert "2 jobs wait." in sentence("no_worker")
        # The rest follows from it.
        assert codes() == ["no_worker"]

    def test_workers_that_all_fell_silent_are_no_workers(self):
        make_node(seconds=20)
        waiting(since=60)
        assert codes() == ["no_worker"]

    def test_some_processes_are_silent(self):
        make_node()
        make_worker(seconds=20)
        lead()
        assert sentence("silent").startswith(f"1 process of the node {NODE} has not been heard of")

    def test_no_leader(self):
        make_node()
        assert sentence("no_leader").startswith("There has been no leader yet")
        lead(seconds=-40)
        assert sentence("no_leader") == "No leader for 40 s: retries and lost deliveries wait."

    def test_starved_means_waiting_while_all_are_busy(self):
        node = make_node()
        lead()
        running("work.slog", worker=node["long"])
        waiting("work.slog", since=2)
        assert codes() == []
        waiting("work.slog", since=250)
        assert (
            sentence("starved")
            == "Long work: 1 worker is busy, the only one; the oldest job has waited 4 min."
        )
        other = make_node("host/worker-b2")
        running("work.slog", worker=other["long"])
        assert sentence("starved").startswith("Long work: all 2 workers are busy;")
        assert codes() == ["starved"]

    def test_free_workers_and_a_job_that_nobody_takes(self):
        make_node()
        lead()
        waiting(since=30)
        assert "workers are free" in sentence("undelivered")

    def test_draining(self):
        node = make_node(draining=True)
        lead()
        assert sentence("draining") == (
            f"Node {NODE} is draining: it has nothing in hand and takes nothing new."
        )
        running(worker=node["short"])
        assert "it finishes 1 job" in sentence("draining")
        waiting(since=60)
        assert codes() == ["no_worker_for_lane", "draining"]
        make_node("host/worker-b2")
        assert codes() == ["draining", "undelivered"]

    def test_a_command_with_a_heartbeat_takes_no_deliveries(self):
        make_worker(node="host/command")
        lead()
        waiting(since=60)
        assert codes() == ["no_worker_for_lane"]

    def test_stuck(self):
        make_node()
        lead()
        run = running(heard=50)
        (reason,) = reasons(overview())
        assert (reason.code, reason.level, reason.run_id) == ("stuck", Level.BAD, run.pk)
        assert reason.sentence == (
            f"Job {run.pk} (work.note) has not been heard of for 50 s: the leader will ask for it."
        )
        changed(
            run,
            continuation_state=Continuation.CONFIRMING,
            continuation_deadline=ahead(seconds=9),
        )
        assert "its worker is being asked, until " in sentence("stuck")
        changed(
            run,
            state=State.ASSIGNED,
            started_at=None,
            leader_epoch=None,
            continuation_state=Continuation.NONE,
            continuation_deadline=None,
        )
        assert "the leader gives it to another one" in sentence("stuck")

    def test_a_kind_that_nobody_knows(self):
        make_node()
        lead()
        changed(waiting(since=60), kind="newer.kind")
        assert codes() == ["unknown_kind"]
        assert "“newer.kind”" in sentence("unknown_kind")

    def test_work_that_waits_for_its_time(self):
        make_node()
        lead()
        waiting(due_in=30.5)
        (reason,) = reasons(overview())
        assert reason.level is Level.INFO
        assert reason.sentence.startswith("1 job waits for its time (a retry or parked work)")
        waiting(due_in=90)
        assert sentence("later").startswith("2 jobs wait for their time")

    def test_the_worst_comes_first(self):
        make_node()
        lead()
        waiting(due_in=30)
        running(heard=50)
        waiting(since=60)
        assert codes() == ["stuck", "undelivered", "later"]


class TestWhy:
    """The same, asked about one run."""

    def ask(self, run: JobRun) -> str:
        reason = why(run, overview())
        return reason.code if reason else ""

    def test_what_runs_or_has_ended_needs_no_reason(self):
        assert self.ask(running()) == ""
        assert self.ask(ended()) == ""

    def test_stuck(self):
        assert self.ask(running(heard=50)) == "stuck"

    def test_a_retry_waits_for_its_pause(self):
        lead()
        make_node()
        attempt = make_next_attempt(failed())
        reason = why(attempt, overview())
        assert reason is not None
        assert reason.sentence.startswith("It waits for its retry in ")
        assert self.ask(waiting(due_in=60)) == "later"

    def test_nobody_there(self):
        assert self.ask(waiting(since=60)) == "no_worker"

    def test_nobody_free_in_its_own_lane(self):
        node = make_node()
        lead()
        running("work.slog", worker=node["long"])
        assert self.ask(waiting("work.slog", since=60)) == "starved"
        assert self.ask(waiting("work.note", since=1)) == "due"

    def test_unknown_kind(self):
        make_node()
        lead()
        assert self.ask(changed(waiting(since=60), kind="newer.kind")) == "unknown_kind"
