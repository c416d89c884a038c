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

from glossary_site.live.hub import hub
from glossary_site.live.identity import is_our_page, user_of
from glossary_site.live.reading import Batch
from glossary_site.live.session import Notice, Reader, Snapshot, session
from glossary_site.numbers import number_in
from glossary_site.people.models import User

logger = logging.getLogger(__name__)

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

    async def _run(self) -> None:
        query = parse_qs(self.scope["query_string"].decode("latin-1"))
        reader = Reader(
            stream=self.stream(),
            after=number_in(query.get("after", [""])[0]),
            allowed=self._allowed,
            snapshot=self.snapshot,
            access_events=self.access_events,
        )
        try:
            async with aclosing(session(reader)) as messages:
                async for message in messages:
                    if message is Notice.ACCESS_LOST:
                        await self.close(ACCESS_LOST)
                    else:
                        await self.send(text_of(message))
        except Exception:
            logger.exception("A live socket failed; its page will reconnect")
            await self.close(1011)


def text_of(message: Snapshot | Batch | Notice) -> str:
    if isinstance(message, Batch):
        return message.json
    if isinstance(message, Snapshot):
        frame = {"type": "snapshot", "number": message.number, **message.picture}
        return json.dumps(frame, ensure_ascii=False)
    return ALIVE


class NoSuchFeed(AsyncWebsocketConsumer):
    """The last route: an address that nobody knows is refused, not an error in the log."""

    async def connect(self) -> None:
        await self.close()
