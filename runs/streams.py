"""The log of a run as server-sent events: all of it from the beginning, then what comes, then
`complete`.

The rows are the log. The project's feed only says when to look at them, and nobody looks otherwise
than that and at every sign of life.
"""

import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from django.http import StreamingHttpResponse

from glossary_site.live import session as live
from glossary_site.live.hub import hub
from glossary_site.live.reading import Batch
from glossary_site.live.sse import ACCESS_LOST, ALIVE, RETRY_MILLISECONDS
from projects import feed
from runs.choices import ENDED
from runs.models import Run, RunLog
from runs.services.logs import as_told

PAGE = 500


@dataclass(frozen=True)
class LogPage:
    """Lines of a run's log after a number, and how the run was before they were read."""

    run_id: int
    lines: list[dict[str, Any]]
    # The run's status when it had ended, else empty.
    ended: str
    # The number of its newest line; more lines may have come since.
    last: int
    full: bool

    @property
    def is_last(self) -> bool:
        return bool(self.ended) and not self.full


def log_page(run_id: int, after: int, limit: int = PAGE) -> LogPage | None:
    """None when there is no such run any more."""
    # The status first: whatever was written before the run ended is then among the lines.
    found = Run.objects.filter(pk=run_id).values_list("status", "log_count").first()
    if found is None:
        return None
    status, last = found
    rows = RunLog.objects.filter(run_id=run_id, number__gt=after).order_by("number")
    lines = [as_told(row) for row in rows.defer("traceback")[:limit]]
    ended = status if status in ENDED else ""
    return LogPage(run_id, lines, ended, last, full=len(lines) == limit)


def text_of(line: dict[str, Any]) -> str:
    return f"id: {line['number']}\ndata: {json.dumps(line, ensure_ascii=False)}\n\n"


def complete(page: LogPage) -> str:
    data = json.dumps({"run_id": page.run_id, "status": page.ended})
    return f"event: complete\ndata: {data}\n\n"


def log_stream(run: Run, *, after: int, allowed: Callable[[], bool]) -> StreamingHttpResponse:
    run_id = run.pk
    reader = live.Reader(
        stream=run.project.stream,
        # From now on: what was before is in the rows.
        after=None,
        allowed=allowed,
        snapshot=dict,
        access_events=feed.ACCESS_EVENTS,
    )

    async def body() -> AsyncIterator[str]:
        yield f"retry: {RETRY_MILLISECONDS}\n\n"
        seen = after
        spoke = time.monotonic()
        async with aclosing(live.session(reader)) as messages:
            async for message in messages:
                if message is live.Notice.ACCESS_LOST:
                    yield ACCESS_LOST
                    return
                # The feed may be busy with others, or with a progress that adds no line: this
                # stream is quiet all the same.
                silent = time.monotonic() - spoke >= live.KEEPALIVE_SECONDS
                if silent or message is live.Notice.ALIVE:
                    yield ALIVE
                    spoke = time.monotonic()
                elif isinstance(message, Batch) and not concerns(message, run_id):
                    continue
                page = None
                while page is None or page.full:
                    page = await hub().read(log_page, run_id, seen)
                    if page is None:
                        yield ACCESS_LOST
                        return
                    if page.lines:
                        seen = page.lines[-1]["number"]
                        yield "".join(map(text_of, page.lines))
                        spoke = time.monotonic()
                    if page.is_last:
                        yield complete(page)
                        return

    response = StreamingHttpResponse(body(), content_type="text/event-stream")
    response["Cache-Control"] = "no-cache"
    response["X-Accel-Buffering"] = "no"
    return response


def concerns(batch: Batch, run_id: int) -> bool:
    return any(
        event["type"].startswith("run.") and event["payload"].get("run_id") == run_id
        for event in batch.events
    )
