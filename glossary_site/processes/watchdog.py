"""Keeps clusters and the keeper at work: starts each again when it dies, and when it hangs.

A cluster hangs when a worker process is killed at the wrong instant: the lock it held on the task
queue dies with it, and its successors wait for ever, deaf to signals. Nothing in django-q2 notices.
"""

import logging
import time
from collections.abc import Callable, Sequence

from glossary_site.processes.forked import Forked
from glossary_site.processes.heartbeat import Marks, last_touch
from glossary_site.processes.restarts import Restarts
from glossary_site.processes.stopping import StopSignals
from glossary_site.processes.vigil import Verdict, Vigil

logger = logging.getLogger(__name__)

TICK_SECONDS = 0.2
START_SECONDS = 30.0
# Work in progress may take this long to finish after a stop signal. `serve` waits a little longer.
BUSY_GRACE_SECONDS = 8.0
# A process without work stops within a second or so. One that takes longer hangs.
IDLE_GRACE_SECONDS = 3.0


class StartFailed(Exception):
    """A process could not start, the very first time."""


class Ward:
    """One process that is kept at work. `name` is how sentences call it, such as “keeper”."""

    def __init__(
        self,
        name: str,
        *,
        main: Callable[[], None],
        marks: Marks,
        hang_seconds: float,
        workers: int = 0,
    ) -> None:
        self.name = name
        self._main = main
        self._marks = marks
        self._hang_seconds = hang_seconds
        self._workers = workers
        self._restarts = Restarts()
        self._process: Forked | None = None
        self._vigil: Vigil | None = None
        # While it is down: when to start it. While it starts: when that took too long.
        self._due = 0.0
        self._looked = 0.0

    def start(self) -> None:
        self._marks.clear()
        self._process = Forked(self.name, self._main)
        self._vigil = None
        self._due = time.monotonic() + START_SECONDS

    @property
    def ready(self) -> bool:
        return self._process is not None and self._marks.ready.exists()

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.alive

    @property
    def busy(self) -> bool:
        return self.alive and self._marks.busy_workers() > 0

    def look(self) -> None:
        """Called at every tick: see that all is well, and do something about it if not."""
        if self._process is None:
            if time.monotonic() >= self._due:
                self.start()
        elif trouble := self.trouble():
            logger.error("The %s %s; starting it again.", self.name, trouble)
            self.kill()
            now = time.monotonic()
            self._due = now + self._restarts.pause_after_death(now)

    def trouble(self) -> str:
        """What is wrong with it, in words; empty if nothing is."""
        assert self._process is not None
        now = time.monotonic()
        if not self._process.alive:
            return f"died with exit code {self._process.exit_code}"
        if self._vigil is None:
            if self._marks.ready.exists():
                self._vigil = Vigil(hang_seconds=self._hang_seconds, workers=self._workers)
                self._looked = now
                return ""
            return f"was not ready after {START_SECONDS:g} s" if now > self._due else ""
        verdict = self._vigil.look(
            beat=last_touch(self._marks.beat),
            pulse=last_touch(self._marks.pulse),
            busy=self._marks.busy_workers() if self._workers else 0,
            elapsed=now - self._looked,
        )
        self._looked = now
        if verdict is Verdict.ASK:
            self._marks.canary.touch()
        if verdict is Verdict.HANGS:
            return f"hangs: no sign of life for {self._vigil.hang_seconds:g} s"
        return ""

    def ask_to_stop(self) -> None:
        """Tasks in progress are finished, no new ones are begun."""
        if self._process is None:
            return
        # Before the signal: django-q2 would still begin the tasks that it holds in advance.
        self._marks.stopping.touch()
        if self.ready:
            self._process.ask_to_stop()
        else:
            self.kill()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None


class Watchdog:
    def __init__(
        self, wards: Sequence[Ward], *, stop: StopSignals, on_ready: Callable[[], None]
    ) -> None:
        self._wards = wards
        self._stop = stop
        self._on_ready = on_ready

    def run(self) -> None:
        """Until a stop signal. StartFailed if one cannot start at all."""
        try:
            self._start()
            while not self._stop.asked:
                for ward in self._wards:
                    ward.look()
                time.sleep(TICK_SECONDS)
            self._end()
        finally:
            for ward in self._wards:
                ward.kill()

    def _start(self) -> None:
        for ward in self._wards:
            ward.start()
        while not all(ward.ready for ward in self._wards):
            for ward in self._wards:
                if trouble := ward.trouble():
                    raise StartFailed(f"The {ward.name} {trouble}.")
            if self._stop.asked:
                return
            time.sleep(TICK_SECONDS / 4)
        self._on_ready()

    def _end(self) -> None:
        """Let them finish what they do, within limits; the caller kills what is left."""
        for ward in self._wards:
            ward.ask_to_stop()
        asked = time.monotonic()
        while any(ward.alive for ward in self._wards) and not self._stop.insisted:
            waited = time.monotonic() - asked
            busy = any(ward.busy for ward in self._wards)
            if busy and waited > BUSY_GRACE_SECONDS:
                logger.warning(
                    "Work in progress was stopped: it took longer than %g s.", BUSY_GRACE_SECONDS
                )
                return
            if waited > IDLE_GRACE_SECONDS and not busy:
                return
            time.sleep(TICK_SECONDS / 4)
