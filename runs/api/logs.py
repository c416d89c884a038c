"""The log of a run: listened to, or read in pages."""

from django.http import Http404
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from glossary_site.api.schema import operation
from glossary_site.live.identity import user_of
from glossary_site.numbers import number_in
from projects import feed
from projects.api.events import LAST_EVENT_ID, credentials_of
from runs.api.base import NO_SUCH_RUN, TAG, RunView
from runs.api.serializers import RunLogQuerySerializer, RunLogSerializer
from runs.streams import PAGE, log_page, log_stream

EVENT_STREAM = "text/event-stream"
JSON = "application/json"


class RunLogs(RunView):
    """A plain view returns at once; the answer itself is then sent without holding a thread."""

    @operation(
        "runs_logs",
        tag=TAG,
        summary="The log of a run, as server-sent events or in pages",
        description=(
            "Every line from the beginning, or after the number in `after` (or in the header "
            "`Last-Event-ID`, which browsers send when they reconnect), then those that come, each "
            "with its number as `id`. The stream ends with the event `complete` when the run has "
            "ended, or with `access_lost` when you are no longer a member. "
            "With `Accept: application/json`, or `format=json`: one page of lines, at once."
        ),
        parameters=[
            RunLogQuerySerializer,
            OpenApiParameter(LAST_EVENT_ID, OpenApiTypes.INT, OpenApiParameter.HEADER),
        ],
        responses={(200, EVENT_STREAM): OpenApiTypes.STR, (200, JSON): RunLogSerializer},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int, run_id: int) -> HttpResponseBase:
        run = self.run()
        query = self.query(RunLogQuerySerializer)
        after = query.get("after", 0)
        if wants_json(request, query.get("format")):
            page = log_page(run.pk, after, min(query["limit"], PAGE))
            if page is None:
                raise Http404(NO_SUCH_RUN)
            told = {"lines": page.lines, "last": page.last, "complete": page.is_last}
            return Response(RunLogSerializer(told).data)
        seen = number_in(request.headers.get(LAST_EVENT_ID, ""))
        who = credentials_of(request)
        return log_stream(
            run,
            # A reconnecting browser repeats the old address: its header is the newer news.
            after=after if seen is None else seen,
            allowed=lambda: feed.may_read(user_of(who), project_id),
        )


def wants_json(request: Request, format: str | None) -> bool:
    """Whoever asks for nothing in particular gets the stream."""
    if format is not None:
        return format == "json"
    accepted = request.headers.get("Accept", "").lower()
    return JSON in accepted and EVENT_STREAM not in accepted
