"""The test peer is what the real client takes for a provider: chats, embeddings, its ledger."""

import asyncio
import json
import subprocess
import sys
import time
from http.client import HTTPException

import jsonschema
import openai
import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel

from tests.llm.clients import openai_client, say
from tests.llm_server import Answer, LedgerReader, RemoteServer, fingerprint, server_process

SCHEMA = {
    "type": "object",
    "properties": {
        "term": {"type": "string", "minLength": 20},
        "kind": {"enum": ["noun", "verb"]},
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}, "minItems": 2},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "sure": {"type": "boolean"},
    },
    "required": ["term", "kind", "score", "lines", "note", "sure"],
    "additionalProperties": False,
    "$defs": {
        "line": {
            "type": "object",
            "properties": {"number": {"type": "integer", "exclusiveMinimum": 4}},
            "required": ["number"],
            "additionalProperties": False,
        }
    },
}


@pytest.fixture
def client(llm_server):
    with openai_client(llm_server.base_url) as client:
        yield client


def test_the_same_question_gets_the_same_answer(client):
    first, second = say(client, "What is 用語?"), say(client, "What is 用語?")
    assert first == second
    assert "What is 用語?" in first
    assert say(client, "What is 用語?", temperature=0.5) != first


def test_a_completion_says_what_it_cost(client):
    completion = client.chat.completions.create(
        model="peer-large", messages=[{"role": "user", "content": "x" * 400}]
    )
    assert completion.model == "peer-large"
    assert completion.choices[0].finish_reason == "stop"
    usage = completion.usage
    assert usage.prompt_tokens == 100
    assert usage.completion_tokens > 0
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


def test_answers_keep_to_a_json_schema(client):
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": SCHEMA}}
    answers = [json.loads(say(client, f"Term {n}", response_format=wanted)) for n in range(5)]
    for answer in answers:
        jsonschema.validate(answer, SCHEMA)
    assert len({answer["term"] for answer in answers}) == 5
    anything = json.loads(say(client, "Term", response_format={"type": "json_object"}))
    assert anything["answer"] == "Term"


def test_the_clients_own_parsing_of_answers_works(client):
    class Definition(BaseModel):
        term: str
        lines: list[int]

    completion = client.chat.completions.parse(
        model="peer-small",
        messages=[{"role": "user", "content": "Define"}],
        response_format=Definition,
    )
    assert isinstance(completion.choices[0].message.parsed, Definition)


def test_answers_can_be_scripted(llm_server, client):
    llm_server.script({"apple": "a fruit", "時計": {"term": "時計"}})
    assert say(client, "What is an apple?") == "a fruit"
    assert json.loads(say(client, "時計とは")) == {"term": "時計"}
    assert "pear" in say(client, "What is a pear?")

    llm_server.script(["one", Answer("two", finish_reason="length", completion_tokens=7)])
    assert say(client, "x") == "one"
    second = client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": [{"type": "text", "text": "in parts"}]}]
    )
    assert second.choices[0].message.content == "two"
    assert (second.choices[0].finish_reason, second.usage.completion_tokens) == ("length", 7)
    assert "third" in say(client, "third")

    llm_server.script(lambda body: body["model"].upper())
    assert say(client, "x", model="tiny") == "TINY"
    llm_server.script([""])
    assert say(client, "nothing") == ""
    llm_server.script(lambda body: body["no such key"])
    with pytest.raises(openai.InternalServerError, match="no such key"):
        say(client, "x")
    llm_server.script([Answer("No room for that.", status=400)])
    with pytest.raises(openai.BadRequestError, match=r"No room for that\."):
        say(client, "x")


def test_embeddings_place_like_beside_like(client):
    answer = client.embeddings.create(
        model="peer-embed", input=["a harbour wall", "the harbour walls", "quarterly invoices"]
    )
    wall, walls, invoices = (item.embedding for item in answer.data)
    assert len(wall) == 64

    def nearness(one, other):
        return sum(a * b for a, b in zip(one, other, strict=True))

    assert nearness(wall, wall) == pytest.approx(1)
    assert nearness(wall, walls) > nearness(wall, invoices) + 0.2
    short = client.embeddings.create(
        model="peer-embed", input="a harbour wall", dimensions=16, encoding_format="float"
    )
    assert len(short.data[0].embedding) == 16
    assert short.usage.total_tokens == 3
    with pytest.raises(openai.BadRequestError):
        client.embeddings.create(model="peer-embed", input="")


def test_models_and_keys_can_be_refused(llm_server, client):
    assert "peer-small" in [model.id for model in client.models.list()]
    llm_server.configure(models=["only-this"], api_key="right")
    with pytest.raises(openai.AuthenticationError):
        say(client, "x", model="only-this")
    with openai_client(llm_server.base_url, api_key="right") as allowed:
        assert say(allowed, "x", model="only-this")
        with pytest.raises(openai.NotFoundError, match="does not exist"):
            say(allowed, "x", model="another")
    with pytest.raises(ValueError, match="no setting"):
        llm_server.configure(speed=7)


