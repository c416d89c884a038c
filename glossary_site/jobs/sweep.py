"""What the leader puts right, about once a second.

Each step reads a few rows and moves them by compare-and-set, under the condition that we still
lead. A row or a step that fails does not keep the others from their turn, and neither does a row
that somebody holds locked (a worker that was paused in the middle of a transaction): on PostgreSQL
it is left for a later round.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.db.models import QuerySet

from glossary_site.jobs import clock, doorbell, process
from glossary_site.jobs.choices import WAITING, Continuation, State
from glossary_site.jobs.leader import Leadership
from glossary_site.jobs.models import JobRun, Worker
from glossary_site.jobs.pulse import GRACE_SECONDS, deadline_seconds
from glossary_site.jobs.services import definitions, events, transitions

logger = logging.getLogger(__name__)

# How many rows one step moves at most: the lease must be renewed in between.
BATCH = 500
# A delivery that nobody acted on for so long, while none waits at the broker, was lost.
LOST_AFTER_SECONDS = 5
# However full the broker seems, it is sent again after this.
RESEND_AFTER_SECONDS = 600
# A worker that was not heard of for so many leases is taken for dead.
SILENT_LEASES = 3
# Beyond what the worker of a run needs to end it by itself.
MARGIN_SECONDS = 5

Step = Callable[[Leadership, datetime], int]
# Moves one row, if it still can.
Remedy = Callable[[], bool]


def sweep(leadership: Leadership, *, runs_only: bool = False) -> dict[str, int]:
    """All steps once, or those that cannot wait; how many rows each of them moved."""
    now = clock.read()
    moved: dict[str, int] = {}
    # Mostly there is none that anything could have happened to.
    any_runs = JobRun.objects.active().exists()
    for step in STEPS:
        if not any_runs if step in OF_RUNS else runs_only:
            continue
        try:
            if not leadership.keep():
                break
            moved[step.__name__] = step(leadership, now)
        except Exception as error:
            _reraise_if_unreachable(error)
            logger.exception("The sweep's step “%s” failed", step.__name__)
    return {name: count for name, count in moved.items() if count}


def silent_workers(leadership: Leadership, now: datetime) -> int:
    """Workers on other machines that fell silent. Each keeper finds the dead of its own, where a
    clock that jumped must not look like silence."""
    silence = max(SILENT_LEASES * settings.JOB_LEASE_SECONDS, deadline_seconds() + MARGIN_SECONDS)
    silent = Worker.objects.present().exclude(host=process.host())
    silent = silent.filter(leadership.condition(), heartbeat_at__lt=now - _seconds(silence))
    return silent.filter(pk__in=_unlocked(silent)).update(stopped_at=now)


def held_runs(leadership: Leadership, now: datetime) -> int:
    """What workers have in hand: those that are gone, silent or too slow lose it."""
    held = list(JobRun.objects.held().order_by("lease_until")[:BATCH])
    gone = _stopped_workers(held)

    def remedy(run: JobRun) -> Remedy | None:
        stopped_at = gone.get(run.assigned_worker)
        # One that was struck out earlier, and has since taken this run, was not dead.
        dead = stopped_at is not None and (run.assigned_at is None or stopped_at >= run.assigned_at)
        if run.state == State.ASSIGNED:
            lost = dead or _lapsed(run, now)
            return partial(transitions.orphan, run, leadership.condition()) if lost else None
        if dead:
            return partial(_give_up, run, leadership, "The worker process died.")
        if _overdue(run, now):
            return partial(_time_out, run, leadership)
        return partial(_ask_or_give_up, run, leadership, now) if _lapsed(run, now) else None

    remedies = {run.pk: found for run in held if (found := remedy(run))}
    return _apply(remedies, leadership)


def unsent(leadership: Leadership, now: datetime) -> int:
    """Waiting and due, but no delivery was sent: retries, parked work, orphans."""
    runs = JobRun.objects.due(now).filter(rung_at__isnull=True).order_by("due_at")[:BATCH]
    return _send(list(runs), leadership, now)


def lost(leadership: Leadership, now: datetime) -> int:
    """Sent, but nobody came: the broker or a killed worker lost it."""
    suspects = JobRun.objects.due(now).filter(rung_at__lt=now - _seconds(LOST_AFTER_SECONDS))
    moved = 0
    for lane in suspects.order_by().values_list("lane", flat=True).distinct():
        in_lane = suspects.filter(lane=lane)
        # While deliveries wait at the broker, the run's own may be among them.
        at_broker = doorbell.undelivered(lane)
        if at_broker == 0:
            moved += _send(list(in_lane.order_by("rung_at")[:BATCH]), leadership, now)
        elif at_broker < in_lane.count():
            oldest = in_lane.filter(rung_at__lt=now - _seconds(RESEND_AFTER_SECONDS))
            moved += _send(list(oldest.order_by("rung_at")[:BATCH]), leadership, now)
    return moved


def missed_slots(leadership: Leadership, now: datetime) -> int:
    """A timer that fired into a broker that lost it. The slot's unique run is fence enough."""
    return definitions.fire_missed_slots(now)


