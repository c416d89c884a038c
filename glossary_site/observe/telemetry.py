"""Spans for a collector, when `OTEL_EXPORTER_OTLP_ENDPOINT` names one; nothing at all when not.

    with span("job", kind=run.kind, job_run_id=run.pk) as this:
        ...
        this.set(requests=12)

OpenTelemetry is an extra of its own (`otel`), loaded at the first span and not before.
"""

import logging
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Protocol

from django.conf import settings

logger = logging.getLogger(__name__)

OTLP = "glossary_site.observe.otlp"
PACKAGES = "opentelemetry-sdk opentelemetry-exporter-otlp-proto-http"


class Role(StrEnum):
    """What a span is to its neighbours, in OpenTelemetry's names."""

    INTERNAL = "INTERNAL"
    SERVER = "SERVER"  # somebody waits for our answer
    CLIENT = "CLIENT"  # we wait for somebody's
    CONSUMER = "CONSUMER"  # it was put into a queue for us


class Span(Protocol):
    def set(self, **attributes: Any) -> None:
        """Say more about it. None says nothing."""

    def rename(self, name: str) -> None:
        """A better name, once it is known."""

    def fail(self, reason: str) -> None:
        """It went wrong, though no exception will tell."""


class NoSpan:
    """Nobody listens."""

    def set(self, **attributes: Any) -> None:
        return

    def rename(self, name: str) -> None:
        return

    def fail(self, reason: str) -> None:
        return


NO_SPAN = NoSpan()


def span(
    name: str, /, *, role: Role = Role.INTERNAL, **attributes: Any
) -> AbstractContextManager[Span]:
    """A piece of work as traces show it: how long it took, what it was part of, how it ended."""
    if settings.OTEL_ENDPOINT and (otlp := _otlp()):
        opened: AbstractContextManager[Span] = otlp.span(name, role=role, attributes=attributes)
        return opened
    return nullcontext(NO_SPAN)


@cache
def _otlp() -> ModuleType | None:
    try:
        return import_module(OTLP)
    except ImportError as error:
        logger.warning(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, but no traces are sent: %s. "
            "Install what it needs: pip install %s",
            error,
            PACKAGES,
        )
        return None
