"""Doing a run within the test's own transaction: no pulse, whose thread would not see its rows."""

from glossary_site.jobs.session import claim
from projects.models import Project
from runs.choices import Scope
from runs.models import Run
from runs.services.ending import jobs_of
from tests.jobs.running import send
from tests.runs.working import WORKER, start_run

MOST_JOBS = 20


def work_on(run: Run) -> Run:
    for _each in range(MOST_JOBS):
        job = jobs_of(run).active().order_by("pk").first()
        if job is None:
            return Run.objects.get(pk=run.pk)
        send(job)
        session = claim(job.pk, worker=WORKER)
        assert session is not None
        session.perform()
    raise AssertionError(f"run {run.pk} does not come to an end")


def run_to_end(project: Project, scope: str = Scope.FULL, **options) -> Run:
    return work_on(start_run(project, scope, **options))
