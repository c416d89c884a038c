"""Ctrl-C at a command that works: a fact to look at, so that what is under way is ended well."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from glossary_site.processes.stopping import SAME_WISH_SECONDS, STOP_SIGNALS


class Interrupt:
    """The first signal asks; a later one insists, and does not wait for anything."""

    def __init__(self) -> None:
        self.asked = False
        self._first = 0.0

    def check(self) -> None:
        if self.asked:
            raise KeyboardInterrupt

    def note(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if not self.asked:
            self.asked = True
            self._first = now
        elif now - self._first > SAME_WISH_SECONDS:
            raise KeyboardInterrupt


@contextmanager
def stoppable() -> Iterator[Interrupt]:
    """Only the main thread can be told of signals; elsewhere nobody presses Ctrl-C."""
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    before = {number: signal.signal(number, interrupt.note) for number in STOP_SIGNALS}
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
