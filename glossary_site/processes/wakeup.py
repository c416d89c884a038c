"""When to look into the task queue.

- SQLite: ask `PRAGMA data_version` forty times a second, ten for long work. It reads no table and
  changes whenever another connection commits; only then is the queue worth a query.
- PostgreSQL as broker: whoever puts a task there notifies (`LISTEN`).
- Redis: its broker waits for a task by itself.

A notification may be missed, so the queue is looked at now and then in any case.
"""

import logging
import sqlite3
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from django.db import Error, connections
from django_q.conf import Conf

from glossary_site.lazily import Lazily

if TYPE_CHECKING:
    import psycopg
    import psycopg.sql
else:
    psycopg = Lazily("psycopg")

logger = logging.getLogger(__name__)

SQLITE_INTERVAL = 0.025
# For work that takes minutes: to look is most of what an idle worker does.
SQLITE_LONG_INTERVAL = 0.1
SAFETY_SECONDS = 1.0
# The caller has other things to look at between two waits.
LONGEST_WAIT = 0.2
# How soon to try again to listen.
RETRY_SECONDS = 5.0


class Wakeup(Protocol):
    def wait(self) -> bool:
        """Wait a little; True when the queue should be looked at."""


class AtOnce:
    """For a broker that waits by itself."""

    def wait(self) -> bool:
        return True


class OnCommit:
    """Used in one process only, the pusher: a connection must not cross a fork."""

    def __init__(self, database: str, *, interval: float = SQLITE_INTERVAL) -> None:
        self._database = database
        self._interval = interval
        self._connection: sqlite3.Connection | None = None
        self._seen = -1
        self._next_look = 0.0

    def wait(self) -> bool:
        until = time.monotonic() + LONGEST_WAIT
        while True:
            version = self._version()
            now = time.monotonic()
            if version != self._seen or now >= self._next_look:
                self._seen = version
                self._next_look = now + SAFETY_SECONDS
                return True
            if now >= until:
                return False
            time.sleep(self._interval)

    def _version(self) -> int:
        if self._connection is None:
            # Apart from Django's: a connection does not notice its own commits, and this one shall
            # notice those of the others in its process.
            self._connection = sqlite3.connect(self._database, isolation_level=None)
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        return int(version)


class OnNotification:
    """A connection that does nothing but listen. While there is none, because it broke or because
    the server has no room for it, the queue is looked at at intervals."""

    def __init__(self, database: str) -> None:
        self._database = database
        self._listener: Any = None
        self._next_try = self._next_look = 0.0

    def wait(self) -> bool:
        try:
            if self._listener is None and time.monotonic() >= self._next_try:
                self._listen()
                # For what was put there before.
                return True
            if self._listener is not None:
                return self._told()
        except (Error, psycopg.Error) as error:
            logger.warning("Not told of new tasks, so looking for them: %s", error)
            self._stop_listening()
        time.sleep(Conf.POLL)
        return True

    def _told(self) -> bool:
        told = any(list(self._listener.connection.notifies(timeout=LONGEST_WAIT, stop_after=1)))
        now = time.monotonic()
        if told or now >= self._next_look:
            self._next_look = now + SAFETY_SECONDS
            return True
        return False

    def _listen(self) -> None:
        # One of its own, set up like Django's: that one is busy at times, and is closed at others.
        self._next_try = time.monotonic() + RETRY_SECONDS
        self._listener = connections[self._database].copy()
        self._listener.ensure_connection()
        name = psycopg.sql.Identifier(channel(Conf.CLUSTER_NAME))
        self._listener.connection.execute(psycopg.sql.SQL("LISTEN {}").format(name))

    def _stop_listening(self) -> None:
        if self._listener is not None:
            with suppress(Error, psycopg.Error):
                self._listener.close()
            self._listener = None


def channel(cluster: str) -> str:
    """Where PostgreSQL tells of new tasks of a cluster."""
    return f"tasks of {cluster}"


def wakeup(*, hurry: bool = True) -> Wakeup:
    """What fits the configured broker. Without `hurry` a task may wait for a tenth of a second."""
    if not Conf.ORM:
        return AtOnce()
    connection = connections[Conf.ORM]
    if connection.vendor == "sqlite":
        interval = SQLITE_INTERVAL if hurry else SQLITE_LONG_INTERVAL
        return OnCommit(str(connection.settings_dict["NAME"]), interval=interval)
    return OnNotification(Conf.ORM)
