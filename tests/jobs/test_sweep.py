import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from glossary_site.jobs import doorbell
from glossary_site.jobs import sweep as sweep_module
from glossary_site.jobs.choices import Continuation, Lane, State
from glossary_site.jobs.keeper import do_not_wait_for_locks
from glossary_site.jobs.leader import Leadership
from glossary_site.jobs.models import JobRun, LeaderLease, Worker
from glossary_site.jobs.services import transitions
from glossary_site.jobs.services.enqueue import enqueue
from glossary_site.jobs.sweep import (
    GRACE_SECONDS,
    LOST_AFTER_SECONDS,
    MARGIN_SECONDS,
    RESEND_AFTER_SECONDS,
    sweep,
)
from tests.jobs.running import WORKER, begin, let_lease_lapse, perform, state_of

pytestmark = pytest.mark.django_db(transaction=True)


def ago(seconds: float):
    return timezone.now() - timedelta(seconds=seconds)


def a_worker(name: str = WORKER, **fields) -> Worker:
    return Worker.objects.create(
        name=name, node="test", role="short", host="elsewhere", pid=1, **fields
    )


@pytest.fixture(autouse=True)
def _empty_queues(brokers):
    return


def test_with_nothing_to_do_it_does_nothing(leader):
    assert sweep(leader) == {}


def test_an_assigned_run_whose_lease_lapsed_is_free_for_another_worker(leader):
    run = enqueue("work.note")
    transitions.assign(run.pk, worker=WORKER)
    assert "held_runs" not in sweep(leader)
    let_lease_lapse(run)
    sweep(leader)
    run.refresh_from_db()
    assert run.state == State.ORPHANED
    run = perform(run, worker="test:short:2")
    assert (run.state, run.attempt, run.assigned_worker) == (State.SUCCEEDED, 2, "test:short:2")


def test_an_assigned_run_of_a_dead_worker_does_not_wait_for_its_lease(leader):
    run = enqueue("work.note")
    transitions.assign(run.pk, worker=WORKER)
    a_worker(stopped_at=timezone.now())
    sweep(leader)
    assert state_of(run) == State.ORPHANED


def test_a_running_job_of_a_dead_worker_fails_and_is_tried_again(leader):
    session = begin(enqueue("work.note"))
    a_worker(stopped_at=timezone.now())
    sweep(leader)
    run = JobRun.objects.get(pk=session.run.pk)
    assert (run.state, run.leader_epoch) == (State.FAILED, leader.epoch)
    assert "died" in run.error
    assert JobRun.objects.get(retry_of=run).attempt == 2


def test_a_silent_worker_is_asked_to_confirm_before_it_is_given_up(leader):
    a_worker()
    session = begin(enqueue("work.note"))
    let_lease_lapse(session.run)
    sweep(leader)
    run = JobRun.objects.get(pk=session.run.pk)
    assert (run.state, run.continuation_state) == (State.RUNNING, Continuation.CONFIRMING)
    sweep(leader)
    assert state_of(run) == State.RUNNING
    JobRun.objects.filter(pk=run.pk).update(continuation_deadline=ago(1))
    sweep(leader)
    assert state_of(run) == State.FAILED


def test_a_worker_that_confirms_in_time_goes_on_and_ends_its_run(leader):
    a_worker()
    session = begin(enqueue("work.note"))
    let_lease_lapse(session.run)
    sweep(leader)
    assert session.hold.renew()
    run = JobRun.objects.get(pk=session.run.pk)
    assert (run.continuation_state, run.continuation_deadline) == (Continuation.NONE, None)
    sweep(leader)
    session.perform()
    assert state_of(run) == State.SUCCEEDED


def test_a_job_that_ends_while_it_is_being_asked_for_has_ended(leader):
    a_worker()
    session = begin(enqueue("work.note"))
    let_lease_lapse(session.run)
    sweep(leader)
    session.perform()
    assert state_of(session.run) == State.SUCCEEDED


