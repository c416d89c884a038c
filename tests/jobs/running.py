"""Doing in a test what the workers do."""

from datetime import timedelta

from django.utils import timezone

from glossary_site.jobs.choices import State
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.session import Session, claim, job_session

WORKER = "test:short:1"


def perform(run: JobRun, *, worker: str = WORKER) -> JobRun:
    """Run it here and now, as a delivery would."""
    send(run)
    with job_session(run.pk, worker=worker) as session:
        if session is not None:
            session.perform()
    return JobRun.objects.get(pk=run.pk)


def send(run: JobRun) -> None:
    """What the sweep does for a run whose time has come."""
    JobRun.objects.filter(pk=run.pk).update(rung_at=timezone.now())


def begin(run: JobRun, *, worker: str = WORKER) -> Session:
    session = claim(run.pk, worker=worker)
    assert session is not None
    return session


def let_lease_lapse(run: JobRun) -> None:
    JobRun.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def state_of(run: JobRun) -> State:
    return State(JobRun.objects.values_list("state", flat=True).get(pk=run.pk))
