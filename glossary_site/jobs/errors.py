"""How a job's function ends other than by returning."""

from enum import Enum


class Stop(Enum):
    """Why a session must not go on."""

    CANCELED = "it was cancelled"
    # Somebody else decides about the run now; whatever we would write is refused anyway.
    LOST = "its worker was taken for dead"
    TIMED_OUT = "it took longer than its timeout"
    # The worker goes down in good order; another one tries again.
    SHUTDOWN = "its worker is being stopped"


class Stopped(Exception):
    """Raised in a job's function by `session.check()` and by every write after the end."""

    def __init__(self, why: Stop) -> None:
        super().__init__(why.value)
        self.why = why


class PermanentFailure(Exception):
    """The same would happen again: no other attempt. Its text is shown to people."""
