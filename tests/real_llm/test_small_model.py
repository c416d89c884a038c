"""Our client and our queue against llama.cpp with a real model.

What it says is poor, and no test looks at it; how it is asked and how it answers is what counts.
"""

import asyncio

import openai
import pytest

from glossary_site.llm.choices import Notice, ProcessStatus, Strategy
from glossary_site.llm.client import openai_client, openai_sync_client
from glossary_site.llm.connection import Outcome, test_connection
from glossary_site.llm.models import LLMJob
from glossary_site.llm.services import queue
from tests.llm.working import answers, asking, enqueued, work_to_end

# A busy machine makes a token or two in a second.
pytestmark = pytest.mark.timeout(300)

SCHEMA = {
    "type": "object",
    "properties": {
        "term": {"type": "string", "maxLength": 20},
        "kind": {"enum": ["noun", "verb"]},
    },
    "required": ["term", "kind"],
    "additionalProperties": False,
}


@pytest.fixture
def config(small_model, site_uses):
    return site_uses(small_model, timeout=240, concurrency=2)


def question(text):
    return {"model": "small", "messages": [{"role": "user", "content": text}]}


async def test_the_client_asks_several_things_at_once(config):
    async with openai_client(config) as client:
        completions = await asyncio.gather(
            *(
                client.chat.completions.create(**question(text), max_tokens=8)
                for text in ("Say yes.", "はい、と言ってください。")
            )
        )
    for completion in completions:
        assert completion.choices[0].message.content
        assert completion.usage.prompt_tokens > 5
        assert 0 < completion.usage.completion_tokens <= 8


def test_embeddings(config):
    with openai_sync_client(config) as client:
        answer = client.embeddings.create(model="small", input=["a harbour", "港"])
    first, second = (item.embedding for item in answer.data)
    assert len(first) == len(second) > 100
    assert first != second


def test_it_has_no_batches(config):
    with openai_sync_client(config) as client:
        with pytest.raises(openai.NotFoundError):
            client.files.create(file=("in.jsonl", b"{}"), purpose="batch")
        with pytest.raises(openai.NotFoundError):
            client.batches.list()


def test_the_connection_is_found_to_be_good(config):
    report = test_connection(config)
    assert {step.code: step.outcome for step in report.steps} == dict.fromkeys(
        ("address", "reachable", "key", "model", "answer", "schema", "batches"), Outcome.OK
    )


@pytest.mark.django_db
def test_the_queue_has_its_requests_answered_and_asks_nothing_twice(config):
    requests = [
        asking("What is a harbour?", max_tokens=12),
        asking("港とは何ですか。", max_tokens=12),
        asking("Define the word harbour.", schema=SCHEMA, max_tokens=150),
    ]
    process = work_to_end(enqueued(requests))
    assert (process.status, process.completed, process.failed) == (ProcessStatus.COMPLETED, 3, 0)
    english, japanese, structured = answers(process)
    assert english.content
    assert japanese.content
    assert set(structured.data) == {"term", "kind"}
    assert structured.data["kind"] in {"noun", "verb"}
    assert process.input_tokens > 10
    assert process.output_tokens > 10

    again = work_to_end(enqueued(requests))
    assert (again.served, again.output_tokens) == (3, 0)
    assert [answer.content for answer in answers(again)] == [
        answer.content for answer in (english, japanese, structured)
    ]
    with queue.consume(process.pk), queue.consume(again.pk):
        pass
    assert not LLMJob.objects.exists()


@pytest.mark.django_db
def test_a_wish_for_batches_falls_back_and_says_so(config):
    process = work_to_end(
        enqueued([asking("Say yes.", max_tokens=8)], strategy=Strategy.BATCH),
    )
    assert (process.status, process.completed) == (ProcessStatus.COMPLETED, 1)
    assert (process.strategy, process.notice) == (Strategy.SYNC, Notice.NO_BATCHES)