def waiting_events(leadership: Leadership, now: datetime) -> int:
    """Events that were received by somebody who died before acting on them."""
    return events.process_waiting()


STEPS: tuple[Step, ...] = (silent_workers, held_runs, unsent, lost, missed_slots, waiting_events)
OF_RUNS = (held_runs, unsent, lost)


def _seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def _apply(remedies: dict[int, Remedy], leadership: Leadership) -> int:
    """Each by itself: a row that cannot be moved now is left for the next round."""
    moved = 0
    for pk in _unlocked(JobRun.objects.filter(pk__in=remedies)) if remedies else ():
        try:
            if not leadership.keep():
                break
            moved += remedies[pk]()
        except DatabaseError as error:
            _reraise_if_unreachable(error)
            logger.warning("Job %d could not be put right now: %s", pk, error)
    return moved


def _unlocked(rows: QuerySet[Any]) -> Collection[int]:
    """The keys of those that nobody holds locked at this moment. To wait for the others, one after
    the other, would take longer than we lead."""
    keys = rows.order_by("pk").values_list("pk", flat=True)
    if not connection.features.has_select_for_update_skip_locked:
        return list(keys)
    with transaction.atomic():
        # As an update locks it: one who only refers to the row is no obstacle.
        return list(keys.select_for_update(skip_locked=True, no_key=True))


def _reraise_if_unreachable(error: Exception) -> None:
    if isinstance(error, DatabaseError | InterfaceError) and not connection.is_usable():
        raise error


def _stopped_workers(runs: list[JobRun]) -> dict[str, datetime]:
    """Of the workers of these runs, those that are known to have ended, and when."""
    names = {run.assigned_worker for run in runs}
    stopped = Worker.objects.filter(name__in=names, stopped_at__isnull=False) if names else ()
    return {worker.name: worker.stopped_at for worker in stopped if worker.stopped_at}


def _lapsed(run: JobRun, now: datetime) -> bool:
    return run.lease_until is not None and run.lease_until <= now


def _overdue(run: JobRun, now: datetime) -> bool:
    """Longer than its timeout. Its worker ends it, with its process if need be; this is for one
    that cannot."""
    allowed = run.timeout_seconds + GRACE_SECONDS + MARGIN_SECONDS
    return run.started_at is not None and run.started_at + _seconds(allowed) <= now


def _ask_or_give_up(run: JobRun, leadership: Leadership, now: datetime) -> bool:
    if run.continuation_state == Continuation.NONE:
        return _ask_to_confirm(run, leadership)
    deadline = run.continuation_deadline
    if deadline is None or deadline > now:
        return False
    return _give_up(run, leadership, "The worker was not heard of any more.")


def _ask_to_confirm(run: JobRun, leadership: Leadership) -> bool:
    asked = JobRun.objects.filter(
        leadership.condition(), pk=run.pk, version=run.version, state=State.RUNNING
    ).update(
        version=run.version + 1,
        continuation_state=Continuation.CONFIRMING,
        continuation_deadline=clock.after(settings.JOB_CONFIRM_SECONDS),
    )
    return asked == 1


def _give_up(run: JobRun, leadership: Leadership, why: str) -> bool:
    return transitions.end(
        run, State.FAILED, leadership.condition(), error=why, leader_epoch=leadership.epoch
    )


def _time_out(run: JobRun, leadership: Leadership) -> bool:
    return transitions.end(
        run,
        State.TIMED_OUT,
        leadership.condition(),
        error=f"It took longer than its timeout of {run.timeout_seconds} seconds.",
        leader_epoch=leadership.epoch,
    )


def _send(runs: list[JobRun], leadership: Leadership, now: datetime) -> int:
    """Ring for each, and remember when: both in one transaction, for each lane once."""
    by_lane: dict[str, list[JobRun]] = defaultdict(list)
    for run in runs:
        by_lane[run.lane].append(run)
    moved = 0
    for lane, waiting in by_lane.items():
        with transaction.atomic():
            free = _unlocked(JobRun.objects.filter(pk__in=[run.pk for run in waiting]))
            # A mark, not a move: a worker that takes one meanwhile is not disturbed.
            sent = JobRun.objects.filter(
                leadership.condition(), pk__in=free, state__in=WAITING
            ).update(rung_at=now)
            if sent:
                bells = [(run.pk, run.timeout_seconds) for run in waiting if run.pk in free]
                doorbell.ring_all(bells, lane=lane)
        moved += sent
    return moved
