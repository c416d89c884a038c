"""Whether a reader may go on reading."""

import time
from collections.abc import Callable

from glossary_site.live.hub import hub
from glossary_site.live.reading import Batch


class Gate:
    """Asks again at every event that may change access, and every so many seconds in any case:
    that an account was closed, a token revoked or somebody signed out is no event of the feed."""

    def __init__(
        self, allowed: Callable[[], bool], access_events: frozenset[str], seconds: float
    ) -> None:
        self._allowed = allowed
        self._access_events = access_events
        self._seconds = seconds
        self._asked = time.monotonic()

    async def opens_for(self, batch: Batch | None) -> bool:
        """`batch` is what would be sent next; None when the feed was quiet for so long."""
        now = time.monotonic()
        is_due = batch is None or batch.types & self._access_events
        if not is_due and now - self._asked < self._seconds:
            return True
        self._asked = now
        return await hub().read(self._allowed)
