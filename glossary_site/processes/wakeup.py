"""When to look into the task queue.

- SQLite: ask `PRAGMA data_version` fifty times a second. It reads no table and changes
  whenever another connection commits; only then is the queue worth a query.
- PostgreSQL as broker: look at intervals.
- Redis: its broker waits for a task by itself.

A task becomes due without a commit when the lock of one that was lost runs out, so the queue is
looked at now and then in any case.
"""

import sqlite3
import time
from typing import Protocol

from django.db import connections
from django_q.conf import Conf

SQLITE_INTERVAL = 0.02
SAFETY_SECONDS = 1.0
# The caller has other things to look at between two waits.
LONGEST_WAIT = 0.2


class Wakeup(Protocol):
    def wait(self) -> bool:
        """Wait a little; True when the queue should be looked at."""


class AtOnce:
    """For a broker that waits by itself."""

    def wait(self) -> bool:
        return True


class AtIntervals:
    def wait(self) -> bool:
        time.sleep(Conf.POLL)
        return True


class OnCommit:
    """Used in one process only, the pusher: a connection must not cross a fork."""

    def __init__(self, database: str) -> None:
        self._database = database
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
            time.sleep(SQLITE_INTERVAL)

    def _version(self) -> int:
        if self._connection is None:
            # Apart from Django's: a connection does not notice its own commits, and this one shall
            # notice those of the others in its process.
            self._connection = sqlite3.connect(self._database, isolation_level=None)
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        return int(version)


def wakeup() -> Wakeup:
    """What fits the configured broker."""
    if not Conf.ORM:
        return AtOnce()
    connection = connections[Conf.ORM]
    if connection.vendor == "sqlite":
        return OnCommit(str(connection.settings_dict["NAME"]))
    return AtIntervals()
