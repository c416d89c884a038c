"""Where we are: the trace that this work belongs to, and what else its log lines should say.

A trace id begins at a request and goes with everything the request causes: `enqueue` keeps
`carried()` in the row of the job, and the worker takes it up again.

    with bound(trace_id=run.trace_id, job_run_id=run.pk, worker=name):
        ...                                # every line logged in here says so
        pool.submit(in_context(step), ...)  # and in threads that are started in here
"""

import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# Longest text that `carried()` gives.
CARRIED_LENGTH = 55
SAMPLED = "01"
# https://www.w3.org/TR/trace-context: no id is all zeros, no version is ff, and a later
# version may add parts after the four of today.
TRACEPARENT = re.compile(
    r"(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.A
)
TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}", re.A)


class Place(NamedTuple):
    """A place in a trace: the innermost span known, which may be one of a program that called."""

    trace_id: str
    span_id: str = ""
    flags: str = SAMPLED

    def __str__(self) -> str:
        if not self.span_id:
            return self.trace_id
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"


class Here(NamedTuple):
    fields: dict[str, Any]
    place: Place | None


NOWHERE = Here({}, None)
_here: ContextVar[Here] = ContextVar("glossary_here", default=NOWHERE)


def new_trace_id() -> str:
    return secrets.token_hex(16)


def from_header(traceparent: str) -> Place:
    """Where a request comes from: the caller's trace, or else the beginning of one."""
    return _caller(traceparent) or Place(new_trace_id())


def _caller(traceparent: str) -> Place | None:
    match = TRACEPARENT.fullmatch(traceparent)
    if match is None:
        return None
    version, trace_id, span_id, flags, more = match.groups()
    return None if version == "00" and more else Place(trace_id, span_id, flags)


def _carried(text: str) -> Place | None:
    return Place(text) if TRACE_ID.fullmatch(text) else _caller(text)


@contextmanager
def bound(*, trace_id: str = "", **fields: Any) -> Iterator[None]:
    """Say this in every log line until the end. `trace_id` is a trace id or a `traceparent`; an
    empty or wrong one leaves us in the trace we are in. A field that is None says nothing."""
    outer = _here.get()
    said = {name: value for name, value in fields.items() if value is not None}
    token = _here.set(Here({**outer.fields, **said}, _carried(trace_id) or outer.place))
    try:
        yield
    finally:
        _here.reset(token)


def current() -> dict[str, Any]:
    """What is bound now, the place in the trace included."""
    fields, place = _here.get()
    if place is None:
        return dict(fields)
    where = {"trace_id": place.trace_id}
    if place.span_id:
        where["span_id"] = place.span_id
    return {**where, **fields}


def place() -> Place:
    """Where we are. Work that nobody gave a trace, such as a command, begins one here."""
    fields, known = _here.get()
    if known is None:
        known = Place(new_trace_id())
        _here.set(Here(fields, known))
    return known


def current_trace_id() -> str:
    return place().trace_id


def carried() -> str:
    """What to keep beside work that is done later, elsewhere: `bound(trace_id=…)` takes it up."""
    return str(place())


def id_of(carried: str) -> str:
    """The trace id in what was carried, for people who look for it in the log."""
    known = _carried(carried)
    return known.trace_id if known else ""


def in_context(function: Callable[P, R]) -> Callable[P, R]:
    """The function for another thread, with what is bound here and now."""
    context = copy_context()

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        # A copy for each call: two threads cannot be in one context at a time.
        return context.copy().run(function, *args, **kwargs)

    return run
