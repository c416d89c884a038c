"""Doing in a test what a worker does for a run."""

from glossary_site.jobs.models import JobRun
from projects.access import OPERATOR
from projects.models import Project
from runs.choices import Scope
from runs.models import Run
from runs.services.ending import jobs_of
from runs.services.options import RunOptions
from runs.services.starting import start
from tests.factories import make_document
from tests.jobs.running import perform

WORKER = "test:long:1"

TEXTS = {
    "harbour/pilots.md": (
        "# Pilots\n\nA pilot boat is a small vessel that brings a pilot to an arriving ship. "
        "The pilot boat waits at the pilot station.\n\n"
        "## Pilot station\n\nA pilot station is a place where pilots wait for ships. "
        "The harbour master assigns each berth.\n"
    ),
    "harbour/berths.md": (
        "# Berths\n\nA berth is a place at the quay where a ship is moored. The harbour master is "
        "the officer who assigns every berth. A mooring line is a rope that holds a ship at its "
        "berth.\n\nThe mooring line is checked by the harbour master twice a day.\n"
    ),
}


def make_harbour(project: Project) -> None:
    for path, content in TEXTS.items():
        make_document(project, path, content)


def start_run(project: Project, scope: str = Scope.FULL, **options) -> Run:
    return start(
        project=project,
        scope=scope,
        actor=OPERATOR,
        triggered_by="tests",
        options=RunOptions(**options),
    )


def work_on(run: Run) -> Run:
    """Do the run's waiting jobs, one after the other, until none is left."""
    while (job := jobs_of(run).active().order_by("pk").first()) is not None:
        perform_job(job)
    return Run.objects.get(pk=run.pk)


def perform_job(job: JobRun) -> JobRun:
    return perform(job, worker=WORKER)


def run_to_end(project: Project, scope: str = Scope.FULL, **options) -> Run:
    return work_on(start_run(project, scope, **options))


def asked_for(body: dict) -> str:
    """The lines of a request that name its terms."""
    text = body["messages"][-1]["content"]
    return "\n".join(line for line in text.splitlines() if line.startswith("Term "))
