"""The thread that keeps a worker process's word: its heartbeat, and the lease of what it runs.

It decides by itself when to give up. A worker that could not renew a lease in time does not know
whether the run is still its own: it is unsure (the leader, who sees the lapsed lease, marks the run
CONFIRMING and waits). Unless it reaches the database before its deadline, it tells the job to stop,
and then ends the process, all before the leader gives the run to somebody else.
"""

import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, transaction
from django_q.signals import post_spawn

from glossary_site.jobs import clock, process
from glossary_site.jobs.choices import WorkerRole
from glossary_site.jobs.errors import Stop
from glossary_site.jobs.models import Worker
from glossary_site.processes import identity

if TYPE_CHECKING:
    from glossary_site.jobs.session import Session

logger = logging.getLogger(__name__)

# How soon a cancelled job is told.
BEAT_SECONDS = 0.5
IDLE_HEARTBEAT_SECONDS = 5.0
# A job that was told to stop and does not is ended with its process; sooner when the worker is
# being stopped, which does not wait for long itself.
GRACE_SECONDS = 10.0
SHUTDOWN_GRACE_SECONDS = 5.0
# The exit code of a process that ended itself.
GAVE_UP = 3


class Keep:
    """One session and what the pulse knows about it."""

    def __init__(self, session: "Session") -> None:
        self.session = session
        self.stopped: float | None = None


class Pulse:
    def __init__(self, *, node: str, role: str, may_exit: bool) -> None:
        self.node = node
        self.role = role
        self.name = f"{node}:{role}:{os.getpid()}"
        # Only a process that exists for one job at a time may be ended because of it.
        self._may_exit = may_exit
        self._keeps: dict[int, Keep] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._over = threading.Event()
        self._heard: float | None = None
        self._done = 0
        self._thread = threading.Thread(target=self._run, name="pulse", daemon=True)

    def start(self) -> None:
        self._thread.start()
        if self._may_exit:
            threading.Thread(target=self._guard, name="deadline", daemon=True).start()

    def stop(self) -> None:
        self._over.set()
        self._wake.set()
        self._thread.join()

    @contextmanager
    def kept(self, session: "Session") -> Iterator[None]:
        keep = Keep(session)
        with self._lock:
            self._keeps[id(session)] = keep
        self._wake.set()
        try:
            yield
        finally:
            with self._lock:
                del self._keeps[id(session)]
            self._done += 1

    def _run(self) -> None:
        # A short job is over before anybody has to be told that its worker is still there.
        while not self._over.wait(BEAT_SECONDS):
            try:
                self._beat()
            except (DatabaseError, InterfaceError) as error:
                logger.warning("The worker cannot reach the database: %s", error)
                # A connection that failed may stay broken; the next one is new.
                connection.close()
            except Exception:
                # This thread must not end while its process lives.
                logger.exception("The worker's pulse stumbled")
            if not self._keeps:
                # With nothing in hand it only has to be heard of now and then.
                self._wake.wait(heartbeat_seconds())
            self._wake.clear()
        with suppress(DatabaseError, InterfaceError):
            if self._heard is not None:
                Worker.objects.filter(name=self.name).update(stopped_at=clock.now())
        connection.close()

    def _guard(self) -> None:
        """The last resort, which asks nobody: a database that takes a statement and does not
        answer holds the pulse for minutes, and the run will be somebody else's before that."""
        while not self._over.wait(BEAT_SECONDS):
            for keep in self._kept():
                if keep.session.unsure_seconds > deadline_seconds():
                    logger.error("Job %d may be somebody else's by now", keep.session.run.pk)
                    os._exit(GAVE_UP)

    def _kept(self) -> list[Keep]:
        with self._lock:
            return list(self._keeps.values())

    def _beat(self) -> None:
        for keep in self._kept():
            self._look_after(keep)
        self._heartbeat()

    def _look_after(self, keep: Keep) -> None:
        session = keep.session
        try:
            if time.monotonic() - session.renewed >= settings.JOB_LEASE_SECONDS / 3:
                session.confirm()
            else:
                session.look()
        finally:
            # Also when the database did not answer: these go by our own clock.
            now = time.monotonic()
            if now - session.began > session.run.timeout_seconds:
                session.stop(Stop.TIMED_OUT)
            if identity.stopping():
                session.stop(Stop.SHUTDOWN)
            if session.stopped:
                self._insist(keep, now)

    def _insist(self, keep: Keep, now: float) -> None:
        """A job that does not stop by itself is ended with its process."""
        if keep.stopped is None:
            keep.stopped = now
        grace = SHUTDOWN_GRACE_SECONDS if identity.stopping() else GRACE_SECONDS
        if not self._may_exit or now - keep.stopped < grace:
            return
        logger.error("Job %d did not stop; its worker process ends", keep.session.run.pk)
        try:
            keep.session.give_up()
        except Exception:
            logger.exception("The end of the job could not be written; the sweep will")
        os._exit(GAVE_UP)

    def _heartbeat(self) -> None:
        now = time.monotonic()
        if self._heard is not None and now - self._heard < heartbeat_seconds():
            return
        seen: dict[str, Any] = {
            "heartbeat_at": clock.now(),
            # One that was taken for dead and is not.
            "stopped_at": None,
            "jobs_done": self._done,
        }
        pid = os.getpid()
        if self._heard is None or not Worker.objects.filter(name=self.name).update(**seen):
            with transaction.atomic():
                draining = Worker.objects.present().on_node(self.node).filter(draining=True)
                Worker.objects.update_or_create(
                    name=self.name,
                    defaults={
                        "node": self.node,
                        "role": self.role,
                        "host": process.host(),
                        "pid": pid,
                        "process_started": process.started(pid) or 0,
                        "started_at": clock.now(),
                        "draining": draining.exists(),
                        **seen,
                    },
                )
        self._heard = now


_pulse: Pulse | None = None


def deadline_seconds() -> float:
    """After so long without a renewal a run may be somebody else's."""
    return float(settings.JOB_LEASE_SECONDS + settings.JOB_CONFIRM_SECONDS)


def heartbeat_seconds() -> float:
    return min(IDLE_HEARTBEAT_SECONDS, settings.JOB_LEASE_SECONDS / 3)


def worker_name() -> str:
    """How this process signs what it takes."""
    return _pulse.name if _pulse else _of_a_command().name


@contextmanager
def kept(session: "Session") -> Iterator[None]:
    """Keep the session's lease. A command that runs a job itself has a pulse for as long."""
    if _pulse is not None:
        with _pulse.kept(session):
            yield
        return
    pulse = _of_a_command()
    with pulse.kept(session):
        pulse.start()
        try:
            yield
        finally:
            pulse.stop()


def _of_a_command() -> Pulse:
    return Pulse(node=f"{process.host()}/command", role=WorkerRole.SHORT, may_exit=False)


def watch_spawns() -> None:
    """Each process that django-q2 makes for work gets a pulse when it begins."""
    post_spawn.connect(_begin, weak=False)


def _begin(**_: Any) -> None:
    global _pulse
    _pulse = Pulse(node=identity.node(), role=identity.lane(), may_exit=True)
    _pulse.start()