def test_a_job_over_its_timeout_is_timed_out_and_tried_again(leader):
    session = begin(enqueue("work.note", timeout=10))
    # Its worker has its own time to end it first.
    JobRun.objects.filter(pk=session.run.pk).update(started_at=ago(11))
    sweep(leader)
    assert state_of(session.run) == State.RUNNING
    JobRun.objects.filter(pk=session.run.pk).update(
        started_at=ago(11 + GRACE_SECONDS + MARGIN_SECONDS)
    )
    sweep(leader)
    run = JobRun.objects.get(pk=session.run.pk)
    assert run.state == State.TIMED_OUT
    assert "10 seconds" in run.error
    assert JobRun.objects.filter(retry_of=run).exists()


def test_a_retry_is_sent_when_its_time_has_come(leader):
    run = perform(enqueue("work.fail"))
    following = JobRun.objects.get(retry_of=run)
    _drop_deliveries()
    sweep(leader)
    assert doorbell.undelivered(Lane.SHORT) == 0
    JobRun.objects.filter(pk=following.pk).update(due_at=ago(1))
    sweep(leader)
    assert doorbell.undelivered(Lane.SHORT) == 1
    sweep(leader)
    assert doorbell.undelivered(Lane.SHORT) == 1


def test_a_delivery_that_got_lost_is_sent_again(leader):
    run = enqueue("work.note")
    _drop_deliveries()
    sweep(leader)
    assert doorbell.undelivered(Lane.SHORT) == 0
    JobRun.objects.filter(pk=run.pk).update(rung_at=ago(LOST_AFTER_SECONDS + 1))
    sweep(leader)
    assert doorbell.undelivered(Lane.SHORT) == 1


def test_what_waits_its_turn_at_the_broker_is_not_sent_again(leader):
    runs = [enqueue("work.note") for _ in range(3)]
    JobRun.objects.update(rung_at=ago(LOST_AFTER_SECONDS + 1))
    sweep(leader)
    assert doorbell.undelivered(Lane.SHORT) == len(runs)


def test_a_full_broker_does_not_hide_a_lost_delivery_for_ever(leader):
    for _ in range(3):
        enqueue("work.note")
    _drop_deliveries()
    enqueue("work.note")
    JobRun.objects.update(rung_at=ago(RESEND_AFTER_SECONDS - 10))
    sweep(leader)
    assert doorbell.undelivered(Lane.SHORT) == 1
    JobRun.objects.update(rung_at=ago(RESEND_AFTER_SECONDS + 1))
    sweep(leader)
    assert doorbell.undelivered(Lane.SHORT) == 5
    JobRun.objects.update(rung_at=ago(RESEND_AFTER_SECONDS + 1))
    sweep(leader)
    assert doorbell.undelivered(Lane.SHORT) == 5


def test_a_worker_that_fell_silent_counts_as_stopped(leader, settings):
    silent = a_worker(heartbeat_at=ago(10 * settings.JOB_LEASE_SECONDS))
    lively = a_worker("test:short:2")
    sweep(leader)
    silent.refresh_from_db()
    lively.refresh_from_db()
    assert silent.stopped_at is not None
    assert lively.stopped_at is None


def test_a_worker_that_was_struck_out_and_came_back_keeps_what_it_took_since(leader):
    a_worker(stopped_at=timezone.now())
    session = begin(enqueue("work.note"))
    sweep(leader)
    assert state_of(session.run) == State.RUNNING


def test_a_past_leader_sweeps_nothing(leader):
    run = enqueue("work.note")
    transitions.assign(run.pk, worker=WORKER)
    session = begin(enqueue("work.note"))
    a_worker(stopped_at=timezone.now())
    waiting = enqueue("work.note", run_after=ago(-5))
    JobRun.objects.filter(pk=waiting.pk).update(due_at=ago(1))
    _drop_deliveries()
    LeaderLease.objects.update(lease_until=ago(1))
    assert Leadership("test:keeper:2").hold()
    sweep(leader)
    assert state_of(run) == State.ASSIGNED
    assert state_of(session.run) == State.RUNNING
    assert doorbell.undelivered(Lane.SHORT) == 0


