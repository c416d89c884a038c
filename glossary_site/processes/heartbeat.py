"""How the watchdog and its processes tell each other things: small files that they touch.

    beat      the monitor touches it when a task went all the way: fetched, executed, acknowledged
    pulse     the sentinel touches it about twice a second, as it looks after the others
    busy-7    process 7 is executing a task, if the file says so: to write a character takes a
              fraction of the time that it takes to make a file and to remove it
    canary    the watchdog's wish for a task that does nothing; the pusher takes it away
    ready     the process has started
    handed    a task is on its way from the pusher to a worker (where none is taken in advance)
    drain     an operator's wish: take no new task
    stopping  the cluster is about to stop: begin nothing, come to an end

The canary goes in at the cluster's own pusher and not through the broker. So it comes back from
this cluster and no other, however many hosts share a queue; canaries cannot pile up in a database;
and a broker that is down for a while is not mistaken for a cluster that hangs. Whatever can hang
(pusher, task queue, workers, result queue, monitor) is on its way, and any real task that takes
this way is as good a sign of life.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.utils import timezone
from django_q.signals import post_execute, post_execute_in_worker, pre_execute
from django_q.signing import SignedPackage

CANARY = "glossary_site.processes.heartbeat.beat"
BUSY = "busy-"
AT_WORK, FREE = b"1", b"0"


def beat() -> None:
    """The canary: what counts is that it was executed."""


class Marks:
    """The files of one cluster, or of the keeper, in a directory of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.beat = directory / "beat"
        self.pulse = directory / "pulse"
        self.canary = directory / "canary"
        self.ready = directory / "ready"
        self.handed = directory / "handed"
        self.stopping = directory / "stopping"
        self._drain = directory / "drain"
        # The file of this process, and whose that was: it must not be a fork's.
        self._own: tuple[int, int] | None = None

    def clear(self) -> None:
        """Before a process starts: no trace of an earlier one may pass for a sign of life. The wish
        for a drain was not a trace: it holds for the next one, too."""
        self.directory.mkdir(mode=0o700, exist_ok=True)
        for path in self.directory.iterdir():
            if path != self._drain:
                path.unlink()

    def drain(self, on: bool) -> None:
        """With True the cluster takes no new task, and finishes those it has, until False."""
        if on:
            self._drain.touch()
        else:
            self._drain.unlink(missing_ok=True)

    @property
    def takes_nothing(self) -> bool:
        return self._drain.exists() or self.stopping.exists()

    def busy_workers(self) -> int:
        """How many processes execute a task now. One that was killed meanwhile does not count."""
        return sum(self._is_busy(name) for name in os.listdir(self.directory))

    def _is_busy(self, name: str) -> bool:
        if not name.startswith(BUSY):
            return False
        path = self.directory / name
        with suppress(FileNotFoundError):
            if _alive(int(name.removeprefix(BUSY))):
                return path.read_bytes() == AT_WORK
            # Soon another process may have its number.
            path.unlink()
        return False

    def i_am_busy(self, busy: bool) -> None:
        pid = os.getpid()
        if self._own is None or self._own[0] != pid:
            path = self.directory / f"{BUSY}{pid}"
            self._own = pid, os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        os.pwrite(self._own[1], AT_WORK if busy else FREE, 0)

    def take_canary(self) -> bool:
        try:
            self.canary.unlink()
        except FileNotFoundError:
            return False
        return True


def last_touch(path: Path) -> int:
    """When a mark was last touched, as a number to compare with an earlier one; 0 for never."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def mark_tasks(marks: Marks) -> None:
    """Connect django-q2's signals to the marks, in the process that the others are forked from.

    A mark that cannot be written (a full disk) must not cost a task: the worst that a missing one
    does is a cluster that is started again.
    """

    def started(**_: Any) -> None:
        with suppress(OSError):
            marks.i_am_busy(True)
            # In this order: at no moment is a task that was taken to be seen nowhere.
            marks.handed.unlink()

    def executed(**_: Any) -> None:
        with suppress(OSError):
            marks.i_am_busy(False)

    def acknowledged(**_: Any) -> None:
        with suppress(OSError):
            marks.beat.touch()

    # Not weak: nothing else holds on to these functions.
    pre_execute.connect(started, weak=False)
    post_execute_in_worker.connect(executed, weak=False)
    post_execute.connect(acknowledged, weak=False)


def canary_package() -> str:
    """A task as django-q2 writes it into a queue."""
    task = {
        "id": uuid4().hex,
        "name": "canary",
        "func": CANARY,
        "args": (),
        "kwargs": {},
        "started": timezone.now(),
        "ack_failure": True,
    }
    return str(SignedPackage.dumps(task))
