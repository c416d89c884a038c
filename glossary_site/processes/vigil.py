"""Whether a cluster works, judged by its marks."""

from enum import Enum

LONGEST_CANARY_INTERVAL = 10.0
# A pusher that waits at Redis looks up once a second: less than this would be impatience.
SHORTEST_HANG_SECONDS = 3.0
# A longer time between two looks was not time in which anybody could work.
LONGEST_GAP = 1.0


class Verdict(Enum):
    FINE = "fine"
    ASK = "ask"
    HANGS = "hangs"


class Vigil:
    """It counts time itself, look by look: neither a changed clock nor a machine that slept shall
    look like a cluster that hangs."""

    def __init__(self, *, hang_seconds: float, workers: int) -> None:
        """Without workers (the keeper has none) nothing but the pulse is expected."""
        self.hang_seconds = max(hang_seconds, SHORTEST_HANG_SECONDS)
        self._workers = workers
        self._canary_interval = min(LONGEST_CANARY_INTERVAL, self.hang_seconds / 4)
        self._next_canary = self._canary_interval
        self._beat = self._pulse = -1
        # Time without a finished task while a worker was free, and without the sentinel's pulse.
        self._quiet = self._pulseless = 0.0

    def look(self, *, beat: int, pulse: int, busy: int, elapsed: float) -> Verdict:
        elapsed = min(elapsed, LONGEST_GAP)
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
        if max(self._quiet, self._pulseless) >= self.hang_seconds:
            return Verdict.HANGS
        if self._quiet >= self._next_canary:
            self._next_canary += self._canary_interval
            return Verdict.ASK
        return Verdict.FINE