class TestSomebodyHoldsRowsLocked:
    """As a worker does that was paused in the middle of a transaction. SQLite has no such locks."""

    @pytest.fixture(autouse=True)
    def _keeper_on_postgresql(self, settings):
        if connection.vendor != "postgresql":
            pytest.skip("no locks on rows")
        settings.JOB_LEASE_SECONDS = 1.0
        do_not_wait_for_locks()
        yield
        connection.close()

    def test_the_others_are_put_right_and_what_waits_is_sent(self, leader):
        runs = [begin(enqueue("work.note")).run for _ in range(9)]
        locked, free = runs[:8], runs[8]
        a_worker(stopped_at=timezone.now())
        retry = enqueue("work.note", run_after=ago(-5))
        JobRun.objects.filter(pk=retry.pk).update(due_at=ago(1))
        with locking(JobRun, [run.pk for run in locked]):
            began = time.monotonic()
            moved = sweep(leader)
            assert time.monotonic() - began < 1
            assert moved == {"held_runs": 1, "unsent": 1}
            assert {state_of(run) for run in locked} == {State.RUNNING}
        assert state_of(free) == State.FAILED
        assert leader.hold()
        assert leader.epoch == 1
        assert sweep(leader)["held_runs"] == len(locked)
        assert {state_of(run) for run in locked} == {State.FAILED}

    def test_a_delivery_is_not_sent_for_a_locked_row_and_is_for_the_others(self, leader):
        runs = [enqueue("work.note", run_after=ago(-5)) for _ in range(3)]
        JobRun.objects.update(due_at=ago(1))
        with locking(JobRun, [runs[0].pk]):
            assert sweep(leader) == {"unsent": 2}
            assert doorbell.undelivered(Lane.SHORT) == 2
        assert sweep(leader) == {"unsent": 1}
        assert doorbell.undelivered(Lane.SHORT) == 3

    def test_a_silent_worker_does_not_hide_another(self, leader, settings):
        workers = [a_worker(f"test:short:{n}", heartbeat_at=ago(600)) for n in range(2)]
        with locking(Worker, [workers[0].pk]):
            assert sweep(leader) == {"silent_workers": 1}
        assert sweep(leader) == {"silent_workers": 1}


@contextmanager
def locking(model, keys: list[int]) -> Iterator[None]:
    other = connection.copy()
    other.set_autocommit(False)
    try:
        with other.cursor() as cursor:
            table = model._meta.db_table
            cursor.execute(f"SELECT 1 FROM {table} WHERE id = ANY(%s) FOR UPDATE", [keys])
        yield
    finally:
        other.rollback()
        other.close()


def test_a_slow_step_does_not_cost_the_others_the_lead(leader, settings, monkeypatch):
    settings.JOB_LEASE_SECONDS = 0.3
    a_worker()
    written = []

    def slow(leadership, now):
        time.sleep(0.4)
        return 0

    def later(leadership, now):
        written.append(Worker.objects.filter(leadership.condition()).update(pid=2))
        return 0

    monkeypatch.setattr(sweep_module, "STEPS", (slow, later, slow, later))
    assert leader.hold()
    sweep(leader)
    assert written == [1, 1]


def test_one_who_was_replaced_in_the_middle_takes_no_further_step(leader, settings, monkeypatch):
    settings.JOB_LEASE_SECONDS = 0.3
    taken = []

    def overslept(leadership, now):
        time.sleep(0.4)
        assert Leadership("test:keeper:2").hold()
        return 0

    def later(leadership, now):
        taken.append(1)
        return 0

    monkeypatch.setattr(sweep_module, "STEPS", (overslept, later))
    assert leader.hold()
    sweep(leader)
    assert taken == []
    assert leader.epoch == 0


def _drop_deliveries() -> None:
    for lane in Lane:
        doorbell.broker_of(lane).purge_queue()
