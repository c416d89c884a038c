"""What people are told while nobody is answered."""

import socket
import threading
import time
from typing import ClassVar

import pytest

from glossary_site.jobs.errors import Stop, Stopped
from glossary_site.jobs.models import JobLog
from glossary_site.llm.models import LLMProcess
from glossary_site.llm.services import queue
from glossary_site.llm.strategies.outages import Outage, Teller
from tests.llm.working import enqueued, questions, reloaded, session_for, work

pytestmark = pytest.mark.django_db

AWAY = "The language model does not answer yet. It is asked again and again."
BACK = "The language model answers again."


@pytest.fixture
def provider(provider, settings):
    """As patient as it is by default, or nearly so."""
    settings.LLM_BACKOFF_SECONDS = 0.5
    return provider


def told(process: LLMProcess) -> list[str]:
    lines = JobLog.objects.filter(run=reloaded(process).run).exclude(level="error")
    return list(lines.order_by("pk").values_list("message", flat=True))


def after(seconds: float, do, *arguments) -> None:
    threading.Timer(seconds, do, arguments).start()


def test_it_is_told_early_and_once_and_when_it_is_over(provider):
    provider.faults.add("unavailable")
    after(2, provider.faults.clear)
    process = work(enqueued(questions(8)))
    assert process.completed == 8
    away, back = told(process)
    assert away.startswith(AWAY)
    assert "503: The engine is currently overloaded" in away
    assert back == BACK
    assert JobLog.objects.filter(run=process.run).earliest("pk").level == "warning"


def test_so_it_is_where_nobody_listens(provider, settings):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    settings.LLM = {**settings.LLM, "base_url": f"http://127.0.0.1:{port}/v1"}
    settings.LLM_ATTEMPTS = 3
    process = enqueued(questions(8))
    session = session_for(process)
    queue.execute(process.pk, session)
    (away,) = told(process)
    assert away.startswith(AWAY)
    assert "refuses the connection" in away


def test_one_that_lasts_longer_than_a_turn_is_told_once_and_its_end_too(provider, settings):
    settings.LLM_ATTEMPTS = 3
    provider.faults.add("unavailable")
    process = enqueued(questions(8))
    lines = []
    for _ in range(2):
        run = process.run
        process = work(process)
        lines += JobLog.objects.filter(run=run).values_list("message", flat=True)
    assert [line.startswith(AWAY) for line in lines] == [True]
    provider.faults.clear()
    process = work(process)
    assert process.completed == 8
    assert told(process) == [BACK]


def test_a_server_that_hangs_is_told_of_when_the_first_have_waited_in_vain(provider, settings):
    settings.LLM = {**settings.LLM, "timeout": 1}
    provider.faults.add("hang", times=4)
    process = work(enqueued(questions(4)))
    away, back = told(process)
    assert "1 second" in away
    assert back == BACK


def test_one_that_asks_one_at_a_time_is_told_too(provider, settings):
    settings.LLM = {**settings.LLM, "concurrency": 1}
    provider.faults.add("unavailable")
    after(2, provider.faults.clear)
    process = work(enqueued(questions(3)))
    assert [line.startswith(AWAY) for line in told(process)] == [True, False]


def test_one_that_fails_among_many_is_no_outage(provider, settings):
    settings.LLM_ATTEMPTS = 4
    provider.faults.add("server_error", match="question 2")
    process = work(enqueued(questions(12)))
    assert (process.completed, process.failed) == (11, 1)
    assert told(process) == []


def test_a_hiccup_of_all_is_not_worth_a_line(provider):
    provider.faults.add("server_error", times=4)
    process = work(enqueued(questions(8)))
    assert process.completed == 8
    assert told(process) == []


def test_who_comes_and_goes_is_told_of_less_and_less():
    class Session:
        lines: ClassVar[list[str]] = []

        def log(self, message, level="info"):
            self.lines.append(level)

    teller = Teller(Session(), concurrency=4, told=False)
    for seconds in (1.1, 1.1, 2.1, 2.1, 4.1):
        teller.look(Outage(time.monotonic() - seconds, "why", calls=4), heard=True)
        teller.look(None, heard=True)
    assert Session.lines == ["warning", "info"] * 3


def test_a_cancellation_is_heard_at_once_during_it(provider):
    provider.faults.add("unavailable")
    process = enqueued(questions(8))
    session = session_for(process)
    after(1.7, session.stop, Stop.CANCELED)
    began = time.monotonic()
    with pytest.raises(Stopped):
        queue.execute(process.pk, session)
    assert time.monotonic() - began < 3.7
    assert len(told(process)) == 1