def test_the_api_may_live_below_a_prefix(llm_server):
    with openai_client(f"{llm_server.address}/openai/v1/") as client:
        say(client, "x")
    assert [entry.path for entry in llm_server.requests] == ["/v1/chat/completions"]


@pytest.mark.parametrize("body", ["{", "[]", "{}", '{"model": "m"}', '{"model": "m", "input": 1}'])
def test_a_request_that_makes_no_sense_is_refused(client, body):
    with pytest.raises(openai.BadRequestError):
        client.post(
            "/chat/completions",
            content=body.encode(),
            cast_to=object,
            options={"headers": {"Content-Type": "application/json"}},
        )
    with pytest.raises(openai.NotFoundError):
        client.get("/nothing", cast_to=object)


def test_the_ledger_has_every_request(llm_server, client):
    for text in ("first", "second", "first"):
        say(client, text)
    first, second, again = llm_server.requests
    assert first.fingerprint == again.fingerprint != second.fingerprint
    assert first.json["messages"][0]["content"] == "first"
    assert (first.method, first.outcome, first.charged, first.batch_id) == ("POST", "200", 1, "")
    assert first.at <= first.ended_at <= second.at
    assert llm_server.ledger.charged() == {first.fingerprint: 2, second.fingerprint: 1}
    assert fingerprint(json.dumps(first.json, indent=4)) == first.fingerprint
    assert [entry.id for entry in llm_server.ledger.entries(match="second")] == [second.id]


def test_a_client_that_is_killed_while_it_waits_has_left_its_trace(llm_server):
    llm_server.faults.add("hold")
    code = (
        "import openai, sys;"
        "openai.OpenAI(base_url=sys.argv[1], api_key='x').chat.completions.create("
        "model='m', messages=[{'role': 'user', 'content': 'killed'}])"
    )
    process = subprocess.Popen([sys.executable, "-c", code, llm_server.base_url])
    try:
        (waiting,) = llm_server.ledger.wait_for(1, timeout=30)
    finally:
        process.kill()
        process.wait()
    assert waiting.outcome == "waiting"
    deadline = time.monotonic() + 10
    while (entry := llm_server.requests[0]).outcome == "waiting" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert (entry.outcome, entry.charged) == ("abandoned", 1)


async def test_the_async_client_works_and_is_counted_while_it_does(llm_server):
    llm_server.configure(delay=0.1)
    async with AsyncOpenAI(base_url=llm_server.base_url, api_key="any", max_retries=0) as client:
        limit = asyncio.Semaphore(8)

        async def one(n):
            async with limit:
                completion = await client.chat.completions.create(
                    model="peer-small", messages=[{"role": "user", "content": f"number {n}"}]
                )
            return completion.choices[0].message.content

        answers = await asyncio.gather(*(one(n) for n in range(40)))
    assert all(f"number {n}”" in answer for n, answer in enumerate(answers))
    assert llm_server.most_at_once == 8
    assert set(llm_server.ledger.charged().values()) == {1}
    assert len(llm_server.ledger.seen()) == 40


def test_a_server_of_its_own_is_controlled_from_here(tmp_path):
    ledger = tmp_path / "seen.sqlite3"
    with server_process(ledger=ledger, delay=0.01, api_key="right") as server:
        with openai_client(server.base_url, api_key="right") as client:
            server.script({"apple": "a fruit"})
            assert say(client, "apple") == "a fruit"
            server.faults.add("unavailable", times=1)
            with pytest.raises(openai.InternalServerError):
                say(client, "pear")
            assert server.faults.listed()[0]["happened"] == 1
            server.faults.clear()
            assert server.faults.listed() == []
            with pytest.raises(ValueError, match="No fault is called"):
                server.faults.add("gremlins")
        status = server.status()
        assert (status["delay"], status["most_at_once"]) == (0.01, 1)
        assert [entry.outcome for entry in server.requests] == ["200", "503"]
    # The server has gone; what it saw has not.
    assert sum(LedgerReader(ledger).seen().values()) == 2
    assert sum(LedgerReader(ledger).charged().values()) == 1


def test_a_server_of_its_own_ends_with_who_started_it(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from tests.llm_server import server_process\n"
        "with server_process(ledger=Path(sys.argv[1])) as server:\n"
        "    print(server.address, flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "seen.sqlite3")]
    starter = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with starter:
        address = starter.stdout.readline().strip()
        assert RemoteServer(address).status()["address"] == address
        starter.kill()
    deadline = time.monotonic() + 20
    while is_there(address) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not is_there(address)


def is_there(address):
    try:
        RemoteServer(address)
    except (OSError, HTTPException):
        return False
    return True
