"""Where a cluster gets its tasks from: django-q2's broker, and what the site adds to it."""

import logging
import time
from typing import TYPE_CHECKING, Any

from django.db import connections
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.brokers.orm import ORM
from django_q.conf import Conf

from glossary_site.lazily import Lazily
from glossary_site.processes.heartbeat import Marks, canary_package
from glossary_site.processes.prepared import execute
from glossary_site.processes.wakeup import Wakeup, channel, wakeup

if TYPE_CHECKING:
    from glossary_site.processes import redis_queue
else:
    redis_queue = Lazily("glossary_site.processes.redis_queue")

logger = logging.getLogger(__name__)

PUT = "INSERT INTO django_q_ormq (key, payload, lock) VALUES (%s, %s, %s) RETURNING id"
# They are told when it is committed, and not before.
PUT_AND_TELL = f"WITH put AS ({PUT}) SELECT id, pg_notify(%s, '') FROM put"  # noqa: S608
ANY = "SELECT 1 FROM django_q_ormq WHERE key = %s AND lock < %s LIMIT 1"
TAKE = """
    WITH next AS MATERIALIZED (
        SELECT id FROM django_q_ormq WHERE key = %s AND lock < %s ORDER BY id LIMIT %s {passing}
    )
    DELETE FROM django_q_ormq WHERE id IN (SELECT id FROM next) RETURNING id, payload
"""
PASSING = "FOR UPDATE SKIP LOCKED"
CHECK_SECONDS = 1.0
# How soon a cluster that takes nothing looks whether it may again, how soon it looks whether a task
# has arrived at a worker, and how soon it asks a broker again that failed.
HOLD_SECONDS = 0.1
HANDING_SECONDS = 0.005
FAILURE_SECONDS = 1.0


class BrokerUnreachable(Exception):
    """Where the tasks come from does not answer."""


def broker_for(cluster: str | None = None) -> Any:
    """The configured broker, with the queue of a cluster (None: of this process's own)."""
    if Conf.ORM:
        return DatabaseQueue(cluster)
    return redis_queue.RedisQueue(cluster) if Conf.REDIS else get_broker(cluster)


def reachable_broker() -> Any:
    """The configured broker, or one sentence instead of a traceback for each process."""
    try:
        broker = broker_for()
        # Asks the server, as ping() does, but leaves the reporting to us.
        broker.info()
    except Exception as error:
        # Each kind of broker fails in its own way; all of them mean the same here.
        sentence = f"The task broker cannot be reached: {_first_line(error)}"
        raise BrokerUnreachable(sentence) from error
    return broker


class DatabaseQueue(ORM):
    """django-q2's queue in the database, in plain SQL: through the ORM a task costs the pusher
    several times as much, and the pusher is what limits a cluster. The oldest task comes first.
    When there is none it does not sleep: when to look again is not its business.

    A task is gone when it is taken, as with Redis. To lock it then, and to delete it when it is
    done, would be two more statements for each; and whoever needs it again sends it again."""

    # How many tasks to take at once, if there are so many.
    at_once = 1
    _next_check = 0.0

    def enqueue(self, task: str) -> int:
        connection = connections[Conf.ORM]
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        values = [self.list_key, task, now]
        if connection.vendor == "postgresql":
            return self._first(PUT_AND_TELL, [*values, channel(self.list_key)])
        return self._first(PUT, values)

    def dequeue(self) -> list[tuple[None, str]] | None:
        self._look_after_connection()
        connection = connections[Conf.ORM]
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        passes_by = connection.features.has_select_for_update_skip_locked
        if not passes_by and not self._any(now):
            # SQLite: to delete at once would be to wait for whoever writes, only to find nothing.
            return None
        statement = TAKE.format(passing=PASSING if passes_by else "")
        with execute(statement, [self.list_key, now, self.at_once], using=Conf.ORM) as cursor:
            # They come in whatever order.
            return [(None, payload) for _, payload in sorted(cursor.fetchall())] or None

    def _any(self, now: Any) -> bool:
        with execute(ANY, [self.list_key, now], using=Conf.ORM) as cursor:
            return cursor.fetchone() is not None

    def _first(self, sql: str, values: list[Any]) -> int:
        with execute(sql, values, using=Conf.ORM) as cursor:
            return int(cursor.fetchone()[0])

    def _look_after_connection(self) -> None:
        """Close it when it broke or is too old. Not each time: it asks the server whether it is
        there, which costs as much as asking for a task."""
        now = time.monotonic()
        if now >= self._next_check:
            self._next_check = now + CHECK_SECONDS
            self.get_connection()


class WatchedBroker:
    """The broker as the processes of one cluster see it. It lets the canary in, takes no task when
    it should not, waits in the cheapest way, and shows that the sentinel is alive."""

    def __init__(self, broker: Any, marks: Marks, *, slots: int | None) -> None:
        """With `slots`, a task is taken only when one of so many workers is free for it."""
        self._broker = broker
        self._marks = marks
        self._slots = slots
        # Where they are taken in advance at all, as many as may wait here. Whether one that is
        # lost with us was among four or alone is all the same: it is sent again.
        broker.at_once = 1 if slots else Conf.QUEUE_LIMIT
        self._wakeup: Wakeup = wakeup(hurry=slots is None)
        self._more_expected = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._broker, name)

    def dequeue(self) -> Any:
        if self._marks.take_canary():
            return [(None, canary_package())]
        if pause := self._pause():
            time.sleep(pause)
            return None
        try:
            if not self._more_expected and not self._wakeup.wait():
                return None
            tasks = self._broker.dequeue()
        except Exception as error:
            # To let it out would end the pusher, and nothing would be fetched for ten seconds.
            logger.warning("No task could be fetched: %s", _first_line(error))
            connections.close_all()
            time.sleep(FAILURE_SECONDS)
            return None
        self._more_expected = bool(tasks)
        if tasks and self._slots is not None:
            self._marks.handed.touch()
        return tasks

    def _pause(self) -> float:
        """How long to take nothing; 0 when a task is welcome."""
        if self._marks.takes_nothing:
            return HOLD_SECONDS
        if self._slots is None:
            return 0.0
        if self._marks.handed.exists():
            return HANDING_SECONDS
        return HOLD_SECONDS if self._marks.busy_workers() >= self._slots else 0.0

    def set_stat(self, key: str, value: str, timeout: int) -> Any:
        # The sentinel reports its state in every round; no other call of it is as regular.
        self._marks.pulse.touch()
        return self._broker.set_stat(key, value, timeout)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
