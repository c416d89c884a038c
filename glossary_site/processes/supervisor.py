"""Starts programs, starts them again when they die, and ends them all."""

import logging
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from glossary_site.processes.parent_death import dying_with_me
from glossary_site.processes.restarts import Restarts
from glossary_site.processes.stopping import StopSignals

logger = logging.getLogger(__name__)

TICK_SECONDS = 0.1
# The worker gives a task in progress a little less than this.
GRACE_SECONDS = 10.0
# A stop that takes longer than this deserves a word.
SILENT_SECONDS = 3.0


class ChildFailed(Exception):
    """A program could not start."""


@dataclass
class Program:
    """One program to keep running. `name` is how sentences call it, such as “web process”."""

    name: str
    command: Sequence[str]
    environment: dict[str, str]
    directory: Path
    restarts: Restarts = field(default_factory=Restarts)
    process: subprocess.Popen[bytes] | None = None
    # When to start it again, while it is down.
    due: float = 0.0

    def start(self) -> None:
        self.process = subprocess.Popen(  # noqa: S603
            self.command,
            env={**os.environ, **self.environment},
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            # A session of its own: Ctrl-C in the terminal reaches the supervisor alone, which then
            # ends its programs in order.
            start_new_session=True,
            # Safe here: the supervisor has one thread.
            preexec_fn=dying_with_me(),
        )

    @property
    def exit_code(self) -> int | None:
        return self.process.poll() if self.process else None

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def send(self, number: signal.Signals) -> None:
        if self.alive:
            assert self.process is not None
            self.process.send_signal(number)

    def kill(self) -> None:
        """End it and whatever else is in its group, also when it is dead itself."""
        if self.process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Supervisor:
    def __init__(self, programs: Sequence[Program], stop: StopSignals) -> None:
        self._programs = programs
        self._stop = stop

    def start(self, is_ready: Callable[[], bool], *, seconds: float) -> None:
        """Start all and wait until they are ready, or until a stop is asked."""
        for program in self._programs:
            program.start()
        deadline = time.monotonic() + seconds
        while not self._stop.asked and not is_ready():
            for program in self._programs:
                if not program.alive:
                    raise ChildFailed(
                        f"The {program.name} could not start (exit code {program.exit_code}); "
                        "its last messages say why."
                    )
            if time.monotonic() > deadline:
                raise ChildFailed(f"The site was not ready after {seconds:g} seconds.")
            time.sleep(TICK_SECONDS)

    def watch(self) -> None:
        """Keep all running until a stop is asked."""
        while not self._stop.asked:
            now = time.monotonic()
            for program in self._programs:
                if program.process is None:
                    if now >= program.due:
                        program.start()
                elif not program.alive:
                    self._after_death(program, now)
            time.sleep(TICK_SECONDS)

    def _after_death(self, program: Program, now: float) -> None:
        code = program.exit_code
        program.kill()
        program.process = None
        logger.error("The %s died (exit code %s); starting it again.", program.name, code)
        program.due = now + program.restarts.pause_after_death(now)

    def end(self) -> None:
        """Ask all to stop, wait a little, and kill what is left. A second Ctrl-C does not wait."""
        for program in self._programs:
            program.send(signal.SIGTERM)
        began = time.monotonic()
        told = False
        while any(program.alive for program in self._programs) and not self._stop.insisted:
            waited = time.monotonic() - began
            if waited > GRACE_SECONDS:
                break
            if waited > SILENT_SECONDS and not told:
                told = True
                logger.info("Waiting for work in progress; press Ctrl-C again to stop at once.")
            time.sleep(TICK_SECONDS / 2)
        for program in self._programs:
            program.kill()
