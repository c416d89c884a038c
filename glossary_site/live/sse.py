"""The same feed as server-sent events, for programs and for pages without websockets."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

from django.http import StreamingHttpResponse

from glossary_site.live import reading
from glossary_site.live.access import Gate
from glossary_site.live.consumer import KEEPALIVE_SECONDS
from glossary_site.live.hub import follow, hub

RETRY_MILLISECONDS = 2000


def event_stream(
    stream: str,
    *,
    after: int | None,
    allowed: Callable[[], bool],
    snapshot: Callable[[], dict[str, Any]],
    access_events: frozenset[str],
) -> StreamingHttpResponse:
    """`allowed` is asked again whenever access may have changed; its no ends the stream."""

    async def body() -> AsyncIterator[str]:
        gate = Gate(allowed, access_events, KEEPALIVE_SECONDS)
        yield f"retry: {RETRY_MILLISECONDS}\n\n"
        position = await hub().read(reading.position, stream)
        start = position.last
        if after is not None and position.pruned <= after <= position.last:
            start = after
        else:
            picture = {"number": start, **await hub().read(snapshot)}
            data = json.dumps(picture, ensure_ascii=False)
            yield f"id: {start}\nevent: snapshot\ndata: {data}\n\n"
        async with aclosing(follow(stream, start, KEEPALIVE_SECONDS)) as batches:
            async for batch in batches:
                if not await gate.opens_for(batch):
                    yield "event: access_lost\ndata: {}\n\n"
                    return
                yield ": alive\n\n" if batch is None else batch.sse

    response = StreamingHttpResponse(body(), content_type="text/event-stream")
    response["Cache-Control"] = "no-cache"
    response["X-Accel-Buffering"] = "no"
    return response
