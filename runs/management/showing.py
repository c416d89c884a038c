"""A run at a terminal: its log line by line, and on a real terminal a bar below it."""

import time
from collections import deque
from datetime import timedelta
from shutil import get_terminal_size

from django.core.management.base import OutputWrapper
from django.utils import timezone
from django.utils.translation import gettext as _

from glossary_site.durations import in_words
from glossary_site.jobs.management.tables import harmless
from projects.management.terminal import ERASE, bar, fitting
from runs.choices import Level, Step
from runs.models import Run, RunLog

YELLOW, PLAIN = "\x1b[33m", "\x1b[0m"
PAGE = 500
# What is left is guessed from the last so many seconds: a step's terms are not all alike.
PACE_SECONDS = 20.0


class Display:
    """Everything goes to standard error: the result alone is for standard output."""

    def __init__(self, out: OutputWrapper, *, quiet: bool = False) -> None:
        self._out = out
        self._quiet = quiet
        self._bar = out.isatty() and not quiet
        self._seen = 0
        self._pace: deque[tuple[float, int]] = deque()
        self._step = ""

    def show(self, run: Run) -> None:
        """What has come since it was last called."""
        while lines := list(
            RunLog.objects.filter(run=run, number__gt=self._seen)
            .defer("traceback")
            .order_by("number")[:PAGE]
        ):
            self._seen = lines[-1].number
            for line in lines:
                # On a terminal the bar says how far it is, and at which term. What a run failed of
                # is the command's last word.
                told = self._bar and line.current_term and line.level == Level.INFO
                if not (told or line.level == Level.ERROR):
                    self._write_line(line)
        if self._bar:
            self._draw(run)

    def say(self, text: str) -> None:
        """A line of the command's own."""
        if not self._quiet:
            self._write(f"{self._erased()}{harmless(text)}\n")

    def passing(self, text: str) -> None:
        """One line that is written over by the next, for people only; empty to clear it."""
        if self._bar:
            self._write(ERASE + harmless(text))

    def close(self) -> None:
        self.passing("")

    def _write_line(self, line: RunLog) -> None:
        if self._quiet:
            return
        moment = timezone.localtime(line.created_at).strftime("%H:%M:%S")
        text = f"{moment} {line.level:<7} {line.step:<8} {harmless(line.message)}"
        if self._bar and line.level == Level.WARNING:
            text = f"{YELLOW}{text}{PLAIN}"
        self._write(f"{self._erased()}{text}\n")

    def _draw(self, run: Run) -> None:
        if run.has_ended:
            self.passing("")
            return
        words = [str(Step(run.current_step).label) if run.current_step else _("Waiting")]
        if run.progress_total:
            words.insert(0, bar(run.progress_current, run.progress_total))
            words.append(f"{run.progress_current}/{run.progress_total}")
            left = self._seconds_left(run)
            if left is not None:
                words.append(_("%(time)s left") % {"time": in_words(timedelta(seconds=left))})
        if run.current_term:
            words.append(run.current_term)
        self._write(ERASE + fitting(" ".join(words), get_terminal_size().columns - 1))

    def _seconds_left(self, run: Run) -> float | None:
        now = time.monotonic()
        if run.current_step != self._step:
            self._step = run.current_step
            self._pace.clear()
        self._pace.append((now, run.progress_current))
        while now - self._pace[0][0] > PACE_SECONDS:
            self._pace.popleft()
        began, done = self._pace[0]
        gained = run.progress_current - done
        if not gained:
            return None
        return (run.progress_total - run.progress_current) * (now - began) / gained

    def _erased(self) -> str:
        return ERASE if self._bar else ""

    def _write(self, text: str) -> None:
        self._out.write(text, style_func=str, ending="")
        self._out.flush()
