"""When to start again what has died.

Never given up: what started once fails later because something it needs is away, such as Redis, and
the rest of the site must not go down with it. The pauses grow, so that nothing spins.
"""

from collections import deque

WINDOW_SECONDS = 120.0
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 15.0


class Restarts:
    """Counts the recent deaths of one process."""

    def __init__(self) -> None:
        self._deaths: deque[float] = deque()

    def pause_after_death(self, now: float) -> float:
        """How long to wait before the next start."""
        self._deaths.append(now)
        while self._deaths[0] < now - WINDOW_SECONDS:
            self._deaths.popleft()
        return float(min(FIRST_PAUSE * 2 ** (len(self._deaths) - 1), LONGEST_PAUSE))
