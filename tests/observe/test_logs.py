"""A log line says what happened and where, on one line, and never gives a secret away."""

import json
import logging
import sys
import time
import uuid

import pytest

from glossary_site.observe.logs import BrieflyRefused, JsonLines, TextLines
from glossary_site.observe.masking import mask
from glossary_site.observe.trace import bound
from tests.observe.programs import python

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def record(message="Done", *args, level=logging.INFO, exc_info=None, **extra):
    made = logging.LogRecord("some.logger", level, __file__, 1, message, args, exc_info)
    vars(made).update(extra)
    return made


def json_line(*args, **kwargs):
    text = JsonLines().format(record(*args, **kwargs))
    assert "\n" not in text
    return json.loads(text)


def failure():
    try:
        raise ValueError("no luck\nwith api_key=hunter2")
    except ValueError:
        return sys.exc_info()


def test_a_json_line_has_the_fields_that_programs_look_for():
    line = json_line("用語 %d", 3)
    assert line.pop("time")[-1] == "Z"
    assert line.pop("pid") > 0
    line = {name: line[name] for name in ("level", "logger", "message")}
    assert line == {"level": "INFO", "logger": "some.logger", "message": "用語 3"}
    assert "用語" in JsonLines().format(record("用語"))


def test_it_says_what_is_bound():
    process = uuid.uuid4()
    with bound(trace_id=TRACE, job_run_id=7, worker="w1", process_id=process):
        line = json_line()
    expected = {"trace_id": TRACE, "job_run_id": 7, "worker": "w1", "process_id": str(process)}
    assert expected.items() <= line.items()


def test_an_exception_is_a_field():
    line = json_line(exc_info=failure(), level=logging.ERROR)
    assert line["exception"].startswith("Traceback")
    assert "ValueError: no luck\n" in line["exception"]
    assert "hunter2" not in line["exception"]


def test_plain_extras_are_said_and_objects_are_not():
    line = json_line(status=200, ms=1.5, request=object(), level_name="x", time="now")
    assert (line["status"], line["ms"]) == (200, 1.5)
    assert "request" not in line
    assert line["time"] != "now"


def test_a_readable_line_ends_with_what_is_bound():
    with bound(trace_id=TRACE, job_run_id=7):
        text = TextLines().format(record("Done", exc_info=failure(), worker="w1"))
    first, second, *_ = text.splitlines()
    assert first.endswith("INFO    some.logger: Done [trace_id=4bf92f35 job_run_id=7 worker=w1]")
    assert second.startswith("Traceback")
    assert "hunter2" not in text


@pytest.mark.parametrize(("status", "shown"), [(403, False), (499, False), (500, True)])
def test_a_refused_request_is_one_line(status, shown):
    line = record("Forbidden: /admin/", exc_info=failure(), status_code=status)
    assert BrieflyRefused().filter(line)
    assert ("Traceback" in TextLines().format(line)) == shown


def test_the_site_says_of_a_refused_request_one_line():
    said = python(
        """
from types import SimpleNamespace
from django.core.exceptions import PermissionDenied
from django.utils.log import log_response
for status in (403, 500):
    answer = SimpleNamespace(status_code=status)
    log_response("Answered", response=answer, exception=PermissionDenied("no"))
"""
    ).stderr
    refused, *failed = said.splitlines()
    assert "WARNING django.request: Answered" in refused
    assert "ERROR   django.request: Answered" in failed[0]
    assert failed[-1].endswith("PermissionDenied: no")


def test_a_failure_of_our_own_keeps_its_traceback():
    line = record("Failed", exc_info=failure())
    assert BrieflyRefused().filter(line)
    assert "Traceback" in TextLines().format(line)


def test_a_line_without_context_stays_short():
    with bound():
        text = TextLines().format(record("Done"))
    assert "some.logger: Done" in text


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer hunter2-hunter2",
        "Authorization: Basic hunter2==",
        "authorization=hunter2",
        "{'Authorization': 'Token hunter2 and more'}",
        '{"authorization": "Bearer hunter2"}',
        "(b'authorization', b'Bearer hunter2')",
        "sent with bearer hunter2.and-more",
        "Cookie: sessionid=hunter2; csrftoken=hunter2",
        "api_key=hunter2&model=x",
        "OPENAI_API_KEY=hunter2",
        "OpenAI(api_key='hunter2 with spaces')",
        '{"api-key": "hunter2"}',
        r"{\"api_key\": \"hunter2\"}",
        "X-Api-Key: hunter2",
        "https://host/path?key=hunter2&x=1",
        "postgres://glossary:hunter2@db/glossary",
        "redis://:hunter2@cache:6379/0",
        "password: hunter2",
        "GLOSSARY_SECRET_KEY=hunter2",
        "GLOSSARY_METRICS_TOKEN=hunter2",
        "refused key sk-hunter2hunter2",
        "refused key sk-proj-hunter2_hunter2",
        "token gls_hunter2hunter2",
    ],
)
def test_no_secret_is_written_down(text):
    masked = mask(text)
    assert "hunter2" not in masked
    assert "***" in masked
    for line in (
        JsonLines().format(record(text)),
        JsonLines().format(record("Refused: %s", text)),
        JsonLines().format(record("Refused", why=text)),
        TextLines().format(record("Refused: %s", text, why=text)),
    ):
        assert "hunter2" not in line


def test_an_extra_named_like_a_secret_is_one():
    assert json_line(openai_api_key="hunter2")["openai_api_key"] == "***"


@pytest.mark.parametrize(
    "text",
    [
        "Used 512 tokens, max_tokens=100, token_count: 3",
        "The password was changed",
        "task-processing-long of disk-usage",
        "http://127.0.0.1:8000/projects/7?page=2",
        "Authorized by the bearer",
        "keys: a, b",
        "mail someone@example.org:25",
    ],
)
def test_what_is_no_secret_stays_readable(text):
    assert mask(text) == text


@pytest.mark.parametrize(
    "piece",
    ["a-", "api_key", "a_a", "://", "://a:", "authorization:", "sk-", "'", '\\"', "bearer "],
)
def test_a_long_line_costs_no_more_than_its_length(piece):
    began = time.process_time()
    mask(piece * 50_000)
    assert time.process_time() - began < 5


LOG = """
import logging
logging.getLogger("glossary_site.x").info("Ready")
logging.getLogger("django.request").warning("Gone")
"""


@pytest.mark.parametrize(
    ("variables", "is_json"),
    [
        ({"GLOSSARY_PRODUCTION": "true"}, True),
        # Where Django by itself would write a second line.
        ({"GLOSSARY_LOG_FORMAT": "json", "GLOSSARY_DEBUG": "true"}, True),
        ({"GLOSSARY_PRODUCTION": "true", "GLOSSARY_LOG_FORMAT": "text"}, False),
    ],
)
def test_the_form_follows_the_mode_unless_it_is_chosen(variables, is_json):
    first, second = python(LOG, **variables).stderr.splitlines()
    if is_json:
        assert [json.loads(line)["message"] for line in (first, second)] == ["Ready", "Gone"]
    else:
        assert first.endswith("INFO    glossary_site.x: Ready")
        assert second.endswith("WARNING django.request: Gone")
