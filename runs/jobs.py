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

SWEEP_SECONDS = 5
LONGEST_SECONDS = 24 * 3600


@job(ADVANCE, lane=Lane.LONG, timeout=LONGEST_SECONDS, retries=3)
def advance(session: Session, run_id: int) -> dict[str, Any]:
    try:
        go_on(run_id, session)
    except Parked:
        return {"run_id": run_id, "parked": True}
    return {"run_id": run_id}


@every(SWEEP_SECONDS)
def settle() -> None:
    settling.settle()
