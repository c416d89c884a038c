"""Waiting at a terminal until a project is indexed, and doing the work where nobody else does."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from django.core.management.base import OutputWrapper
from django.utils.translation import gettext as _

from glossary_site.jobs.choices import ACTIVE, Lane
from glossary_site.jobs.errors import Stop, Stopped
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.overview import overview
from indexing.embedders.base import EmbedderUnavailable
from indexing.services.drain import waiting_documents, work_here
from indexing.services.filling import fill, needs_filling
from indexing.services.sweeping import put_right
from indexing.services.waking import FILL
from projects.feed import stream_of
from projects.models import Project

LOOK_SECONDS = 0.2
BAR_WIDTH = 30
# Between two lines, where the output goes to a file.
LINE_SECONDS = 5.0


class Interrupt:
    """Ctrl-C as a fact to look at: what is in hand is given back, not left lying."""

    def __init__(self) -> None:
        self.asked = False

    def check(self) -> None:
        if self.asked:
            raise Stopped(Stop.SHUTDOWN)

    def note(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Only the main thread can be told of signals; elsewhere nobody presses Ctrl-C."""
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    before = signal.signal(signal.SIGINT, interrupt.note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)


class Meter:
    """A bar on a terminal; elsewhere a line now and then."""

    def __init__(self, out: OutputWrapper) -> None:
        self._out = out
        self._last = 0.0
        self._shown = ""

    def __call__(self, done: int, total: int) -> None:
        share = done / total if total else 1.0
        filled = round(BAR_WIDTH * share)
        words = _("%(done)s of %(total)s documents") % {"done": done, "total": total}
        if self._out.isatty():
            bar = "█" * filled + "░" * (BAR_WIDTH - filled)
            self._write(f"\r\x1b[K{bar} {words}")
        elif time.monotonic() - self._last > LINE_SECONDS or done == total:
            self._last = time.monotonic()
            self._write(f"{words}\n")

    def close(self) -> None:
        if self._out.isatty():
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        if text != self._shown:
            self._shown = text
            self._out.write(text, style_func=str, ending="")
            self._out.flush()


def wait_until_indexed(project: Project, *, meter: Meter, interrupt: Interrupt) -> None:
    """Raises `Stopped` at Ctrl-C, and EmbedderUnavailable where vectors cannot be made."""
    most = 0
    while left := waiting_documents(project.pk):
        interrupt.check()
        most = max(most, left)
        meter(most - left, most)
        if somebody_works():
            time.sleep(LOOK_SECONDS)
            continue
        # Nobody is there either who would find what a dead worker has left.
        put_right()
        if not work_here(project=project, progress=meter, check=interrupt.check).total:
            time.sleep(LOOK_SECONDS)
    meter(most, most)
    _wait_for_vectors(project, interrupt)


def _wait_for_vectors(project: Project, interrupt: Interrupt) -> None:
    """Those that are asked for over the network come after the sections."""
    if not needs_filling(project.pk):
        return
    if not somebody_works():
        fill(project.pk, check=interrupt.check, progress=lambda done, total: None)
        return
    jobs = JobRun.objects.for_scope(stream_of(project.pk)).filter(kind=FILL, state__in=ACTIVE)
    while jobs.exists():
        interrupt.check()
        time.sleep(LOOK_SECONDS)
    if needs_filling(project.pk):
        raise EmbedderUnavailable(_("Some sections have no vector yet."))


def somebody_works() -> bool:
    """Whether a worker of the lane that indexes is there and takes work."""
    return any(line.workers for line in overview().lanes if line.lane == Lane.SHORT)
