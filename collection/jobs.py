"""The background work of collections. The safety net is made a round by the keeper."""

from contextlib import suppress
from typing import Any

from collection.services import retention, settling
from collection.services.collecting import Parked
from collection.services.collecting import collect as go_on
from collection.services.ending import COLLECT
from collection.services.starting import start
from glossary_site.errors import Refusal
from glossary_site.jobs.choices import Lane
from glossary_site.jobs.errors import PermanentFailure
from glossary_site.jobs.registry import job
from glossary_site.jobs.rounds import every
from glossary_site.jobs.session import Session
from projects.access import OPERATOR
from projects.models import Project

SWEEP_SECONDS = 5
LONGEST_SECONDS = 24 * 3600


@job(COLLECT, lane=Lane.LONG, timeout=LONGEST_SECONDS, retries=3)
def collect(session: Session, run_id: str) -> dict[str, Any]:
    # Its job has ended in that case, and the next one is waiting for its time.
    with suppress(Parked):
        go_on(run_id, session)
    return {"run_id": run_id}


@job("collection.collect_all", lane=Lane.SHORT, timeout=300, schedulable=True)
def collect_all(session: Session, project_id: int | None = None) -> dict[str, Any]:
    """For schedules: every repository of the site, or of one project."""
    project = None
    if project_id is not None:
        project = Project.objects.filter(pk=project_id).first()
        if project is None:
            raise PermanentFailure(f"There is no project {project_id}.")
    try:
        run = start(actor=OPERATOR, project=project, triggered_by="schedule")
    except Refusal as refusal:
        # One is running, or there is nothing to collect: the next hour will do.
        return {"not_started": refusal.code}
    return {"run_id": str(run.pk)}


@job("collection.tidy", lane=Lane.LONG, timeout=3600, cron="17 4 * * *")
def tidy(session: Session) -> dict[str, Any]:
    return {
        "runs": retention.remove_old_runs(check=session.check),
        "copies": retention.remove_stray_copies(check=session.check),
    }


@every(SWEEP_SECONDS)
def settle() -> None:
    settling.settle()
