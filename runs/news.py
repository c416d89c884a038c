"""What the live feed is told about runs. Nothing here is the truth: the rows are."""

from typing import Any

from django.db import transaction

from glossary_site.live.services import publish
from runs.models import Run

STARTED = "run.started"
COMPLETED = "run.completed"
CANCELLED = "run.cancelled"
FAILED = "run.failed"
# No news for the activity: hints to look at the run again.
PROGRESS = "run.progress"


def happened(run: Run, type: str, **payload: Any) -> None:
    """For people, so it is in the transaction that makes it true. Call it last: the feed is locked
    by it."""
    publish(run.project.stream, type, {"run_id": run.pk, "scope": str(run.scope)} | payload)


def progress(run: Run, **payload: Any) -> None:
    """Told when it is committed: a hint that got lost in a crash costs nothing."""
    stream, told = run.project.stream, {"run_id": run.pk} | payload
    transaction.on_commit(lambda: publish(stream, PROGRESS, told), robust=True)
