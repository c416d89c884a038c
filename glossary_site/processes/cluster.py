"""The django-q2 cluster as a process that the watchdog can start, ask to stop, and kill.

It is forked from the watchdog and not started as a new program: the site is loaded already, so a
cluster is back at once.
"""

import gc
import logging
import multiprocessing
import os
import signal
import sys
from contextlib import suppress
from typing import Any

from django.db import connections
from django_q.brokers import get_broker
from django_q.cluster import Cluster

from glossary_site.processes.heartbeat import Marks, WatchedBroker, mark_tasks
from glossary_site.processes.parent_death import bind_every_fork, die_with
from glossary_site.processes.stopping import forget_stop_signals

logger = logging.getLogger(__name__)


class ClusterProcess:
    """One running cluster: its main process and the group of everything below it."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        marks.clear()
        # A connection must not be shared across a fork. Memory should: the collector would write
        # into every page of the loaded modules, in each process anew.
        connections.close_all()
        gc.freeze()
        fork = multiprocessing.get_context("fork")
        self._process = fork.Process(target=_main, args=(marks, os.getpid()), name="cluster")
        self._process.start()

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    @property
    def exit_code(self) -> int | None:
        return self._process.exitcode

    @property
    def ready(self) -> bool:
        return self._marks.ready.exists()

    def ask_to_stop(self) -> None:
        """Running tasks are finished; no new ones are taken."""
        # The main process alone: to the others the signal would mean to drop what they do.
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


class BrokerUnreachable(Exception):
    """Where the tasks come from does not answer."""


def reachable_broker() -> Any:
    """The configured broker, or one sentence instead of a traceback for each process."""
    try:
        broker = get_broker()
        # Asks the server, as ping() does, but leaves the reporting to us.
        broker.info()
    except Exception as error:
        # Each kind of broker fails in its own way; all of them mean the same here.
        reason = str(error).strip().partition("\n")[0]
        raise BrokerUnreachable(f"The task broker cannot be reached: {reason}") from error
    return broker


def _main(marks: Marks, watchdog: int) -> None:
    forget_stop_signals()
    os.setsid()
    die_with(watchdog)
    bind_every_fork()
    mark_tasks(marks)
    try:
        broker = reachable_broker()
    except BrokerUnreachable as error:
        logger.error("%s", error)
        sys.exit(1)
    cluster = Cluster(broker=WatchedBroker(broker, marks))
    cluster.start()
    marks.ready.touch()
    cluster.sentinel.join()
    sys.exit(cluster.sentinel.exitcode != 0)
