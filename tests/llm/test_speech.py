"""How servers are spoken to: what refusals lead to, and what is learned from them."""

import json

import pytest

from glossary_site.llm.choices import JsonMode
from glossary_site.llm.models import Dialect
from glossary_site.llm.providers import provider_for
from glossary_site.llm.services import dialects
from glossary_site.llm.speech import Speech, Way, other_way
from tests.llm.working import SCHEMA, answers, asking, enqueued, work_to_end
from tests.llm_server import Answer

pytestmark = pytest.mark.django_db

GOOD = {"term": "pilot", "count": 3}


def terms(count: int):
    return [asking(f"text {n}", schema=SCHEMA) for n in range(count)]


def understands(*modes: str):
    """A server that refuses other response formats, as small ones do."""

    def answer(body):
        wanted = body.get("response_format", {"type": "plain"})["type"]
        if wanted not in modes:
            return Answer(f"response_format of type {wanted} is not supported", status=400)
        return json.dumps(GOOD)

    return answer


@pytest.mark.parametrize(
    ("modes", "learned"),
    [(("json_object", "plain"), JsonMode.OBJECT), (("plain",), JsonMode.PLAIN)],
)
def test_a_server_that_knows_no_schemas_is_asked_in_other_words(provider, modes, learned):
    provider.script(understands(*modes))
    process = work_to_end(enqueued(terms(3)))
    assert [result.data for result in answers(process)] == [GOOD] * 3
    assert Dialect.objects.get().json_mode == learned
    last = provider.requests[-1].json["messages"][-1]["content"]
    assert '"required"' in last
    assert "JSON" in last
    before = len(provider.requests)
    work_to_end(enqueued([asking("later", schema=SCHEMA)]))
    assert len(provider.requests) == before + 1, "it was learned already"


def test_a_request_that_is_refused_in_all_words_fails_and_teaches_nothing(provider):
    provider.faults.add("bad_request", match="text 0")
    process = work_to_end(enqueued(terms(2)))
    assert [result.ok for result in answers(process)] == [False, True]
    assert not Dialect.objects.exists()


def test_newer_names_of_parameters_are_learned(provider):
    def answer(body):
        if "max_tokens" in body:
            return Answer("Use 'max_completion_tokens' instead.", status=400)
        if "temperature" in body:
            return Answer("'temperature' does not support 0.0 with this model.", status=400)
        return "fine"

    provider.script(answer)
    process = work_to_end(enqueued([asking("x"), asking("y")]))
    assert process.completed == 2
    dialect = Dialect.objects.get()
    assert (dialect.newer_limit, dialect.no_temperature) == (True, True)
    assert provider.requests[-1].json["max_completion_tokens"] == 1024


def test_there_is_an_end_to_other_words():
    way, steps = Way(Speech()), 0
    request = asking("x", schema=SCHEMA)
    while other := other_way(way, refusal="temperature", request=request, sent_at=0.0):
        way, steps = other, steps + 1
    assert steps == 3


def refuses_schemas(status, body):
    """A server that says so in its own way."""

    def answer(asked):
        if asked.get("response_format", {}).get("type") == "json_schema":
            return Answer(status=status, body=body)
        return json.dumps(GOOD)

    return answer


@pytest.mark.parametrize(
    ("status", "body"),
    [
        pytest.param(
            400,
            {"error": {"message": "This response_format type is unavailable now", "param": None}},
            id="deepseek",
        ),
        pytest.param(400, {"error": "'response_format.type' must be 'text'"}, id="lm-studio"),
        pytest.param(
            400,
            {"error": {"message": "This model does not support response format `json_schema`"}},
            id="groq",
        ),
        pytest.param(
            400,
            {"error": {"message": "Unsupported value.", "param": "response_format", "code": None}},
            id="openai",
        ),
        pytest.param(
            400,
            {"object": "error", "message": "Grammar error: Unimplemented keys", "code": 400},
            id="vllm",
        ),
        pytest.param(
            400,
            {"error": "json: cannot unmarshal object into Go struct field ChatRequest.format"},
            id="ollama",
        ),
        pytest.param(
            422,
            {
                "detail": [
                    {
                        "loc": ["body", "response_format", "type"],
                        "msg": "Input should be 'text' or 'json_object'",
                        "input": "what was asked",
                    }
                ]
            },
            id="fastapi",
        ),
        pytest.param(
            500,
            {
                "error": {
                    "code": 500,
                    "message": 'response_format type must be one of "text" or "json_object"',
                    "type": "server_error",
                }
            },
            id="llama.cpp",
        ),
    ],
)
def test_a_refusal_that_names_the_format_teaches_at_once(provider, status, body):
    provider.script(refuses_schemas(status, body))
    process = work_to_end(enqueued(terms(1)))
    assert answers(process)[0].data == GOOD
    assert len(provider.requests) == 2
    assert Dialect.objects.get().json_mode == JsonMode.OBJECT


