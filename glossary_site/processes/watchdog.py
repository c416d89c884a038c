"""Keeps one cluster at work: starts it again when it dies, and when it hangs.

A cluster hangs when a worker process is killed at the wrong instant: the lock it held on the task
queue dies with it, and its successors wait for ever, deaf to signals. Nothing in django-q2 notices.
"""

import logging
import time
from collections.abc import Callable
from enum import Enum

from glossary_site.processes.cluster import ClusterProcess
from glossary_site.processes.heartbeat import Marks, last_touch
from glossary_site.processes.restarts import Restarts
from glossary_site.processes.stopping import StopSignals

logger = logging.getLogger(__name__)

TICK_SECONDS = 0.2
START_SECONDS = 30.0
# Work in progress may take this long to finish after a stop signal. `serve` waits a little longer.
BUSY_GRACE_SECONDS = 8.0
# A cluster without work stops within a second or so. One that takes longer hangs.
IDLE_GRACE_SECONDS = 3.0
LONGEST_CANARY_INTERVAL = 10.0
# A pusher that waits at Redis looks up once a second: less than this would be impatience.
SHORTEST_HANG_SECONDS = 3.0


class Verdict(Enum):
    FINE = "fine"
    ASK = "ask"
    HANGS = "hangs"


class Vigil:
    """Decides from the marks whether a cluster works. It counts time itself, tick by tick: neither
    a changed clock nor a machine that slept shall look like a cluster that hangs."""

    def __init__(self, *, hang_seconds: float, workers: int) -> None:
        self._hang_seconds = hang_seconds
        self._workers = workers
        self._canary_interval = min(LONGEST_CANARY_INTERVAL, hang_seconds / 4)
        self._next_canary = self._canary_interval
        self._beat = self._pulse = -1
        # Time without a finished task while a worker was free, and without the sentinel's pulse.
        self._quiet = self._pulseless = 0.0

    def look(self, *, beat: int, pulse: int, busy: int, elapsed: float) -> Verdict:
        elapsed = min(elapsed, 5 * TICK_SECONDS)
        # When all workers are at long tasks no canary comes through, and none is needed.
        if beat != self._beat or busy >= self._workers:
            self._beat = beat
            self._quiet = 0.0
            self._next_canary = self._canary_interval
        else:
            self._quiet += elapsed
        if pulse != self._pulse:
            self._pulse = pulse
            self._pulseless = 0.0
        else:
            self._pulseless += elapsed
        if max(self._quiet, self._pulseless) >= self._hang_seconds:
            return Verdict.HANGS
        if self._quiet >= self._next_canary:
            self._next_canary += self._canary_interval
            return Verdict.ASK
        return Verdict.FINE


class ClusterFailed(Exception):
    """The cluster could not start."""


class Watchdog:
    def __init__(
        self,
        *,
        marks: Marks,
        stop: StopSignals,
        hang_seconds: float,
        workers: int,
        on_ready: Callable[[], None],
    ) -> None:
        self._marks = marks
        self._stop = stop
        self._hang_seconds = max(hang_seconds, SHORTEST_HANG_SECONDS)
        self._workers = workers
        self._on_ready = on_ready
        self._restarts = Restarts()

    def run(self) -> None:
        """Until a stop signal. ClusterFailed if it cannot start."""
        started_before = False
        while not self._stop.asked:
            cluster = ClusterProcess(self._marks)
            try:
                if self._starts(cluster):
                    self._on_ready()
                    started_before = True
                    trouble = self._watch(cluster)
                else:
                    trouble = "could not start"
                if self._stop.asked:
                    self._end(cluster)
                    return
            finally:
                cluster.kill()
            if not started_before:
                raise ClusterFailed("The worker cluster could not start.")
            self._pause(trouble)

    def _starts(self, cluster: ClusterProcess) -> bool:
        deadline = time.monotonic() + START_SECONDS
        while not cluster.ready:
            if self._stop.asked or not cluster.alive or time.monotonic() > deadline:
                return False
            time.sleep(TICK_SECONDS / 4)
        return True

    def _watch(self, cluster: ClusterProcess) -> str:
        """Look until there is something wrong with it (returned in words) or a stop is asked."""
        vigil = Vigil(hang_seconds=self._hang_seconds, workers=self._workers)
        before = time.monotonic()
        while not self._stop.asked:
            if not cluster.alive:
                return f"died with exit code {cluster.exit_code}"
            now = time.monotonic()
            verdict = vigil.look(
                beat=last_touch(self._marks.beat),
                pulse=last_touch(self._marks.pulse),
                busy=self._marks.busy_workers(),
                elapsed=now - before,
            )
            before = now
            if verdict is Verdict.HANGS:
                return f"hangs: no sign of life for {self._hang_seconds:g} s"
            if verdict is Verdict.ASK:
                self._marks.canary.touch()
            time.sleep(TICK_SECONDS)
        return ""

    def _end(self, cluster: ClusterProcess) -> None:
        """Let it finish what it does, within limits; the caller kills what is left."""
        if not cluster.ready:
            return
        cluster.ask_to_stop()
        asked = time.monotonic()
        while cluster.alive and not self._stop.insisted:
            waited = time.monotonic() - asked
            if waited > BUSY_GRACE_SECONDS:
                logger.warning(
                    "Work in progress was stopped: it took longer than %g s.", BUSY_GRACE_SECONDS
                )
                return
            if waited > IDLE_GRACE_SECONDS and not self._marks.busy_workers():
                return
            time.sleep(TICK_SECONDS / 4)

    def _pause(self, trouble: str) -> None:
        logger.error("The worker cluster %s; starting it again.", trouble)
        now = time.monotonic()
        until = now + self._restarts.pause_after_death(now)
        while time.monotonic() < until and not self._stop.asked:
            time.sleep(TICK_SECONDS / 4)
