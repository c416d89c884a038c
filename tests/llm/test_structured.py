"""Answers that fit a schema, from servers of every degree of understanding."""

import json

import pytest

from glossary_site.llm.speech import Speech
from glossary_site.llm.structured import Unfit, body_of, is_strict, read
from tests.llm.working import SCHEMA, answers, asking, enqueued, work_to_end

pytestmark = pytest.mark.django_db

GOOD = {"term": "pilot", "count": 3}


def terms(count: int):
    return [asking(f"text {n}", schema=SCHEMA) for n in range(count)]


def test_the_schema_is_sent_and_the_answer_read(provider):
    process = work_to_end(enqueued(terms(2)))
    for result in answers(process):
        assert result.data == json.loads(result.content)
        assert result.data["term"].startswith("text")
    wanted = provider.requests[0].json["response_format"]
    assert wanted["json_schema"]["schema"] == SCHEMA
    assert wanted["json_schema"]["strict"] is True


def test_a_wrong_answer_is_repaired_once(provider):
    provider.faults.add("break_schema", times=1)
    process = work_to_end(enqueued(terms(1)))
    assert process.completed == 1
    first, second = provider.requests
    assert second.json["messages"][:1] == first.json["messages"]
    assert second.json["messages"][1]["role"] == "assistant"
    assert "not of type 'object'" in second.json["messages"][2]["content"]
    # Both calls are paid for.
    assert process.tokens > 0
    assert answers(process)[0].input_tokens == process.input_tokens


@pytest.mark.parametrize("fault", ["break_schema", "not_json", "truncated"])
def test_a_second_wrong_answer_is_a_failure_of_that_request_alone(provider, fault):
    provider.faults.add(fault, match="text 1")
    process = work_to_end(enqueued(terms(3)))
    assert [result.ok for result in answers(process)] == [True, False, True]
    assert "does not fit the schema" in answers(process)[1].error
    assert len([r for r in provider.requests if "text 1" in r.body]) == 2


def test_how_long_it_was_when_it_was_cut_off(provider, settings):
    settings.LLM = {**settings.LLM, "output_tokens": 77}
    provider.faults.add("truncated")
    process = work_to_end(enqueued(terms(1)))
    assert provider.requests[0].json["max_tokens"] == 77
    assert "it was cut off after 77 tokens" in answers(process)[0].error


def test_a_repair_is_remembered_like_any_call(provider):
    provider.faults.add("break_schema", times=1)
    work_to_end(enqueued(terms(1)))
    again = work_to_end(enqueued(terms(1)))
    assert (again.served, len(provider.requests)) == (1, 2)


@pytest.mark.parametrize(
    "content",
    [
        '{"term": "pilot", "count": 3}',
        'Sure!\n```json\n{"term": "pilot", "count": 3}\n```\nAnything else?',
        '<think>hmm</think>\n{"term": "pilot", "count": 3}',
    ],
)
def test_json_is_found_in_what_a_model_says_around_it(content):
    assert read(content, SCHEMA) == GOOD


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "not JSON"),
        ("no idea", "not JSON"),
        ('{"term": "pilot"}', "'count' is a required property"),
        ('{"term": "pilot", "count": -1}', "less than the minimum"),
        ('{"term": "pilot", "count": NaN}', "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"term": "pilot", "count": 1, "more": 2}', "Additional properties"),
    ],
)
def test_what_does_not_fit_is_told(content, why):
    with pytest.raises(Unfit, match=why):
        read(content, SCHEMA)


def test_only_a_strict_schema_is_called_strict():
    assert is_strict(SCHEMA)
    assert not is_strict({"type": "object", "properties": {"a": {}}, "required": ["a"]})
    assert not is_strict({**SCHEMA, "required": ["term"]})
    inner = {"type": "array", "items": {"type": "object", "properties": {}}}
    assert not is_strict(inner)


def test_the_longest_answer_of_a_model_is_respected():
    request = asking("x", max_tokens=5000)
    body = body_of(request, request.messages, model="m", speech=Speech(), most_tokens=300)
    assert body["max_tokens"] == 300
