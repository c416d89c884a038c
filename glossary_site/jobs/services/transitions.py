"""Every move of a run's state. Each is a compare-and-set, and its caller looks at the answer.

False means "not mine any more": the caller stops and writes nothing.
"""

import random
from contextlib import nullcontext
from datetime import timedelta
from enum import Enum, auto
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from glossary_site.jobs import clock, doorbell, news, registry, rows
from glossary_site.jobs.choices import (
    TRANSITIONS,
    UNSUCCESSFUL,
    WAITING,
    Continuation,
    State,
)
from glossary_site.jobs.clock import DatabaseTime
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.payloads import storable

ERROR_LENGTH = 4000
# A worker that dies between taking a run and beginning it takes nothing from the run's attempts,
# but a run that this happens to again and again is the cause of it.
MOST_ASSIGNMENTS = 20


class Again(Enum):
    """Whether another attempt follows an unsuccessful end."""

    IF_ATTEMPTS_REMAIN = auto()
    NEVER = auto()
    # At once, and it costs no attempt: the job had no part in its end.
    BLAMELESS = auto()


class ForbiddenMove(Exception):
    """A mistake in the program: the table has no such move."""


def move(
    run: JobRun,
    to: State,
    *conditions: Q,
    held_by: dict[str, Any] | None = None,
    **changes: Any,
) -> bool:
    """Move a run as it was read, if it is still so in the database; with `held_by`, only if it is
    in that hand."""
    if to not in TRANSITIONS[State(run.state)]:
        raise ForbiddenMove(f"{run} may not go from {run.state} to {to}")
    # Read once: another thread of the worker may raise it meanwhile.
    version = run.version
    changes |= {"state": to, "version": version + 1}
    expected = {"id": run.pk, "version": version, "state": run.state, **(held_by or {})}
    moved = rows.swap(expected, changes, *conditions)
    if moved:
        for field, value in changes.items():
            # What the database computed (its own time) is not known here, and nobody here asks.
            if not isinstance(value, DatabaseTime):
                setattr(run, field, value)
    return moved


def assign(run_id: int, *, worker: str) -> JobRun | None:
    """PENDING or ORPHANED → ASSIGNED. From ORPHANED it is another attempt. The one move that names
    no version: a single statement reads the row and moves it, so there is no old copy of it.

    A kind that this process does not know is left to a worker of the version that does. Nobody asks
    whether it is due: what was sent was due by the clock of whoever sent it."""
    return rows.take(
        run_id,
        worker=worker,
        kinds=registry.names(),
        now=clock.now(),
        lease=clock.after(settings.JOB_LEASE_SECONDS),
    )


def start(run: JobRun, *, worker: str) -> bool:
    """ASSIGNED → RUNNING, by the one it was assigned to, in the reign in which it was."""
    moment = clock.now()
    return move(
        run,
        State.RUNNING,
        held_by={"assigned_worker": worker},
        leader_epoch=run.epoch or 0,
        started_at=moment,
        progress_at=moment,
        lease_until=clock.after(settings.JOB_LEASE_SECONDS),
    )


def orphan(run: JobRun, *conditions: Q) -> bool:
    """ASSIGNED → ORPHANED: its worker is gone and never began."""
    # Each assignment and each end of one has raised the version, and nothing else has before the
    # run began.
    assignments = run.version // 2
    if assignments >= MOST_ASSIGNMENTS:
        error = f"Given up: {assignments} workers died before they could begin it."
        return end(run, State.CANCELED, *conditions, error=error)
    return move(
        run, State.ORPHANED, *conditions, assigned_worker="", lease_until=None, rung_at=None
    )


def end(
    run: JobRun,
    to: State,
    *conditions: Q,
    error: str = "",
    result: dict[str, Any] | None = None,
    again: Again = Again.IF_ATTEMPTS_REMAIN,
    **changes: Any,
) -> bool:
    """Any active state → its end. An unsuccessful end makes the next attempt in the same
    transaction while attempts remain, so that no crash falls between the two."""
    # Most ends are one statement and nothing else, which needs no transaction around it.
    alone = to not in UNSUCCESSFUL and not run.scope
    with nullcontext() if alone else transaction.atomic():
        ended = move(
            run,
            to,
            *conditions,
            finished_at=clock.now(),
            lease_until=None,
            continuation_state=Continuation.NONE,
            continuation_deadline=None,
            error=storable(error)[:ERROR_LENGTH],
            result=result,
            **changes,
        )
        if ended:
            if to in UNSUCCESSFUL:
                if again is Again.BLAMELESS:
                    make_next_attempt(run, blameless=True)
                elif again is Again.IF_ATTEMPTS_REMAIN and run.attempts_remain:
                    make_next_attempt(run)
            news.changed(run)
    return ended


def make_next_attempt(run: JobRun, *, blameless: bool = False) -> JobRun:
    """The row for another try. The sweep sends it when its time has come."""
    pause = 0.0 if blameless else backoff(run.attempt)
    return JobRun.objects.create(
        kind=run.kind,
        lane=run.lane,
        payload=run.payload,
        scope=run.scope,
        attempt=run.attempt + 1,
        max_attempts=run.max_attempts + blameless,
        retry_of=run,
        definition_id=run.definition_id,
        due_at=clock.read() + timedelta(seconds=pause),
        timeout_seconds=run.timeout_seconds,
        trace_id=run.trace_id,
    )


def backoff(attempt: int) -> float:
    """Seconds before the attempt after this one: doubling, with a little chance in it so that what
    failed together does not come back together."""
    pause = min(settings.JOB_BACKOFF_SECONDS * 2 ** (attempt - 1), settings.JOB_BACKOFF_MAX_SECONDS)
    return float(pause * random.uniform(0.8, 1.2))  # noqa: S311 (no secret)


def hurry(run: JobRun) -> None:
    """Have a waiting run delivered now. A delivery too many is harmless."""
    moment = clock.read()
    with transaction.atomic():
        waiting = JobRun.objects.filter(pk=run.pk, version=run.version, state__in=WAITING)
        if waiting.update(due_at=moment, rung_at=moment, version=run.version + 1):
            run.due_at, run.rung_at, run.version = moment, moment, run.version + 1
            doorbell.ring(run.pk, lane=run.lane, timeout=run.timeout_seconds)
