"""Our client and our queue against a mock server written by others: batches, and faults."""

import json

import openai
import pytest

from glossary_site.llm.choices import ProcessStatus, Strategy
from glossary_site.llm.client import openai_sync_client
from glossary_site.llm.connection import Outcome, test_connection
from glossary_site.llm.services import queue
from tests.llm.working import answers, asking, enqueued, reloaded, work, work_to_end

CHATS = "/v1/chat/completions"


@pytest.fixture
def config(aimock, site_uses):
    return site_uses(aimock.base_url, timeout=10, concurrency=4)


@pytest.fixture
def client(config):
    with openai_sync_client(config) as client:
        yield client


def requests(count):
    return [asking(f"about number {number}") for number in range(count)]


def ask(client):
    messages = [{"role": "user", "content": "about tides"}]
    return client.chat.completions.create(model="small", messages=messages)


def test_a_chat_and_an_embedding(client):
    completion = ask(client)
    assert completion.choices[0].message.content == "A mocked answer."
    assert completion.usage.total_tokens > 0
    answer = client.embeddings.create(model="small", input="about tides")
    assert answer.data[0].embedding == pytest.approx([0.6, 0.8], abs=1e-6)


def test_the_connection_is_found_to_be_good(config):
    report = test_connection(config)
    fine = ("address", "reachable", "key", "answer", "schema", "batches")
    # It answers as any model it is asked for, and lists none of that name: worth a word, no more.
    expected = dict.fromkeys(fine, Outcome.OK) | {"model": Outcome.NOTE}
    assert {step.code: step.outcome for step in report.steps} == expected
    assert report.steps[-1].detail == "The server takes batches."


@pytest.mark.parametrize(
    ("rates", "error"),
    [
        ({"rateLimitRate": 1}, openai.RateLimitError),
        ({"dropRate": 1}, openai.InternalServerError),
        ({"disconnectRate": 1}, openai.APIConnectionError),
        ({"malformedRate": 1}, json.JSONDecodeError),
    ],
)
def test_faults_reach_the_client(aimock, client, rates, error):
    aimock.fault(**rates)
    with pytest.raises(error) as caught:
        ask(client)
    if error is openai.RateLimitError:
        assert float(caught.value.response.headers["retry-after"]) == 1
    aimock.heal()
    assert ask(client).choices


@pytest.mark.django_db
def test_a_batch_goes_from_end_to_end(aimock, config):
    process = work_to_end(enqueued(requests(5), strategy=Strategy.BATCH))
    assert (process.status, process.strategy) == (ProcessStatus.COMPLETED, Strategy.BATCH)
    assert [answer.content for answer in answers(process)] == ["Mock batch completion"] * 5
    assert aimock.requests(CHATS) == []
    assert [r["method"] for r in aimock.requests("/v1/batches")].count("POST") == 1


@pytest.mark.django_db
def test_a_cancelled_process_cancels_its_batch(aimock, config, client):
    process = work(enqueued(requests(2), strategy=Strategy.BATCH))
    assert process.status == ProcessStatus.WAITING
    batch_id = process.batches.get().batch_id
    queue.cancel(process.pk, actor=None)
    if not reloaded(process).ended:
        process = work_to_end(process)
    assert reloaded(process).status == ProcessStatus.CANCELLED
    assert client.batches.retrieve(batch_id).status == "cancelled"


@pytest.mark.django_db
def test_requests_survive_a_server_that_fails_half_of_them(aimock, config, settings):
    settings.LLM_ATTEMPTS = 20
    aimock.fault(dropRate=0.2, disconnectRate=0.2, malformedRate=0.2)
    process = work_to_end(enqueued(requests(20)))
    assert (process.completed, process.failed) == (20, 0)
    assert len(aimock.requests(CHATS)) > 20


@pytest.mark.django_db
def test_passing_troubles_cost_one_more_try_each(aimock, config):
    aimock.fail_next(429)
    aimock.fail_next(503)
    process = work_to_end(enqueued(requests(6)))
    assert (process.completed, process.failed) == (6, 0)
    statuses = [r["response"]["status"] for r in aimock.requests(CHATS)]
    assert sorted(statuses) == [*[200] * 6, 429, 503]
