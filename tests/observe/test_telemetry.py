"""Traces reach a real collector when its address is set; without one, nothing is even loaded."""

import json
import signal
import socket
import sys
import time

import pytest

from glossary_site.observe import telemetry
from tests.observe.collector import collector
from tests.observe.programs import environment, python
from tests.site.running import Running, free_port, wait_for

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"
DAPHNE = (sys.executable, "-m", "daphne")


def test_nothing_is_loaded_when_no_collector_is_named(tmp_path):
    """Beyond what the Redis client takes for its own use wherever it finds it installed."""
    finished = python(
        """
def loaded():
    return {name for name in sys.modules if name.startswith(("opentelemetry", "google.protobuf"))}
before = loaded()
from django.test import Client
import glossary_site.asgi
with span("job", kind="x") as this:
    this.set(a=1), this.rename("b"), this.fail("c")
assert Client(headers={"host": "localhost"}).get("/nosuch").status_code == 404
assert loaded() == before
assert "opentelemetry.sdk.trace" not in before
assert "glossary_site.observe.otlp" not in sys.modules
""",
        GLOSSARY_DATA_DIR=str(tmp_path),
        OTEL_EXPORTER_OTLP_ENDPOINT="",
    )
    assert "opentelemetry" not in finished.stderr.lower()


def test_missing_packages_are_one_warning_and_the_work_goes_on():
    finished = python(
        """
sys.modules["opentelemetry"] = None
for _ in range(3):
    with span("job"):
        print("done")
""",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9",
    )
    assert finished.stdout == "done\n" * 3
    [line] = finished.stderr.splitlines()
    assert "WARNING" in line
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in line
    assert telemetry.PACKAGES in line


def test_a_forked_worker_sends_its_spans_as_part_of_the_request():
    code = f"""
def work(carried, which):
    with trace.bound(trace_id=carried, job_run_id=which), span("job " + which, kind="x", none=None):
        try:
            with span("llm call") as this:
                this.set(tokens=12)
                raise ValueError("refused api_key=hunter2")
        except ValueError:
            pass

with trace.bound(trace_id={PARENT!r}), span("request"):
    carried = trace.carried()
    print(trace.current()["span_id"])
fork = multiprocessing.get_context("fork")
children = [fork.Process(target=work, args=(carried, which)) for which in "ab"]
for child in children: child.start()
for child in children: child.join()
with span("command"):
    print(trace.current_trace_id())
"""
    with collector() as kept:
        finished = python(code, OTEL_EXPORTER_OTLP_ENDPOINT=kept.url, OTEL_SERVICE_NAME="terms")
    request_span, command_trace = finished.stdout.split()

    request, first, second = (kept.named(name) for name in ("request", "job a", "job b"))
    assert (request.trace_id, request.parent_id) == (TRACE, SPAN)
    assert request.span_id == request_span
    for job in (first, second):
        assert (job.trace_id, job.parent_id) == (TRACE, request.span_id)
        assert job.attributes == {"kind": "x"}
    assert len({span.resource["process.pid"] for span in (request, first, second)}) == 3
    assert request.resource["service.name"] == "terms"

    calls = [span for span in kept.spans if span.name == "llm call"]
    assert {call.parent_id for call in calls} == {first.span_id, second.span_id}
    assert calls[0].attributes == {"tokens": 12}
    assert calls[0].failed == "ValueError: refused api_key=***"

    # Nobody gave this one a trace: it begins the one that its log lines name.
    command = kept.named("command")
    assert (command.trace_id, command.parent_id) == (command_trace, "")
    assert len(kept.spans) == 6


def test_a_collector_that_is_away_holds_nothing_up():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        began = time.monotonic()
        finished = python(
            "\nwith span('job'): print('done')",
            OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{silent.getsockname()[1]}",
        )
    assert finished.stdout == "done\n"
    assert "Failed to export" in finished.stderr
    assert time.monotonic() - began < 30


@pytest.fixture
def web(tmp_path):
    """A web process that sends to the collector and logs for programs."""
    with collector() as kept:
        port = free_port()
        running = Running(
            [*DAPHNE, "-p", str(port), "-v", "0", "glossary_site.asgi:application"],
            environment(
                GLOSSARY_DATA_DIR=str(tmp_path),
                GLOSSARY_LOG_FORMAT="json",
                OTEL_EXPORTER_OTLP_ENDPOINT=kept.url,
            ),
        )
        try:
            yield running, port, kept
        finally:
            running.end()


def test_a_request_is_a_span_that_its_log_lines_name(web):
    running, port, kept = web

    def answered() -> bool:
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=20)
        except OSError:
            return False
        with connection:
            lines = ("GET /nosuch HTTP/1.1", "Host: localhost", f"traceparent: {PARENT}")
            connection.sendall("\r\n".join((*lines, "Connection: close", "", "")).encode())
            return b" 404 " in connection.recv(100)

    wait_for("an answer", answered)
    running.wait_for_output("GET /nosuch 404")
    running.signal(signal.SIGTERM)
    running.wait()
    [line] = [
        line
        for line in map(json.loads, running.output.splitlines())
        if line["message"] == "GET /nosuch 404"
    ]
    [span] = kept.spans
    assert (span.name, span.trace_id, span.parent_id) == ("GET", TRACE, SPAN)
    assert (line["trace_id"], line["span_id"]) == (TRACE, span.span_id)
    assert span.attributes["http.response.status_code"] == 404
