"""A process that the watchdog can start, ask to stop, and kill with everything below it.

It is forked from the watchdog and not started as a new program: the site is loaded already, so it
is there at once, and its memory is mostly shared.
"""

import gc
import multiprocessing
import os
import signal
from collections.abc import Callable
from contextlib import suppress

from django.db import connections

from glossary_site.processes.parent_death import die_with
from glossary_site.processes.stopping import forget_stop_signals
from glossary_site.processes.titles import show_as


class Forked:
    def __init__(self, name: str, main: Callable[[], None]) -> None:
        # A connection must not be shared across a fork. Memory should: the collector would write
        # into every page of the loaded modules, in each process anew.
        connections.close_all()
        gc.freeze()
        fork = multiprocessing.get_context("fork")
        self._process = fork.Process(target=_begin, args=(name, main, os.getpid()))
        self._process.start()

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    @property
    def exit_code(self) -> int | None:
        return self._process.exitcode

    def ask_to_stop(self) -> None:
        # The main process alone: to those below it the signal would mean to drop what they do.
        assert self._process.pid is not None
        with suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGTERM)

    def kill(self) -> None:
        """End every process of the group, dead main process or not."""
        assert self._process.pid is not None
        # Before it made its own group there is only the process itself.
        self._process.kill()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.join()


def _begin(name: str, main: Callable[[], None], watchdog: int) -> None:
    show_as(name)
    forget_stop_signals()
    os.setsid()
    die_with(watchdog)
    main()
