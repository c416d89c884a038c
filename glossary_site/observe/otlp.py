"""Spans by OpenTelemetry, sent to the collector over HTTP. `telemetry.py` loads it when wanted."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.util import Finalize
from typing import Any

from django.conf import settings
from opentelemetry import trace as otel
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

from glossary_site.observe import trace
from glossary_site.observe.masking import mask

SCOPE = "glossary_site"
# A process that ends sends what it has first; a collector that is away must not hold it up.
EXPORT_SECONDS = 2.0


class OurTraceIds(RandomIdGenerator):
    """A span without a parent begins in the trace that our log lines name."""

    def generate_trace_id(self) -> int:
        return int(trace.current_trace_id(), 16)


class Exporting:
    """The way to the collector of one process: thread and connection do not survive a fork."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        provider = TracerProvider(
            id_generator=OurTraceIds(),
            resource=Resource.create(
                {"service.name": settings.OTEL_SERVICE_NAME, "process.pid": self.pid}
            ),
            shutdown_on_exit=False,
        )
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=EXPORT_SECONDS)))
        self.tracer = provider.get_tracer(SCOPE)
        # Unlike atexit, this is also run at the end of a process that multiprocessing forked.
        Finalize(None, provider.shutdown, exitpriority=10)


_exporting: Exporting | None = None


def _tracer() -> otel.Tracer:
    """Made at the first span of a process, so that a forked worker has one of its own. Two threads
    that come first at once make two, of which one is used from then on: no harm, and no lock that
    a fork could leave locked."""
    global _exporting
    if _exporting is None or _exporting.pid != os.getpid():
        _exporting = Exporting()
    return _exporting.tracer


class OpenSpan:
    def __init__(self, span: otel.Span) -> None:
        self._span = span

    def set(self, **attributes: Any) -> None:
        self._span.set_attributes(_plain(attributes))

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def fail(self, reason: str) -> None:
        self._span.set_status(otel.StatusCode.ERROR, mask(reason))


@contextmanager
def span(name: str, *, role: str, attributes: Mapping[str, Any]) -> Iterator[OpenSpan]:
    opened = _tracer().start_span(
        name, context=_parent(), kind=otel.SpanKind[role], attributes=_plain(attributes)
    )
    ours = OpenSpan(opened)
    context = opened.get_span_context()
    place = trace.Place(
        otel.format_trace_id(context.trace_id),
        otel.format_span_id(context.span_id),
        f"{context.trace_flags:02x}",
    )
    # Exceptions are told by us, without the secrets that their texts may hold.
    with (
        otel.use_span(
            opened, end_on_exit=True, record_exception=False, set_status_on_exception=False
        ),
        trace.bound(trace_id=str(place)),
    ):
        try:
            yield ours
        except BaseException as error:
            ours.fail(f"{type(error).__name__}: {error}")
            raise


def _parent() -> Context:
    """The span we are in, which may be one of another process or program."""
    place = trace.place()
    here = otel.get_current_span()
    if not place.span_id:
        return otel.set_span_in_context(otel.INVALID_SPAN)
    if otel.format_span_id(here.get_span_context().span_id) == place.span_id:
        return otel.set_span_in_context(here)
    far = otel.SpanContext(
        trace_id=int(place.trace_id, 16),
        span_id=int(place.span_id, 16),
        is_remote=True,
        trace_flags=otel.TraceFlags(int(place.flags, 16)),
    )
    return otel.set_span_in_context(otel.NonRecordingSpan(far))


def _plain(attributes: Mapping[str, Any]) -> dict[str, str | int | float | bool]:
    return {
        name: value if isinstance(value, (int, float)) else mask(str(value))
        for name, value in attributes.items()
        if value is not None
    }
