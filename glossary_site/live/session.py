"""What one reader is told: a snapshot where one is due, then every event, as long as they may read.

The websocket and the server-sent events only differ in how they write it down.
"""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from glossary_site.live import reading
from glossary_site.live.hub import follow, hub
from glossary_site.live.reading import Batch

KEEPALIVE_SECONDS = 20.0


@dataclass(frozen=True)
class Snapshot:
    """How things are now, and the number from which events continue it."""

    number: int
    picture: dict[str, Any]


class Notice(Enum):
    ALIVE = auto()
    ACCESS_LOST = auto()


@dataclass(frozen=True)
class Reader:
    """Who reads which stream. The functions read the database, in the hub's thread."""

    stream: str
    # The last number they saw; None when they begin.
    after: int | None
    allowed: Callable[[], bool]
    snapshot: Callable[[], dict[str, Any]]
    # Events after which their access is looked at again.
    access_events: frozenset[str]


async def session(reader: Reader) -> AsyncGenerator[Snapshot | Batch | Notice, None]:
    """Ends after ACCESS_LOST. Close it (`aclosing`): a reader who leaves must leave the hub now,
    not when Python tidies up."""
    position = await hub().read(reading.position, reader.stream)
    after = reader.after
    if after is None or not position.pruned <= after <= position.last:
        # The number first, the picture second: an event in between is then sent again, not missed.
        after = position.last
        yield Snapshot(after, await hub().read(reader.snapshot))
    asked = time.monotonic()
    async with aclosing(follow(reader.stream, after, KEEPALIVE_SECONDS)) as batches:
        async for batch in batches:
            # Asked again every so often, too: that an account was closed, a token revoked or
            # somebody signed out is no event of the feed.
            now = time.monotonic()
            if (
                batch is None
                or batch.types & reader.access_events
                or now > (asked + KEEPALIVE_SECONDS)
            ):
                asked = now
                if not await hub().read(reader.allowed):
                    yield Notice.ACCESS_LOST
                    return
            yield Notice.ALIVE if batch is None else batch
