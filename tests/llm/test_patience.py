"""A server that wants to be left alone for a while, by the second or by the hour."""

import time

import pytest

from glossary_site.llm.choices import ProcessStatus
from glossary_site.llm.models import LLMJob
from glossary_site.llm.strategies.wire import retry_after
from tests.llm.working import enqueued, questions, work, work_to_end

pytestmark = pytest.mark.django_db


def test_one_refusal_for_too_many_slows_all_down(provider):
    provider.faults.add("rate_limit", nth=3, retry_after=1)
    began = time.time()
    work_to_end(enqueued(questions(12)))
    refused = next(r for r in provider.requests if r.outcome == "429")
    pause = [r for r in provider.requests if refused.ended_at + 0.1 < r.at < refused.ended_at + 0.9]
    assert pause == []
    assert time.time() - began >= 1


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2", 2.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("", None),
        ("soon", None),
        ("1e18", 86_400.0),
        ("inf", 86_400.0),
        ("Wed, 31 Dec 9999 23:59:59 GMT", 86_400.0),
        ("Wed, 31 Dec 99999999999 23:59:59 GMT", None),
    ],
)
def test_reading_retry_after(text, seconds):
    assert retry_after(text) == seconds


def test_a_date_in_the_past_is_no_wait():
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0


def test_a_long_wait_is_not_spent_in_a_worker(provider):
    provider.faults.add("rate_limit", nth=5, retry_after=3600)
    process = work(enqueued(questions(12)))
    assert process.status == ProcessStatus.WAITING
    assert process.run.due_at.timestamp() - time.time() > 3000
    assert not LLMJob.objects.of(process.pk).in_flight().exists()
    assert work_to_end(process).completed == 12


def test_nobody_is_left_alone_for_ever(provider):
    provider.faults.add("rate_limit", retry_after=1e18)
    process = work(enqueued(questions(3)))
    assert process.status == ProcessStatus.WAITING
    assert process.run.due_at.timestamp() - time.time() < 90_000
