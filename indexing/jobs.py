"""The background work of the index. The safety net is made a round by the keeper."""

from typing import Any

from glossary_site.jobs.choices import Lane
from glossary_site.jobs.registry import job
from glossary_site.jobs.rounds import every
from glossary_site.jobs.session import Session
from indexing.models import ProjectIndex
from indexing.services import filling, retention, sweeping
from indexing.services.drain import more_to_do, take_turn
from indexing.services.waking import DRAIN, FILL, wake
from indexing.vectors import pgvector_schema

SWEEP_SECONDS = 5
LONGEST_SECONDS = 3600


# A turn takes seconds; a single large document may take minutes.
@job(DRAIN, lane=Lane.SHORT, timeout=600)
def drain(session: Session, project_id: int) -> dict[str, Any]:
    tally = take_turn(project_id, check=session.check, job_run_id=session.run.pk)
    if more_to_do(project_id):
        wake(project_id)
    return {"completed": tally.completed, "failed": tally.failed}


@job(FILL, lane=Lane.LONG, timeout=6 * LONGEST_SECONDS, retries=5)
def fill_vectors(session: Session, project_id: int) -> dict[str, Any]:
    return filling.fill(project_id, check=session.check, progress=session.progress)


@job("indexing.fill_all", lane=Lane.SHORT, timeout=LONGEST_SECONDS, cron="*/10 * * * *")
def fill_all(session: Session) -> dict[str, Any]:
    """Projects whose embedder was changed, or could not be reached when it was its turn."""
    called = 0
    for project_id in ProjectIndex.objects.order_by("pk").values_list("pk", flat=True):
        session.check()
        if filling.needs_filling(project_id):
            called += wake(project_id, FILL)
    return {"called": called}


@job("indexing.settle_vectors", lane=Lane.LONG, timeout=LONGEST_SECONDS, cron="*/5 * * * *")
def settle_vectors(session: Session) -> dict[str, Any]:
    """Where the database has pgvector: enter what was written lately into its index."""
    return {"pgvector": pgvector_schema.ensure()}


@job("indexing.remove_old_requests", lane=Lane.LONG, timeout=LONGEST_SECONDS, cron="47 3 * * *")
def remove_old_requests(session: Session) -> dict[str, Any]:
    return {"removed": retention.remove_old_requests(check=session.check)}


@every(SWEEP_SECONDS)
def sweep() -> None:
    sweeping.put_right()
