"""The thread beside a job, with a real database and real threads."""

import threading
import time
from types import SimpleNamespace

import pytest
from django.db import DatabaseError, connection

from glossary_site.jobs import pulse
from glossary_site.jobs.choices import State
from glossary_site.jobs.errors import Stop, Stopped
from glossary_site.jobs.models import JobRun, Worker
from glossary_site.jobs.pulse import Pulse
from glossary_site.jobs.services.enqueue import enqueue
from glossary_site.jobs.services.runs import cancel_run
from glossary_site.jobs.session import Session, job_session
from glossary_site.jobs.sweep import sweep
from tests.jobs.running import WORKER, perform, state_of
from tests.site.running import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def perform_in_a_thread(run: JobRun) -> threading.Thread:
    def work() -> None:
        try:
            perform(run)
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_cancelled_job_is_told_while_it_runs():
    run = enqueue("work.nap", {"seconds": 60})
    thread = perform_in_a_thread(run)
    wait_for("it runs", lambda: state_of(run) == State.RUNNING)
    cancel_run(run, actor="olive")
    began = time.monotonic()
    thread.join(20)
    assert not thread.is_alive()
    assert time.monotonic() - began < 10
    assert state_of(run) == State.CANCELED


def test_the_lease_of_a_running_job_is_renewed(settings, leader):
    settings.JOB_LEASE_SECONDS = 1.5
    run = enqueue("work.nap", {"seconds": 4})
    thread = perform_in_a_thread(run)
    wait_for("it runs", lambda: state_of(run) == State.RUNNING)
    while thread.is_alive():
        leader.hold()
        sweep(leader)
        thread.join(0.3)
    run.refresh_from_db()
    assert (run.state, run.attempt) == (State.SUCCEEDED, 1)


def test_a_job_over_its_time_is_told_to_stop():
    run = enqueue("work.nap", {"seconds": 60}, timeout=1, retries=0)
    run = perform(run)
    assert run.state == State.TIMED_OUT
    assert "timeout" in run.error


def test_a_command_that_runs_a_long_job_is_a_worker_for_as_long():
    seen = []
    run = enqueue("work.nap", {"seconds": 1.5})
    with job_session(run.pk, worker=pulse.worker_name()) as session:
        wait_for("its heartbeat", lambda: seen.extend(Worker.objects.present()) or seen)
        session.perform()
    assert seen[0].name == pulse.worker_name()
    assert not Worker.objects.present().exists()


class Unreachable:
    """A hold on a run in a database that does not answer."""

    def renew(self) -> bool:
        raise DatabaseError("no answer")

    reload = renew


def test_who_cannot_reach_the_database_gives_up_before_the_leader_does(settings):
    settings.JOB_LEASE_SECONDS = 1.0
    settings.JOB_CONFIRM_SECONDS = 2.0
    run = JobRun(pk=1, kind="work.nap", timeout_seconds=600, assigned_worker=WORKER)
    session = Session(run, SimpleNamespace(), began=time.monotonic())
    session.hold = Unreachable()
    beat = Pulse(node="test", role="short", may_exit=False)
    began = time.monotonic()
    with beat.kept(session):
        beat.start()
        with pytest.raises(Stopped) as stopped:
            session.wait(30)
        waited = time.monotonic() - began
        beat.stop()
    assert stopped.value.why is Stop.LOST
    # Sure of it for a lease, unsure for a while, and gone before the leader's deadline.
    assert 1.0 < waited < 3.0
