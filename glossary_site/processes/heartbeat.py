"""How the watchdog knows that a cluster still works: small files that its processes touch.

    beat     the monitor touches it when a task went all the way: fetched, executed, acknowledged
    pulse    the sentinel touches it about twice a second, as it looks after the others
    busy-7   process 7 is executing a task
    canary   the watchdog's wish for a task that does nothing; the pusher takes it away
    ready    the cluster has started

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


def beat() -> None:
    """The canary: what counts is that it was executed."""


class Marks:
    """The files of one cluster, in a directory of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.beat = directory / "beat"
        self.pulse = directory / "pulse"
        self.canary = directory / "canary"
        self.ready = directory / "ready"

    def clear(self) -> None:
        """Before a cluster starts: no trace of an earlier one may pass for a sign of life."""
        self.directory.mkdir(mode=0o700, exist_ok=True)
        for path in self.directory.iterdir():
            path.unlink()

    def busy_workers(self) -> int:
        """How many processes execute a task now; one that was killed meanwhile does not count."""
        pids = (int(path.name.removeprefix(BUSY)) for path in self.directory.glob(f"{BUSY}*"))
        return sum(_alive(pid) for pid in pids)

    def my_busy_mark(self) -> Path:
        return self.directory / f"{BUSY}{os.getpid()}"

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
            marks.my_busy_mark().touch()

    def executed(**_: Any) -> None:
        with suppress(OSError):
            marks.my_busy_mark().unlink()

    def acknowledged(**_: Any) -> None:
        with suppress(OSError):
            marks.beat.touch()

    # Not weak: nothing else holds on to these functions.
    pre_execute.connect(started, weak=False)
    post_execute_in_worker.connect(executed, weak=False)
    post_execute.connect(acknowledged, weak=False)


class WatchedBroker:
    """The configured broker, which also lets the canary in and shows that the sentinel is alive."""

    def __init__(self, broker: Any, marks: Marks) -> None:
        self._broker = broker
        self._marks = marks

    def __getattr__(self, name: str) -> Any:
        return getattr(self._broker, name)

    def dequeue(self) -> Any:
        if self._marks.take_canary():
            return [(None, canary_package())]
        return self._broker.dequeue()

    def set_stat(self, key: str, value: str, timeout: int) -> Any:
        # The sentinel reports its state in every round; no other call of it is as regular.
        self._marks.pulse.touch()
        return self._broker.set_stat(key, value, timeout)


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
