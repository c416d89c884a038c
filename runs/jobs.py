"""The background work of runs. The safety net is made a round by the keeper."""

from typing import Any

import runs.engine.tasks  # noqa: F401 (its answers are registered by the import)
from glossary_site.jobs.choices import Lane
from glossary_site.jobs.registry import job
from glossary_site.jobs.rounds import every
from glossary_site.jobs.session import Session
from runs.services import settling
from runs.services.asking import Parked
from runs.services.ending import ADVANCE
from runs.services.executing import advance as go_on
from runs.services.temporary import remove_left_over

SWEEP_SECONDS = 5
LONGEST_SECONDS = 24 * 3600


@job(ADVANCE, lane=Lane.LONG, timeout=LONGEST_SECONDS, retries=3)
def advance(session: Session, run_id: int) -> dict[str, Any]:
    try:
        go_on(run_id, session)
    except Parked:
        return {"run_id": run_id, "parked": True}
    return {"run_id": run_id}


@job("runs.tidy", lane=Lane.LONG, timeout=3600, cron="27 4 * * *")
def tidy(session: Session) -> dict[str, Any]:
    return {"projects": remove_left_over(check=session.check)}


@every(SWEEP_SECONDS)
def settle() -> None:
    settling.settle()
