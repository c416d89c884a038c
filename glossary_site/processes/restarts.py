"""When to start again what has died, and when to give up."""

from collections import deque

WINDOW_SECONDS = 60.0
MOST_DEATHS = 5
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 4.0


class Restarts:
    """Counts the deaths of one process. Pauses grow, so that a broken program does not spin."""

    def __init__(self) -> None:
        self._deaths: deque[float] = deque()

    def pause_after_death(self, now: float) -> float | None:
        """How long to wait before the next start, or None when it has died too often."""
        self._deaths.append(now)
        while self._deaths[0] < now - WINDOW_SECONDS:
            self._deaths.popleft()
        if len(self._deaths) >= MOST_DEATHS:
            return None
        return float(min(FIRST_PAUSE * 2 ** (len(self._deaths) - 1), LONGEST_PAUSE))
