"""The websocket: a snapshot, then every event after it.

A client that names the last number it saw (`?after=41`) gets what it missed; one that names none,
or one whose number is too old to replay, gets a snapshot of now. Access is checked when the socket
opens, again at every event that may change access, and again every so often.
"""

import asyncio
import json
import logging
from contextlib import aclosing
from typing import Any
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib.auth.models import AnonymousUser

from glossary_site.live import reading
from glossary_site.live.access import Gate
from glossary_site.live.hub import follow, hub
from glossary_site.live.identity import is_our_page, user_of
from glossary_site.numbers import number_in
from glossary_site.people.models import User

logger = logging.getLogger(__name__)

KEEPALIVE_SECONDS = 20.0
ACCESS_LOST = 4403
ALIVE = json.dumps({"type": "alive"})


class LiveConsumer(AsyncWebsocketConsumer):
    """Subclasses say which stream it is, who may read it and what a snapshot shows."""

    # Events after which a reader's access is looked at again.
    access_events: frozenset[str] = frozenset()

    def stream(self) -> str:
        raise NotImplementedError

    def may_read(self, user: User | AnonymousUser) -> bool:
        raise NotImplementedError

    def snapshot(self) -> dict[str, Any]:
        raise NotImplementedError

    async def connect(self) -> None:
        self._pump: asyncio.Task[None] | None = None
        if is_our_page(self.scope) and await hub().read(self._allowed):
            await self.accept()
            self._pump = asyncio.create_task(self._run())
        else:
            await self.close()

    async def disconnect(self, code: int) -> None:
        if self._pump is not None:
            self._pump.cancel()

    def _allowed(self) -> bool:
        return self.may_read(user_of(self.scope))

    async def _start(self) -> int:
        """Send the snapshot where one is due, and return the number to continue from."""
        position = await hub().read(reading.position, self.stream())
        query = parse_qs(self.scope["query_string"].decode("latin-1"))
        after = number_in(query.get("after", [""])[0])
        if after is not None and position.pruned <= after <= position.last:
            return after
        # The number first, the picture second: an event in between is then sent again, not missed.
        picture = {"type": "snapshot", "number": position.last, **await hub().read(self.snapshot)}
        await self.send(json.dumps(picture, ensure_ascii=False))
        return position.last

    async def _run(self) -> None:
        try:
            gate = Gate(self._allowed, self.access_events, KEEPALIVE_SECONDS)
            after = await self._start()
            # Closed by hand: a cancelled socket must leave the hub now, not when Python tidies up.
            async with aclosing(follow(self.stream(), after, KEEPALIVE_SECONDS)) as batches:
                async for batch in batches:
                    if not await gate.opens_for(batch):
                        await self.close(ACCESS_LOST)
                        return
                    await self.send(ALIVE if batch is None else batch.json)
        except Exception:
            logger.exception("A live socket failed; its page will reconnect")
            await self.close(1011)


class NoSuchFeed(AsyncWebsocketConsumer):
    """The last route: an address that nobody knows is refused, not an error in the log."""

    async def connect(self) -> None:
        await self.close()
