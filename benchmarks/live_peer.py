"""The peer: the usual Channels way, a Redis channel layer with one group_send an event."""

import json
import os

from channels.generic.websocket import AsyncWebsocketConsumer
from channels.routing import ProtocolTypeRouter
from channels_redis.core import RedisChannelLayer
from django.conf import settings

GROUP = "bench"
OPTIONS = {
    # As good as it gets: redis-py 8 ends an idle consumer after five seconds unless told not to,
    # and its pool is too small for 500 clients.
    "hosts": [
        {
            "address": os.environ.get("REDIS_URL", ""),
            "socket_timeout": None,
            "max_connections": 5000,
        }
    ],
    "capacity": 5000,
}
LAYER = {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": OPTIONS}


def layer() -> RedisChannelLayer:
    return RedisChannelLayer(**OPTIONS)


class Consumer(AsyncWebsocketConsumer):
    groups = [GROUP]

    async def connect(self) -> None:
        await self.accept()
        await self.send(json.dumps({"type": "snapshot", "number": 0}))

    async def tick(self, message: dict) -> None:
        event = {"type": "bench.tick", "number": 0, "payload": message["payload"]}
        await self.send(json.dumps({"type": "events", "events": [event]}))


async def healthz(scope, receive, send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})


if not settings.configured:
    settings.configure(CHANNEL_LAYERS={"default": LAYER})
application = ProtocolTypeRouter({"http": healthz, "websocket": Consumer.as_asgi()})
