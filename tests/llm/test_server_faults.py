"""Whatever goes wrong at the peer reaches the real client as it would from a provider."""

import json
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import openai
import pytest

from tests.llm.clients import openai_client, say
from tests.llm_server import running_server


@pytest.fixture
def client(llm_server):
    with openai_client(llm_server.base_url) as client:
        yield client


def outcomes(server):
    return [entry.outcome for entry in server.requests]


@pytest.mark.parametrize(
    ("kind", "error", "status"),
    [
        ("rate_limit", openai.RateLimitError, 429),
        ("quota", openai.RateLimitError, 429),
        ("server_error", openai.InternalServerError, 500),
        ("unavailable", openai.InternalServerError, 503),
        ("bad_request", openai.BadRequestError, 400),
        ("refused_key", openai.AuthenticationError, 401),
        ("forbidden", openai.PermissionDeniedError, 403),
        ("unknown_model", openai.NotFoundError, 404),
    ],
)
def test_refusals_are_the_clients_own_errors_and_cost_nothing(
    llm_server, client, kind, error, status
):
    llm_server.faults.add(kind, times=1)
    with pytest.raises(error) as caught:
        say(client, "x")
    assert caught.value.status_code == status
    assert caught.value.code
    assert say(client, "x")
    assert outcomes(llm_server) == [str(status), "200"]
    assert sum(llm_server.ledger.charged().values()) == 1


def test_a_rate_limit_says_when_to_come_back(llm_server, client):
    llm_server.faults.add("rate_limit", times=1, retry_after=1.5)
    llm_server.faults.add("rate_limit", times=1, retry_after=3, http_date=True)
    with pytest.raises(openai.RateLimitError) as caught:
        say(client, "x")
    assert caught.value.response.headers["retry-after"] == "1.5"
    with pytest.raises(openai.RateLimitError) as caught:
        say(client, "x")
    moment = parsedate_to_datetime(caught.value.response.headers["retry-after"])
    assert 2 < (moment - datetime.now(UTC)).total_seconds() < 5


def test_the_clients_own_retries_come_through(llm_server, client):
    llm_server.faults.add("rate_limit", times=1, retry_after=0.1)
    llm_server.faults.add("cut_before", times=1)
    assert say(client.with_options(max_retries=2), "x")
    assert outcomes(llm_server) == ["429", "cut_before", "200"]
    assert set(llm_server.ledger.seen().values()) == {3}


def test_what_is_cut_or_never_answered_is_paid_all_the_same(llm_server, client):
    for kind in ("cut_before", "cut_midway"):
        llm_server.faults.add(kind, times=1)
        with pytest.raises(openai.APIConnectionError):
            say(client, kind)
    llm_server.faults.add("hang", times=1)
    with pytest.raises(openai.APITimeoutError):
        say(client.with_options(timeout=0.2), "hang")
    assert say(client, "and on it goes")
    assert outcomes(llm_server) == ["cut_before", "cut_midway", "hang", "200"]
    assert sum(llm_server.ledger.charged().values()) == 4


@pytest.mark.parametrize("kind", ["malformed", "empty_body"])
def test_a_body_that_is_not_json_is_no_error_of_the_client(llm_server, client, kind):
    """It surfaces as it is, so whoever calls has to expect it."""
    llm_server.faults.add(kind, times=1)
    with pytest.raises(json.JSONDecodeError):
        say(client, "x")
    assert outcomes(llm_server) == [kind]


def test_a_refusal_may_come_although_the_work_was_done(llm_server, client):
    llm_server.faults.add("server_error", status=502, worked=True, times=1)
    with pytest.raises(openai.InternalServerError) as caught:
        say(client, "x")
    assert caught.value.status_code == 502
    assert [(entry.outcome, entry.charged) for entry in llm_server.requests] == [("502", 1)]


def test_answers_can_be_other_than_was_asked_for(llm_server, client):
    wanted = {"type": "json_object"}
    llm_server.faults.add("break_schema", times=1)
    assert isinstance(json.loads(say(client, "x", response_format=wanted)), list)
    llm_server.faults.add("not_json", times=1)
    with pytest.raises(json.JSONDecodeError):
        json.loads(say(client, "x", response_format=wanted))
    messages = [{"role": "user", "content": "x"}]
    llm_server.faults.add("truncated", times=1)
    completion = client.chat.completions.create(model="m", messages=messages)
    assert completion.choices[0].finish_reason == "length"
    llm_server.faults.add("refusal", times=1)
    completion = client.chat.completions.create(model="m", messages=messages)
    assert completion.choices[0].message.content is None
    assert completion.choices[0].message.refusal
    llm_server.faults.add("no_choices", times=1)
    assert client.chat.completions.create(model="m", messages=messages).choices == []


def test_a_redirect_is_followed_to_where_it_points(llm_server, client):
    with running_server(answers={"x": "from elsewhere"}) as elsewhere:
        target = f"{elsewhere.base_url}/chat/completions"
        llm_server.faults.add("redirect", location=target)
        assert say(client, "x") == "from elsewhere"
    assert outcomes(llm_server) == ["307"]


def test_slowness_and_holding(llm_server, client):
    llm_server.faults.add("slow", delay=0.3, times=1)
    began = time.monotonic()
    say(client, "x")
    assert time.monotonic() - began >= 0.3
    llm_server.faults.clear()
    llm_server.faults.add("hold")
    with pytest.raises(openai.APITimeoutError):
        say(client.with_options(timeout=0.2), "held")


def faulty(client, texts):
    """Which of these were refused."""
    refused = []
    for text in texts:
        try:
            say(client, text)
        except openai.InternalServerError:
            refused.append(text)
    return refused


def test_which_requests_a_fault_meets(llm_server, client):
    faults, digits = llm_server.faults, [str(n) for n in range(1, 10)]
    faults.add("server_error", nth=3)
    assert faulty(client, digits) == ["3"]
    faults.clear()
    faults.add("server_error", every=4)
    assert faulty(client, digits) == ["4", "8"]
    faults.clear()
    faults.add("server_error", times=2)
    assert faulty(client, digits) == ["1", "2"]
    faults.clear()
    faults.add("server_error", match="猫", times=1)
    assert faulty(client, ["犬", "黒猫", "白猫"]) == ["黒猫"]
    faults.clear()
    faults.add("server_error", path="/v1/embeddings")
    assert faulty(client, digits) == []


def test_chance_repeats_itself_with_its_seed(llm_server, client):
    digits = [str(n) for n in range(40)]

    def with_seed(seed):
        llm_server.faults.clear()
        llm_server.faults.add("server_error", probability=0.4, seed=seed)
        return faulty(client, digits)

    first = with_seed(7)
    assert 5 < len(first) < 30
    assert with_seed(7) == first
    assert with_seed(8) != first
