"""A project's feed: read what happened, or listen to what happens."""

from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from glossary_site.api.schema import operation
from glossary_site.live import reading
from glossary_site.live.identity import user_of
from glossary_site.live.session import Reader
from glossary_site.live.sse import event_stream
from glossary_site.numbers import number_in
from projects import feed
from projects.api.base import ProjectView
from projects.api.serializers import (
    AfterQuerySerializer,
    EventsQuerySerializer,
    EventsSerializer,
)

TAG = "events"
LAST_EVENT_ID = "Last-Event-ID"


class EventList(ProjectView):
    @operation(
        "events_list",
        tag=TAG,
        summary="What happened after the last event you have seen",
        parameters=[EventsQuerySerializer],
        responses={200: EventsSerializer},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        stream = self.project().stream
        query = self.query(EventsQuerySerializer)
        limit = min(query["limit"], reading.PAGE)
        events = reading.events_after(stream, query.get("after", 0), limit)
        # Asked second: whatever was pruned before the events were read is then known as pruned.
        position = reading.position(stream)
        return Response({"events": events, "last": position.last, "pruned": position.pruned})


class EventStream(ProjectView):
    """A plain view returns at once; the answer itself is then sent without holding a thread."""

    @operation(
        "events_stream",
        tag=TAG,
        summary="The same events as they happen, as server-sent events",
        description=(
            "First a `snapshot` event, unless `after` (or the header `Last-Event-ID`, which "
            "browsers send when they reconnect) names an event that can be continued from. Then "
            "every event with its number as `id`. The stream ends with `access_lost` when you are "
            "no longer a member."
        ),
        parameters=[
            AfterQuerySerializer,
            OpenApiParameter(LAST_EVENT_ID, OpenApiTypes.INT, OpenApiParameter.HEADER),
        ],
        responses={(200, "text/event-stream"): OpenApiTypes.STR},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> StreamingHttpResponse:
        project = self.project()
        after = self.query(AfterQuerySerializer).get("after")
        seen = number_in(request.headers.get(LAST_EVENT_ID, ""))
        who = credentials_of(request)
        return event_stream(
            Reader(
                stream=project.stream,
                # A reconnecting browser repeats the old address: its header is the newer news.
                after=after if seen is None else seen,
                allowed=lambda: feed.may_read(user_of(who), project.pk),
                snapshot=lambda: feed.snapshot(project.pk),
                access_events=feed.ACCESS_EVENTS,
            )
        )


def credentials_of(request: Request) -> dict[str, Any]:
    """What the request proved its sender with, to be looked at again while the stream is open."""
    return {
        "headers": [
            (name, request.META.get(key, "").encode("latin-1", "replace"))
            for name, key in ((b"authorization", "HTTP_AUTHORIZATION"), (b"cookie", "HTTP_COOKIE"))
        ]
    }
