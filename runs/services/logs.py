"""A run's log: numbered in order, read by pages, programs and terminals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from glossary_site.inserting import insert
from glossary_site.jobs.errors import Stop, Stopped
from glossary_site.jobs.payloads import storable
from glossary_site.observe.masking import mask
from projects.models.terms import TERM_LENGTH
from runs.choices import Level, Status
from runs.models import Run, RunLog

MESSAGE_LENGTH = 2000


@dataclass(frozen=True)
class Line:
    message: str
    level: Level = Level.INFO
    step: str = ""
    current: int | None = None
    total: int | None = None
    term: str = ""
    traceback: str = ""


def write(run: Run, lines: Sequence[Line]) -> None:
    """Whoever the run belongs to now may write: a line after the end is as good as any."""
    with transaction.atomic(savepoint=False):
        Run.objects.filter(pk=run.pk).update(log_count=F("log_count") + len(lines))
        _insert(run, lines)


def write_progress(run: Run, lines: Sequence[Line], **fields: Any) -> None:
    """Lines, and where the run is, in one go; refused when it has been stopped meanwhile."""
    with transaction.atomic(savepoint=False):
        going_on = Run.objects.filter(pk=run.pk, status=Status.RUNNING)
        fields |= {"log_count": F("log_count") + len(lines), "progress_at": timezone.now()}
        if not going_on.update(**fields):
            raise Stopped(Stop.CANCELED)
        _insert(run, lines)


def _insert(run: Run, lines: Sequence[Line]) -> None:
    if not lines:
        return
    # Our update keeps everybody else from the row until the transaction ends.
    last: int = Run.objects.values_list("log_count", flat=True).get(pk=run.pk)
    now = timezone.now()
    rows = [
        RunLog(
            run=run,
            number=number,
            level=line.level,
            message=storable(_masked(line))[:MESSAGE_LENGTH],
            step=line.step,
            progress_current=line.current,
            progress_total=line.total,
            current_term=storable(line.term)[:TERM_LENGTH],
            traceback=storable(mask(line.traceback)),
            created_at=now,
        )
        for number, line in enumerate(lines, start=last - len(lines) + 1)
    ]
    insert(rows)


def as_told(line: RunLog) -> dict[str, Any]:
    """A line as programs read it. Never the traceback: it names files of the server."""
    return {
        "number": line.number,
        "run_id": line.run_id,
        "time": line.created_at.isoformat(),
        "level": line.level,
        "message": line.message,
        "step": line.step,
        "progress_current": line.progress_current,
        "progress_total": line.progress_total,
        "current_term": line.current_term,
    }


def _masked(line: Line) -> str:
    """But for the name of a term, which stands before a colon: “password: 75%” is no secret."""
    name = f"{line.term}: "
    if line.term and line.message.startswith(name):
        return name + mask(line.message.removeprefix(name))
    return mask(line.message)
