"""The process that looks after the others: heartbeat, the dead of this machine, leadership, sweep.

`manage.py worker` starts one beside its clusters. Those of several hosts agree by the lease on the
one that leads; the others only look after their own machine and stand by.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Count, Max

from glossary_site.jobs import clock, news, process
from glossary_site.jobs.choices import WorkerRole
from glossary_site.jobs.leader import Leadership
from glossary_site.jobs.models import JobRun, LeaderLease, Worker
from glossary_site.jobs.pulse import heartbeat_seconds
from glossary_site.jobs.rounds import make_rounds
from glossary_site.jobs.sweep import sweep
from glossary_site.live.services import publish
from glossary_site.observe.trace import bound, new_trace_id

logger = logging.getLogger(__name__)

ROUND_SECONDS = 1.0
# Silent hosts, missed slots and forgotten events are found after many seconds anyway: one round in
# so many looks for them.
WHOLE_EVERY = 5
LOCK_SECONDS = 2
Beat = Callable[[], None]


class LaneMarks(Protocol):
    """What the keeper tells the processes of a lane."""

    def drain(self, on: bool) -> None: ...


class Keeper:
    def __init__(self, *, node: str, marks: Mapping[str, LaneMarks]) -> None:
        self.node = node
        self.name = f"{node}:{WorkerRole.KEEPER}:{os.getpid()}"
        self._marks = marks
        self._leadership = Leadership(self.name)
        # Not known yet: the marks may be those that an earlier keeper left.
        self._draining: bool | None = None
        self._heard = 0.0
        self._rounds = 0
        self._picture: tuple[object, ...] = ()

    def round(self) -> None:
        present = list(Worker.objects.present().order_by("pk"))
        here = [worker for worker in present if worker.host == process.host()]
        ours = next((worker for worker in here if worker.name == self.name), None)
        if ours is None:
            # The first round, or somebody has taken us for dead.
            ours = self._enter(
                draining=any(worker.draining for worker in here if worker.node == self.node)
            )
        self._be_heard()
        self._bury(here)
        self._follow(draining=ours.draining)
        if self._leadership.hold():
            moved = sweep(self._leadership, runs_only=bool(self._rounds % WHOLE_EVERY))
            for step, count in moved.items():
                logger.info("Sweep: %s %d", step, count)
            self._rounds += 1
            make_rounds()
            self._tell_page(present)

    def end(self) -> None:
        self._leadership.release()
        Worker.objects.filter(name=self.name).update(stopped_at=clock.now())

    def _enter(self, *, draining: bool) -> Worker:
        pid = os.getpid()
        self._heard = time.monotonic()
        return Worker.objects.update_or_create(
            name=self.name,
            defaults={
                "node": self.node,
                "role": WorkerRole.KEEPER,
                "host": process.host(),
                "pid": pid,
                "process_started": process.started(pid) or 0,
                "started_at": clock.now(),
                "heartbeat_at": clock.now(),
                "stopped_at": None,
                "draining": draining,
            },
        )[0]

    def _be_heard(self) -> None:
        """As often as the workers: every write has all who wait for tasks on SQLite look up."""
        now = time.monotonic()
        if now - self._heard >= heartbeat_seconds():
            self._heard = now
            Worker.objects.filter(name=self.name).update(heartbeat_at=clock.now(), stopped_at=None)

    def _bury(self, workers: Iterable[Worker]) -> None:
        """Processes of this machine that are no more: their work need not wait for its lease."""
        for worker in workers:
            began = process.started(worker.pid)
            if began is None or (worker.process_started and began != worker.process_started):
                Worker.objects.filter(pk=worker.pk, process_started=worker.process_started).update(
                    stopped_at=clock.now()
                )
                # A dead leader need not be waited for.
                LeaderLease.objects.filter(holder=worker.name).update(lease_until=clock.now())

    def _follow(self, *, draining: bool) -> None:
        if draining != self._draining:
            self._draining = draining
            for marks in self._marks.values():
                marks.drain(draining)

    def _tell_page(self, present: Iterable[Worker]) -> None:
        """One event when anything on the operations page changed, however much it was."""
        last = JobRun.objects.aggregate(last=Max("pk"))["last"]
        active = JobRun.objects.active().order_by().values_list("state")
        picture = (
            last,
            tuple(active.annotate(Count("pk"), Max("progress_at"))),
            tuple((worker.pk, worker.draining) for worker in present),
            self._leadership.epoch,
        )
        if picture != self._picture:
            self._picture = picture
            publish(news.OPERATIONS, "operations.changed", {"epoch": self._leadership.epoch})


def do_not_wait_for_locks() -> None:
    """Somebody who was paused may hold a lock for as long as he sleeps; there is a later round. And
    to wait for one must not take as long as we lead."""
    if connection.vendor == "postgresql":
        seconds = min(LOCK_SECONDS, settings.JOB_LEASE_SECONDS / 4)
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = '{int(1000 * seconds)}ms'")


def main(*, node: str, marks: Mapping[str, LaneMarks], stop: threading.Event, beat: Beat) -> None:
    """Loops until told to stop. `beat` shows after each round that it goes on."""
    keeper = Keeper(node=node, marks=marks)
    while not stop.is_set():
        try:
            # What it starts on its own account belongs to no trace but this round's.
            with bound(trace_id=new_trace_id(), worker=keeper.name):
                if connection.connection is None:
                    do_not_wait_for_locks()
                keeper.round()
        except (DatabaseError, InterfaceError) as error:
            logger.warning("The keeper cannot reach the database: %s", error)
            connection.close()
        beat()
        stop.wait(ROUND_SECONDS)
    try:
        keeper.end()
    except (DatabaseError, InterfaceError) as error:
        logger.warning("The keeper left without a word to the database: %s", error)
