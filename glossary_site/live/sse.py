"""The same feed as server-sent events, for programs and for pages without websockets."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing

from django.http import StreamingHttpResponse

from glossary_site.live.reading import Batch
from glossary_site.live.session import Notice, Reader, Snapshot, session

RETRY_MILLISECONDS = 2000
ALIVE = ": alive\n\n"
ACCESS_LOST = "event: access_lost\ndata: {}\n\n"


def event_stream(reader: Reader) -> StreamingHttpResponse:
    async def body() -> AsyncIterator[str]:
        yield f"retry: {RETRY_MILLISECONDS}\n\n"
        async with aclosing(session(reader)) as messages:
            async for message in messages:
                yield text_of(message)

    response = StreamingHttpResponse(body(), content_type="text/event-stream")
    response["Cache-Control"] = "no-cache"
    response["X-Accel-Buffering"] = "no"
    return response


def text_of(message: Snapshot | Batch | Notice) -> str:
    if isinstance(message, Batch):
        return message.sse
    if isinstance(message, Snapshot):
        data = json.dumps({"number": message.number, **message.picture}, ensure_ascii=False)
        return f"id: {message.number}\nevent: snapshot\ndata: {data}\n\n"
    return ALIVE if message is Notice.ALIVE else ACCESS_LOST
