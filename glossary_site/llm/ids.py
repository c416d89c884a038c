"""Numbers for requests."""

import secrets
import time
from collections.abc import Iterator
from itertools import count
from uuid import UUID


def growing_ids() -> Iterator[UUID]:
    """UUIDs of version 7 that grow, so that the order of the keys is the order of enqueuing: the
    time in front, then a counter, then chance."""
    milliseconds = time.time_ns() // 1_000_000
    for number in count():
        high, low = number >> 20, number & 0xFFFFF
        yield UUID(
            int=milliseconds << 80
            | 7 << 76
            | (high & 0xFFF) << 64
            | 2 << 62
            | low << 42
            | secrets.randbits(42)
        )
