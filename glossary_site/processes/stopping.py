"""Signals as facts to look at: a process that supervises others ends between two steps, not in one.

The first signal asks for an orderly stop, a later one for an immediate one.
"""

import signal
import threading
import time
from types import FrameType

# A closed terminal sends SIGHUP.
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# One Ctrl-C can arrive twice: from the terminal, and passed on by the program that started us.
SAME_WISH_SECONDS = 0.5


class StopSignals:
    def __init__(self) -> None:
        self.asked = False
        self.insisted = False
        self._first = 0.0
        for number in STOP_SIGNALS:
            signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if not self.asked:
            self.asked = True
            self._first = now
        elif now - self._first > SAME_WISH_SECONDS:
            self.insisted = True


def forget_stop_signals() -> None:
    """In a forked process: back to how a fresh program treats them."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def stop_event() -> threading.Event:
    """Set by a stop signal. From a thread that waits for it: a signal's handler runs in the middle
    of anything, and would wait for ever for a lock that the event's own wait is just holding."""
    stop = threading.Event()
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)

    def listen() -> None:
        signal.sigwait(STOP_SIGNALS)
        stop.set()

    threading.Thread(target=listen, name="stop", daemon=True).start()
    return stop
