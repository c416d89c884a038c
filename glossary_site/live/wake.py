"""How a web process learns that the event table may have grown.

A lost wake-up costs only the wait until the next look, because the rows are the truth:
- SQLite: ask `PRAGMA data_version` fifty times a second. It reads no table and changes
  whenever another connection commits.
- Redis: one message a commit, and a slow look in case a message was lost.
- PostgreSQL alone: look at the table ten times a second.
"""

import asyncio
import logging
import sqlite3
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from django.conf import settings
from django.db import connection

from glossary_site.lazily import Lazily

if TYPE_CHECKING:
    import redis
    import redis.asyncio
    import redis.backoff
    import redis.retry
else:
    redis = Lazily("redis")

logger = logging.getLogger(__name__)

CHANNEL = "glossary:live"
SQLITE_INTERVAL = 0.02
POLL_INTERVAL = 0.1
SAFETY_INTERVAL = 1.0
WAKE_TIMEOUT = 0.5


@cache
def _redis_client() -> "redis.Redis":
    # Publishing happens on people's requests: one short try, because the safety look covers a loss.
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=WAKE_TIMEOUT,
        socket_connect_timeout=WAKE_TIMEOUT,
        retry=redis.retry.Retry(redis.backoff.NoBackoff(), 0),
    )


def channel() -> str:
    """One Redis may serve several copies of the site, each with a database of its own."""
    return f"{CHANNEL}:{connection.settings_dict['NAME']}"


def wake() -> None:
    """Tell every web process to look. Called on commit; must never fail the caller."""
    if not settings.REDIS_URL:
        return
    try:
        _redis_client().publish(channel(), b"")
    except redis.RedisError as error:
        logger.warning("Live wake-up not sent, pages will be a second late: %s", error)


class Waker(Protocol):
    async def wait(self) -> None:
        """Return when there may be something new."""

    async def close(self) -> None: ...


class SqliteWaker:
    def __init__(self) -> None:
        self._connection = sqlite3.connect(
            str(connection.settings_dict["NAME"]), check_same_thread=False, timeout=0
        )
        self._seen = -1

    async def wait(self) -> None:
        while True:
            await asyncio.sleep(SQLITE_INTERVAL)
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
            if version != self._seen:
                self._seen = version
                return

    async def close(self) -> None:
        self._connection.close()


class PollWaker:
    async def wait(self) -> None:
        await asyncio.sleep(POLL_INTERVAL)

    async def close(self) -> None:
        pass


class RedisWaker:
    def __init__(self) -> None:
        # redis-py drops a subscription that is idle for its default timeout.
        self._client = redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_timeout=None)
        self._pubsub: Any = None

    async def wait(self) -> None:
        try:
            if self._pubsub is None:
                self._pubsub = self._client.pubsub(ignore_subscribe_messages=True)
                await self._pubsub.subscribe(channel())
            await self._pubsub.get_message(timeout=SAFETY_INTERVAL)
        except (redis.RedisError, OSError) as error:
            logger.warning("Live feed cannot hear Redis, looking at the table instead: %s", error)
            await self._unsubscribe()
            await asyncio.sleep(SAFETY_INTERVAL)

    async def _unsubscribe(self) -> None:
        pubsub, self._pubsub = self._pubsub, None
        if pubsub is not None:
            # Its connection may be what is broken; it is given back either way.
            with suppress(redis.RedisError, OSError):
                await pubsub.aclose()

    async def close(self) -> None:
        await self._unsubscribe()
        await self._client.aclose()


def make_waker() -> Waker:
    if settings.REDIS_URL:
        return RedisWaker()
    if connection.vendor == "sqlite":
        return SqliteWaker()
    return PollWaker()