NO_REASON = {"error": {"message": "invalid input error"}}


def test_a_refusal_without_a_reason_teaches_nothing_the_first_time(provider):
    provider.script(refuses_schemas(422, NO_REASON))
    assert work_to_end(enqueued(terms(1))).completed == 1
    assert not Dialect.objects.exists()


def test_a_server_that_never_says_why_is_understood_in_the_end(provider):
    provider.script(refuses_schemas(422, NO_REASON))
    assert work_to_end(enqueued(terms(40))).completed == 40
    assert Dialect.objects.get().json_mode == JsonMode.OBJECT
    # All four that are out at a time, three times; and those that went out before it was clear.
    refused = [request for request in provider.requests if request.outcome == "422"]
    assert len(refused) < 20


def test_an_accident_of_all_who_were_out_teaches_nothing(provider):
    provider.script(lambda asked: json.dumps(GOOD))
    provider.faults.add("bad_request", times=4)
    assert work_to_end(enqueued(terms(12))).completed == 12
    assert not Dialect.objects.exists()
    last = provider.requests[-1].json["response_format"]
    assert last["type"] == "json_schema", "the others are asked as before"


def test_accidents_with_others_taken_in_between_teach_nothing(provider, settings):
    settings.LLM = {**settings.LLM, "concurrency": 1}
    provider.script(lambda asked: json.dumps(GOOD))
    provider.faults.add("bad_request", match="json_schema", every=2)
    assert work_to_end(enqueued(terms(12))).completed == 12
    assert not Dialect.objects.exists()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("context_length_exceeded", "Please shorten it."),
        ("exceed_context_size_error", "It exceeds the available context size (4096 tokens)."),
        (
            "400",
            "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum "
            "context length is 4096 tokens.",
        ),
        ("content_filter", "The response was filtered."),
        ("invalid_request_error", "Content Exists Risk"),
        ("data_inspection_failed", "Input data may contain inappropriate content."),
        ("model_not_found", "Model Not Exist"),
        ("invalid_request_error", "API key not valid. Please pass a valid API key."),
    ],
)
def test_what_no_other_words_would_help_is_not_asked_again(provider, code, message):
    provider.faults.add("bad_request", code=code, message=message, match="text 0")
    process = work_to_end(enqueued(terms(2)))
    assert [result.ok for result in answers(process)] == [False, True]
    assert len([r for r in provider.requests if "text 0" in r.body]) == 1
    assert not Dialect.objects.exists()


def test_a_model_that_did_not_keep_to_the_schema_once_is_asked_otherwise_once(provider):
    message = "Generated JSON does not match the json_schema. See 'failed_generation'."
    provider.faults.add("bad_request", code="json_validate_failed", message=message, times=1)
    assert work_to_end(enqueued(terms(2))).completed == 2
    assert not Dialect.objects.exists()


def test_requests_that_want_no_json_do_not_unlearn_it(provider):
    """They were out before it was learned, and are answered after."""
    provider.script(understands("json_object", "plain"))
    provider.faults.add("slow", match="in words", delay=0.3)
    work_to_end(enqueued([*terms(1), asking("in words")]))
    assert Dialect.objects.get().json_mode == JsonMode.OBJECT


def test_what_others_have_learned_meanwhile_is_kept(provider):
    config = provider_for("site")
    dialects.learn(config, newer_limit=True)
    dialects.learn(config, json_mode=JsonMode.PLAIN)
    assert dialects.speech_for(config) == Speech(JsonMode.PLAIN, newer_limit=True)


def test_the_reason_of_a_refusal_is_told_however_it_is_written(provider):
    detail = [{"loc": ["body", "messages", 0], "msg": "Field required", "input": {"a": "b"}}]
    provider.script(lambda asked: Answer(status=422, body={"detail": detail}))
    process = work_to_end(enqueued([asking("x")]))
    assert "(422: body.messages.0: Field required)" in answers(process)[0].error
