"""What is seen of a request: its trace id, how long it took, how it ended."""

import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from glossary_site.observe import metrics, telemetry, trace
from glossary_site.observe.telemetry import Role

logger = logging.getLogger("glossary_site.requests")

HEADER = "X-Trace-Id"
SCOPE_KEY = "glossary.trace"
# Asked every few seconds by machines; a line for each would bury the others.
QUIET = ("healthz", "metrics")


def traced(application: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """The ASGI application, each request and socket in its trace from beginning to end: streams
    and sockets go on when the middleware below has long returned."""

    async def run(scope: dict[str, Any], receive: Any, send: Any) -> None:
        header = dict(scope.get("headers", ())).get(b"traceparent", b"")
        scope[SCOPE_KEY] = str(trace.from_header(header.decode("latin-1")))
        with trace.bound(trace_id=scope[SCOPE_KEY]):
            await application(scope, receive, send)

    return run


class ObserveMiddleware:
    # Both, so that one sync link does not put the whole chain into a thread.
    sync_capable = True
    async_capable = True

    def __init__(
        self, get_response: Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]
    ) -> None:
        self.get_response: Callable[[HttpRequest], Any] = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if self.is_async:
            return self._answer(request)
        with watched(request) as answered:
            return answered(self.get_response(request))

    async def _answer(self, request: HttpRequest) -> HttpResponseBase:
        with watched(request) as answered:
            return answered(await self.get_response(request))


@contextmanager
def watched(request: HttpRequest) -> Iterator[Callable[[HttpResponseBase], HttpResponseBase]]:
    """Gives a function to be told of the response, which it signs with the trace id."""
    began = time.perf_counter()
    method = request.method or ""
    about = {"http.request.method": method, "url.path": request.path}
    with (
        trace.bound(trace_id=trace_of(request)),
        telemetry.span(method, role=Role.SERVER, **about) as span,
    ):

        def answered(response: HttpResponseBase) -> HttpResponseBase:
            response.headers[HEADER] = trace.current_trace_id()
            seconds = time.perf_counter() - began
            metrics.count_request(method, response.status_code, seconds)
            if match := request.resolver_match:
                span.rename(f"{method} /{match.route}")
            span.set(**{"http.response.status_code": response.status_code})
            if response.status_code >= 500:
                span.fail(f"HTTP {response.status_code}")
            tell(request, response.status_code, seconds)
            return response

        yield answered


def trace_of(request: HttpRequest) -> str:
    """As `traced` has found it; where the application is not wrapped in it, as the header says."""
    scope: dict[str, Any] = getattr(request, "scope", {})
    return scope.get(SCOPE_KEY) or str(trace.from_header(request.META.get("HTTP_TRACEPARENT", "")))


def tell(request: HttpRequest, status: int, seconds: float) -> None:
    match = request.resolver_match
    quiet = status < 400 and match is not None and match.url_name in QUIET
    logger.log(
        logging.DEBUG if quiet else logging.INFO,
        "%s %s %d",
        request.method,
        # Without the query: it may hold what people look for, and tokens.
        request.path,
        status,
        extra={"status": status, "ms": round(seconds * 1000, 1)},
    )
