"""One tailer a web process, fanning out in memory to the sockets of that process.

The tailer runs only while somebody listens. A reader subscribes before it reads the table, so
nothing can fall between the two; numbers tell it what it has already seen. A reader too slow to
keep up loses its backlog here and reads the table instead: slow costs time, never events.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from enum import Enum, auto
from typing import TypeVar
from weakref import WeakKeyDictionary

from django.db import DatabaseError, connection

from glossary_site.live import reading
from glossary_site.live.reading import Batch
from glossary_site.live.wake import make_waker

logger = logging.getLogger(__name__)
T = TypeVar("T")

BACKLOG = 100
RETRY_SECONDS = 1.0


class ReadTable(Enum):
    """Told to a reader in place of a batch: what you miss is in the table."""

    NOW = auto()


READ_TABLE = ReadTable.NOW


class Subscription:
    """What one reader has not taken yet.

    It has one timer, which comes round once in `quiet_seconds`: a timer for every wait would be
    thousands of cancelled ones a second for the event loop to carry along.
    """

    def __init__(self, quiet_seconds: float) -> None:
        self._batches: deque[Batch | ReadTable | None] = deque()
        self._arrived = asyncio.Event()
        self._quiet_seconds = quiet_seconds
        self._heard = False
        self._timer = self._wind()

    def push(self, batch: Batch | ReadTable) -> None:
        self._heard = True
        if len(self._batches) >= BACKLOG:
            self._batches.clear()
            batch = READ_TABLE
        self._batches.append(batch)
        self._arrived.set()

    async def next(self) -> Batch | ReadTable | None:
        """What came next, or None when it was quiet for a while."""
        while not self._batches:
            self._arrived.clear()
            await self._arrived.wait()
        return self._batches.popleft()

    def close(self) -> None:
        self._timer.cancel()

    def _wind(self) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(self._quiet_seconds, self._tick)

    def _tick(self) -> None:
        if not self._heard and not self._batches:
            self._batches.append(None)
            self._arrived.set()
        self._heard = False
        self._timer = self._wind()


class Hub:
    def __init__(self) -> None:
        self._subscriptions: dict[str, set[Subscription]] = {}
        self._positions: dict[str, int] = {}
        self._tailer: asyncio.Task[None] | None = None
        # A thread of its own, with a database connection of its own: reading the feed never waits
        # behind a slow request.
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="live")

    async def read(self, function: Callable[..., T], *args: object) -> T:
        def run() -> T:
            try:
                return function(*args)
            except DatabaseError:
                # It may be the connection that is broken: the next look gets a new one.
                connection.close()
                raise
            finally:
                # While nobody listens there is nothing to keep a connection for.
                if not self._subscriptions:
                    connection.close()

        return await asyncio.get_running_loop().run_in_executor(self._executor, run)

    @contextmanager
    def subscribe(self, stream: str, quiet_seconds: float) -> Iterator[Subscription]:
        subscription = Subscription(quiet_seconds)
        self._subscriptions.setdefault(stream, set()).add(subscription)
        if self._tailer is None or self._tailer.done():
            self._tailer = asyncio.create_task(self._tail(), name="live-tailer")
        try:
            yield subscription
        finally:
            subscription.close()
            readers = self._subscriptions[stream]
            readers.discard(subscription)
            if not readers:
                del self._subscriptions[stream]
                self._positions.pop(stream, None)
            if not self._subscriptions and self._tailer is not None:
                self._tailer.cancel()
                self._tailer = None
                # Asked for inside the thread: every thread has a connection of its own.
                self._executor.submit(lambda: connection.close())

    async def _tail(self) -> None:
        waker = make_waker()
        try:
            while True:
                try:
                    await waker.wait()
                    await self._look()
                except Exception:
                    logger.exception("The live tailer stumbled and tries again")
                    await asyncio.sleep(RETRY_SECONDS)
        finally:
            await waker.close()

    async def _look(self) -> None:
        for stream, position in (await self.read(reading.positions, self._subscriptions)).items():
            seen = self._positions.get(stream)
            if seen is None:
                # First look at this stream: its readers may have read the table before or after
                # the latest event, and only they know.
                self._positions[stream] = position.last
                self._push(stream, READ_TABLE)
                continue
            while seen < position.last:
                events = await self.read(reading.events_after, stream, seen)
                if not events:
                    break
                batch = Batch(events)
                self._positions[stream] = seen = batch.last
                self._push(stream, batch)

    def _push(self, stream: str, batch: Batch | ReadTable) -> None:
        for subscription in self._subscriptions.get(stream, ()):
            subscription.push(batch)


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of this process (of this event loop, which in a web process is the same)."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub()
    return _hubs[loop]


async def follow(stream: str, after: int, keepalive: float) -> AsyncGenerator[Batch | None, None]:
    """Every event of a stream after a number, in order, each once; None when it is quiet."""
    live = hub()
    with live.subscribe(stream, keepalive) as subscription:
        arrived: Batch | ReadTable | None = READ_TABLE
        while True:
            if arrived is None:
                yield None
            elif isinstance(arrived, ReadTable):
                while events := await live.read(reading.events_after, stream, after):
                    yield (batch := Batch(events))
                    after = batch.last
            elif arrived.last > after:
                yield (batch := arrived if arrived.first > after else arrived.after(after))
                after = batch.last
            arrived = await subscription.next()
