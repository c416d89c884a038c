"""The work of this app: processes, and keeping its house."""

from typing import Any
from uuid import UUID

from django.conf import settings

from glossary_site.jobs.choices import Lane
from glossary_site.jobs.errors import PermanentFailure
from glossary_site.jobs.registry import job
from glossary_site.jobs.session import Session
from glossary_site.llm.choices import ProcessStatus
from glossary_site.llm.services import embeddings, ledger, processes, queue

HOUR = 3600


# A turn is short, but what it has sent off may take as long as the provider lets an answer take.
@job(processes.KIND, lane=Lane.LONG, timeout=4 * HOUR, retries=5)
def work_on_process(session: Session, process_id: str) -> dict[str, Any]:
    """One turn at a process. What is left gets a run of its own: no worker waits for a provider."""
    key = UUID(process_id)
    turn = queue.execute(key, session, seconds=settings.LLM_TURN_SECONDS)
    process = processes.find(key)
    if not turn.ended:
        with session.finishing(process.facts()):
            processes.park(key, session, seconds=turn.resume_after)
    elif process.status == ProcessStatus.FAILED:
        raise PermanentFailure(process.error)
    return process.facts()


@job("llm.rescue_processes", lane=Lane.SHORT, timeout=600, cron="*/5 * * * *")
def rescue_processes(session: Session) -> dict[str, Any]:
    """Processes whose run has ended without them, and what is kept back for those; the same for
    texts that were sent for their vectors."""
    return {"rescued": processes.rescue(), "embeddings": embeddings.tidy(check=session.check)}


@job("llm.prune_ledger", lane=Lane.LONG, timeout=HOUR, cron="47 3 * * *")
def prune_ledger(session: Session) -> dict[str, Any]:
    return ledger.prune(check=session.check)
