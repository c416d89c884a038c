"""Why nothing runs, in sentences: what an operator would otherwise have to work out from a table.

Waiting for a worker ("starved") and being in the hands of one that is not heard of ("stuck") are
told apart: the first needs more workers, the second will be settled by the leader.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from glossary_site.durations import in_words
from glossary_site.jobs.choices import WAITING, State
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.overview import InHand, LaneLine, Node, Overview

# A moment between being due and beginning is the usual way of things.
PATIENCE = timedelta(seconds=5)
# More of the same are not read before something is done about the first.
MOST_STUCK = 5


class Level(StrEnum):
    BAD = "bad"  # work does not go on by itself
    WARN = "warn"  # work goes on, but later or with less than there could be
    INFO = "info"  # as it should be


@dataclass(frozen=True)
class Reason:
    """`code` for programs, a sentence for people; where it is about one run, which."""

    code: str
    level: Level
    sentence: str
    run_id: int | None = None
    node: str = ""


def reasons(view: Overview) -> list[Reason]:
    """The worst first."""
    found = [
        *_workers(view),
        *_leader(view),
        *(_stuck(line, view.now) for line in view.stuck[:MOST_STUCK]),
        *_unknown_kinds(view),
        *(reason for lane in view.lanes for reason in _lane(lane, view)),
        *_later(view),
    ]
    return sorted(found, key=lambda reason: list(Level).index(reason.level))


def why(run: JobRun, view: Overview) -> Reason | None:
    """Why this run does not run, or does not go on; None when it does, or has ended."""
    for line in view.stuck:
        if line.run.pk == run.pk:
            return _stuck(line, view.now)
    if run.state not in WAITING:
        return None
    if run.due_at > view.now:
        return _waits_for_its_time(run, view.now)
    for depth in view.queue:
        if depth.kind == run.kind and not depth.is_known:
            return _unknown_kind(depth.kind, depth.due)
    lane = next(lane for lane in view.lanes if lane.lane == run.lane)
    for reason in [*_no_worker(view), *_lane(lane, view)]:
        return reason
    return Reason(
        "due", Level.INFO, _("It is due, and the next free worker takes it."), run_id=run.pk
    )


def _workers(view: Overview) -> list[Reason]:
    found = _no_worker(view)
    if found:
        return found
    for node in view.nodes:
        if node.silent:
            found.append(_silent(node))
        elif node.draining:
            found.append(_draining(node))
    return found


def _no_worker(view: Overview) -> list[Reason]:
    if view.has_workers:
        return []
    sentence = _("No worker is running: start one with “manage.py worker”.")
    if view.due:
        waiting = ngettext("%(n)d job waits.", "%(n)d jobs wait.", view.due) % {"n": view.due}
        sentence = f"{sentence} {waiting}"
    return [Reason("no_worker", Level.BAD, sentence)]


def _silent(node: Node) -> Reason:
    silent = node.silent
    sentence = ngettext(
        "%(n)d process of the node %(node)s has not been heard of for %(time)s.",
        "%(n)d processes of the node %(node)s have not been heard of for %(time)s.",
        len(silent),
    ) % {
        "n": len(silent),
        "node": node.name,
        "time": in_words(min(line.age for line in silent)),
    }
    return Reason("silent", Level.WARN, sentence, node=node.name)


def _draining(node: Node) -> Reason:
    if node.in_hand:
        sentence = ngettext(
            "Node %(node)s is draining: it finishes %(n)d job and takes nothing new.",
            "Node %(node)s is draining: it finishes %(n)d jobs and takes nothing new.",
            node.in_hand,
        ) % {"node": node.name, "n": node.in_hand}
    else:
        sentence = _("Node %(node)s is draining: it has nothing in hand and takes nothing new.") % {
            "node": node.name
        }
    return Reason("draining", Level.WARN, sentence, node=node.name)


def _leader(view: Overview) -> list[Reason]:
    leader = view.leader
    # Without a worker there is no leader either, and that was said.
    if leader.leads or not view.has_workers:
        return []
    if leader.missing_for is None:
        sentence = _("There has been no leader yet: retries and lost deliveries wait for one.")
    else:
        sentence = _("No leader for %(time)s: retries and lost deliveries wait.") % {
            "time": in_words(leader.missing_for)
        }
    return [Reason("no_leader", Level.BAD, sentence)]


def _stuck(line: InHand, now: datetime) -> Reason:
    run = line.run
    values = {"job": f"{run.pk} ({run.kind})", "time": in_words(now - line.heard_at)}
    if line.confirm_until is not None:
        values["until"] = _clock_time(line.confirm_until)
        sentence = _(
            "Job %(job)s has not been heard of for %(time)s: its worker is being asked, until "
            "%(until)s."
        )
    elif run.state == State.ASSIGNED:
        sentence = _(
            "Job %(job)s was taken by a worker that has not been heard of for %(time)s: the leader "
            "gives it to another one."
        )
    else:
        sentence = _("Job %(job)s has not been heard of for %(time)s: the leader will ask for it.")
    return Reason("stuck", Level.BAD, sentence % values, run_id=run.pk)


def _unknown_kinds(view: Overview) -> list[Reason]:
    return [_unknown_kind(depth.kind, depth.due) for depth in view.queue if not depth.is_known]


def _unknown_kind(kind: str, count: int) -> Reason:
    sentence = ngettext(
        "%(n)d job is of the kind “%(kind)s”, which this version of the site does not know.",
        "%(n)d jobs are of the kind “%(kind)s”, which this version of the site does not know.",
        count,
    ) % {"n": count, "kind": kind}
    return Reason("unknown_kind", Level.BAD, sentence)


def _lane(lane: LaneLine, view: Overview) -> list[Reason]:
    if lane.oldest is None or not view.has_workers:
        return []
    waited = view.now - lane.oldest
    values = {"lane": lane.label, "time": in_words(waited), "n": len(lane.takers)}
    if not lane.takers:
        sentence = _("%(lane)s: no worker takes it now; the oldest job has waited %(time)s.")
        return [Reason("no_worker_for_lane", Level.BAD, sentence % values)]
    if waited < PATIENCE:
        return []
    if not lane.free:
        sentence = ngettext(
            "%(lane)s: %(n)d worker is busy, the only one; the oldest job has waited %(time)s.",
            "%(lane)s: all %(n)d workers are busy; the oldest job has waited %(time)s.",
            len(lane.takers),
        )
        return [Reason("starved", Level.WARN, sentence % values)]
    if any(depth.is_known and depth.due for depth in view.queue if depth.lane == lane.lane):
        sentence = _(
            "%(lane)s: workers are free, but the oldest job has waited %(time)s. Its delivery may "
            "be lost; the leader sends it again."
        )
        return [Reason("undelivered", Level.WARN, sentence % values)]
    return []


def _later(view: Overview) -> list[Reason]:
    next_due = min((lane.next_due for lane in view.lanes if lane.next_due), default=None)
    if next_due is None:
        return []
    sentence = ngettext(
        "%(n)d job waits for its time (a retry or parked work), due in %(time)s.",
        "%(n)d jobs wait for their time (retries and parked work), the next in %(time)s.",
        view.later,
    ) % {"n": view.later, "time": in_words(next_due - view.now)}
    return [Reason("later", Level.INFO, sentence)]


def _waits_for_its_time(run: JobRun, now: datetime) -> Reason:
    time = {"time": in_words(run.due_at - now)}
    if run.retry_of_id is not None:
        sentence = _("It waits for its retry in %(time)s.") % time
    else:
        sentence = _("It waits for its time, in %(time)s.") % time
    return Reason("later", Level.INFO, sentence, run_id=run.pk)


def _clock_time(moment: datetime) -> str:
    return date_format(timezone.localtime(moment), "H:i:s")
