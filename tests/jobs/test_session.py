import time
from datetime import timedelta

import pytest
from django.db import transaction

from glossary_site.jobs.choices import State
from glossary_site.jobs.errors import Stop, Stopped
from glossary_site.jobs.models import JobDefinition, JobLog, JobRun
from glossary_site.jobs.services.enqueue import enqueue
from glossary_site.jobs.services.runs import cancel_run
from glossary_site.jobs.session import claim
from glossary_site.live.models import Event
from tests.jobs.running import WORKER, begin, perform, state_of

pytestmark = pytest.mark.django_db


def test_a_run_goes_through_to_success(notes, leader):
    run = perform(enqueue("work.note", {"path": str(notes), "line": "a"}))
    assert run.state == State.SUCCEEDED
    assert run.result == {"line": "a"}
    assert run.assigned_worker == WORKER
    assert run.leader_epoch == leader.epoch
    assert run.lease_until is None
    assert run.started_at <= run.finished_at
    assert notes.read_text() == "a\n"


def test_the_second_delivery_does_nothing(notes):
    run = enqueue("work.note", {"path": str(notes), "line": "a"})
    perform(run)
    perform(run)
    assert notes.read_text() == "a\n"


def test_a_run_in_somebodys_hand_is_not_claimed_again():
    run = enqueue("work.note")
    begin(run)
    assert claim(run.pk, worker="test:short:2") is None


def test_an_exception_is_a_failure_with_its_story_in_the_log():
    run = perform(enqueue("work.fail"))
    assert run.state == State.FAILED
    assert run.error == "ValueError: no luck"
    assert "Traceback" in JobLog.objects.get(run=run).message
    following = JobRun.objects.get(retry_of=run)
    assert (following.attempt, following.state) == (2, State.PENDING)


def test_a_permanent_failure_is_not_tried_again():
    run = perform(enqueue("work.fail", {"permanent": True}))
    assert (run.state, run.error) == (State.FAILED, "The file is empty.")
    assert not JobRun.objects.filter(retry_of=run).exists()


def test_attempts_come_to_an_end():
    run = enqueue("work.fail", retries=1)
    first = perform(run)
    second = perform(JobRun.objects.get(retry_of=first))
    assert second.state == State.FAILED
    assert not JobRun.objects.filter(retry_of=second).exists()


def test_a_cancelled_run_is_never_begun():
    run = enqueue("work.note")
    cancel_run(run, actor="olive")
    assert claim(run.pk, worker=WORKER) is None
    assert state_of(run) == State.CANCELED


def test_writes_of_a_cancelled_job_are_undone():
    session = begin(enqueue("work.note"))
    cancel_run(session.run, actor="olive")
    with pytest.raises(Stopped) as stopped, session.atomic():
        JobDefinition.objects.create(name="effect", kind="work.note")
    assert stopped.value.why is Stop.CANCELED
    assert not JobDefinition.objects.exists()


def test_a_commit_that_fails_leaves_a_run_that_can_still_fail():
    session = begin(enqueue("work.note"))
    with transaction.atomic():
        session.hold.end(State.SUCCEEDED)
        transaction.set_rollback(True)
    session.fail(ZeroDivisionError("at commit"))
    run = JobRun.objects.get(pk=session.run.pk)
    assert (run.state, run.error) == (State.FAILED, "ZeroDivisionError: at commit")


def test_a_zombie_changes_nothing(leader):
    session = begin(enqueue("work.note"))
    # Somebody took it for dead, and the run has ended without it.
    JobRun.objects.filter(pk=session.run.pk).update(
        state=State.FAILED,
        version=9,
        leader_epoch=9,
        finished_at=session.run.created_at,
        lease_until=None,
    )
    with pytest.raises(Stopped), session.finishing({"late": True}):
        JobDefinition.objects.create(name="effect", kind="work.note")
    assert not JobDefinition.objects.exists()
    session.fail(ValueError("late"))
    run = JobRun.objects.get(pk=session.run.pk)
    assert (run.state, run.version, run.error) == (State.FAILED, 9, "")
    assert not JobLog.objects.exists()
    assert not JobRun.objects.filter(retry_of=run).exists()


def test_a_worker_of_another_reign_cannot_end_a_run(leader):
    session = begin(enqueue("work.note"))
    JobRun.objects.filter(pk=session.run.pk).update(leader_epoch=leader.epoch + 1)
    with pytest.raises(Stopped):
        session.perform()
    assert state_of(session.run) == State.RUNNING


def test_effects_and_success_are_one_transaction():
    session = begin(enqueue("work.note"))
    with session.finishing({"n": 1}):
        JobDefinition.objects.create(name="effect", kind="work.note")
        assert state_of(session.run) == State.RUNNING
    assert state_of(session.run) == State.SUCCEEDED
    assert JobDefinition.objects.exists()


def test_an_error_while_finishing_leaves_it_running():
    session = begin(enqueue("work.note"))
    with pytest.raises(ZeroDivisionError), session.finishing():
        raise ZeroDivisionError
    assert state_of(session.run) == State.RUNNING
    assert not session.ended


def test_progress_is_written_at_most_twice_a_second_and_at_the_end():
    session = begin(enqueue("work.note"))
    session.progress(1, 10, "one")
    session.progress(2, 10, "two")
    run = JobRun.objects.get(pk=session.run.pk)
    assert (run.progress_current, run.progress_message) == (1, "one")
    session.progress(10, 10, "all")
    run.refresh_from_db()
    assert (run.progress_current, run.progress_total, run.progress_message) == (10, 10, "all")


@pytest.mark.django_db(transaction=True)
def test_a_transaction_is_news_only_when_the_job_has_got_on(brokers):
    session = begin(enqueue("work.note", scope="project:7"))
    events = Event.objects.filter(type="job.changed")
    before = events.count()
    with session.atomic():
        pass
    assert events.count() == before
    session.progress(3, 3)
    with session.atomic():
        pass
    assert events.latest("pk").payload["current"] == 3
    assert events.count() == before + 1


def test_a_waiting_job_is_woken_by_its_cancellation():
    session = begin(enqueue("work.nap", {"seconds": 30}))
    began = time.monotonic()
    session.stop(Stop.CANCELED)
    with pytest.raises(Stopped):
        session.perform()
    assert time.monotonic() - began < 5


def test_a_worker_that_goes_down_hands_its_run_on_at_no_cost():
    session = begin(enqueue("work.nap", {"seconds": 30}, retries=0))
    session.stop(Stop.SHUTDOWN)
    session.fail(Stopped(Stop.SHUTDOWN))
    run = JobRun.objects.get(pk=session.run.pk)
    following = JobRun.objects.get(retry_of=run)
    assert run.state == State.FAILED
    assert following.attempt == 2
    assert following.attempt <= following.max_attempts
    assert abs(following.due_at - run.finished_at) < timedelta(seconds=1)


def test_a_write_survives_a_version_that_somebody_else_raised():
    session = begin(enqueue("work.note"))
    JobRun.objects.filter(pk=session.run.pk).update(version=50)
    with session.atomic():
        pass
    with transaction.atomic():
        session.perform()
    assert state_of(session.run) == State.SUCCEEDED


def test_a_kind_that_this_worker_does_not_know_stays_waiting():
    run = enqueue("work.note")
    JobRun.objects.filter(pk=run.pk).update(kind="work.tomorrow")
    assert claim(run.pk, worker=WORKER) is None
    assert state_of(run) == State.PENDING
