"""A websocket client for tests, talking to the real ASGI application in this process."""

import json
from contextlib import asynccontextmanager

from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.test import Client

from glossary_site.asgi import application

HOST = b"127.0.0.1:8000"
OURS = b"http://127.0.0.1:8000"


def cookie_of(user) -> bytes:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    name = settings.SESSION_COOKIE_NAME
    return f"{name}={client.cookies[name].value}".encode()


def socket(project, *, after=None, cookie=None, origin: bytes | None = OURS, token=None, host=HOST):
    headers = [(b"host", host)]
    if origin:
        headers.append((b"origin", origin))
    if cookie:
        headers.append((b"cookie", cookie))
    if token:
        headers.append((b"authorization", f"Bearer {token}".encode()))
    query = "" if after is None else f"?after={after}"
    return WebsocketCommunicator(application, f"/ws/projects/{project.pk}/{query}", headers=headers)


@asynccontextmanager
async def connected(project, user, **options):
    cookie = await database_sync_to_async(cookie_of)(user)
    communicator = socket(project, cookie=cookie, **options)
    accepted, _ = await communicator.connect(timeout=10)
    assert accepted
    try:
        yield communicator
    finally:
        await communicator.disconnect()


async def frame(communicator) -> dict:
    return json.loads(await communicator.receive_from(timeout=10))


async def events(communicator, count: int) -> list[dict]:
    """Exactly this many events, however they are batched into frames."""
    received: list[dict] = []
    while len(received) < count:
        message = await frame(communicator)
        assert message["type"] == "events"
        received += message["events"]
    assert len(received) == count
    return received
