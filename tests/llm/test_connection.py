"""The test of a connection says in words what is wrong; the command says the same."""

import re
import socket
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from glossary_site.llm.choices import ProviderKind, Strategy
from glossary_site.llm.connection import Outcome, test_connection
from glossary_site.llm.providers import SITE, Origin, ProviderConfig
from glossary_site.llm.services.providers import Wish, save_provider
from glossary_site.outbound.allowed import parse_allowed
from tests.factories import make_project
from tests.llm.test_client import config_for
from tests.outbound.listeners import certificate, listening

KEY = "sk-very-secret-4711"
MODEL = "peer-small"


def outcomes(report):
    return {step.code: step.outcome for step in report.steps}


def failure(config, code) -> str:
    """What the report says about the one step that failed, which is the last."""
    report = test_connection(config)
    assert not report.ok
    *before, last = report.steps
    assert all(step.outcome is not Outcome.FAILED for step in before)
    assert (last.code, last.outcome) == (code, Outcome.FAILED)
    assert last.title
    if config.api_key:
        assert config.api_key not in repr(report)
    return last.detail


def test_the_built_in_engine_needs_no_connection():
    report = test_connection(ProviderConfig(origin=Origin.DEFAULT))
    assert report.ok
    assert "built-in" in report.steps[0].detail


def test_a_server_that_can_everything(llm_server):
    llm_server.configure(api_key=KEY)
    report = test_connection(config_for(llm_server.base_url, api_key=KEY))
    assert [step.code for step in report.steps] == [
        "address", "reachable", "key", "model", "answer", "schema", "batches"
    ]  # fmt: skip
    assert set(outcomes(report).values()) == {Outcome.OK}
    assert report.ok
    assert KEY not in repr(report)
    assert len(llm_server.requests) == 2


def test_a_server_that_can_only_talk(llm_server):
    llm_server.faults.add("no_batches")
    llm_server.faults.add("bad_request", match="json_schema")
    report = test_connection(config_for(llm_server.base_url))
    assert report.ok
    assert outcomes(report)["schema"] is Outcome.NOTE
    assert outcomes(report)["batches"] is Outcome.OK
    batch = test_connection(config_for(llm_server.base_url, strategy=Strategy.BATCH))
    assert batch.ok
    assert outcomes(batch)["batches"] is Outcome.NOTE
    assert "one by one" in batch.steps[-1].detail


@pytest.mark.parametrize("fault", ["break_schema", "not_json", "refusal", "truncated"])
def test_answers_that_ignore_the_schema_are_noticed(llm_server, fault):
    llm_server.faults.add(fault, match="json_schema")
    report = test_connection(config_for(llm_server.base_url))
    assert report.ok
    assert outcomes(report)["schema"] is Outcome.NOTE


def test_an_address_that_is_not_allowed(llm_server):
    detail = failure(config_for(llm_server.base_url, origin=Origin.SCOPE), "address")
    assert "GLOSSARY_PRIVATE_URLS_ALLOWED" in detail
    assert llm_server.ledger.entries() == []


def test_a_host_that_does_not_exist():
    assert "model.invalid" in failure(config_for("http://model.invalid/v1"), "address")


def test_nothing_listens():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but it does not listen
        port = taken.getsockname()[1]
        detail = failure(config_for(f"http://127.0.0.1:{port}/v1"), "reachable")
    assert "nothing listens" in detail


def test_a_port_that_takes_the_call_and_says_nothing():
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        url = f"http://127.0.0.1:{mute.getsockname()[1]}/v1"
        detail = failure(config_for(url, timeout=1), "reachable")
    assert "no answer within 1 seconds" in detail


def test_a_certificate_that_nobody_trusts(tmp_path):
    server, _trusting = certificate(tmp_path, "localhost")
    with listening(tls=server) as listener:
        detail = failure(config_for(listener.url("localhost", "https")), "reachable")
    assert "certificate" in detail


def test_https_where_there_is_none(llm_server):
    with listening() as listener:
        detail = failure(config_for(listener.url(scheme="https")), "reachable")
    assert "TLS" in detail
    # This one waits for the end of the line that never comes.
    base_url = llm_server.base_url.replace("http:", "https:")
    assert "TLS" in failure(config_for(base_url, timeout=1), "reachable")


def test_a_server_that_hangs_up(llm_server):
    llm_server.faults.add("cut_before")
    assert "broke" in failure(config_for(llm_server.base_url), "reachable")


@pytest.mark.parametrize("key", ["", "sk-wrong"])
def test_a_key_that_is_missing_or_wrong(llm_server, key):
    llm_server.configure(api_key=KEY)
    detail = failure(config_for(llm_server.base_url, api_key=key), "key")
    assert "401" in detail
    assert ("refuses the key" if key else "asks for a key") in detail


def test_a_key_that_only_the_models_mind(llm_server):
    """Some servers list their models to everybody."""
    llm_server.faults.add("refused_key", path="/v1/chat")
    assert "401" in failure(config_for(llm_server.base_url, api_key="sk-wrong"), "key")


def test_a_key_that_cannot_be_read(llm_server):
    detail = failure(config_for(llm_server.base_url, key_unreadable=True), "key")
    assert "Type it in again" in detail


def test_a_model_that_is_not_there_with_those_that_are(llm_server):
    llm_server.configure(models=("alpha", "beta"))
    detail = failure(config_for(llm_server.base_url, model="gamma"), "model")
    assert "gamma" in detail
    assert "alpha, beta" in detail


def test_of_many_models_some_are_named(llm_server):
    llm_server.configure(models=tuple(f"model-{number:03}" for number in range(300)))
    detail = failure(config_for(llm_server.base_url, model="gamma"), "model")
    assert len(detail) < 300
    assert detail.endswith("….")


def test_a_server_that_lists_no_models(llm_server):
    llm_server.faults.add("unknown_model", path="/v1/models")
    report = test_connection(config_for(llm_server.base_url))
    assert set(outcomes(report).values()) == {Outcome.OK}


def test_a_model_that_answers_without_being_listed(llm_server):
    """Some servers answer to any name, and Azure to names it does not list."""
    report = test_connection(config_for(llm_server.base_url, model="unlisted"))
    assert report.ok
    assert outcomes(report)["model"] is Outcome.NOTE


def test_a_web_page_is_no_model():
    with listening() as listener:
        listener.headers = {"Content-Type": "text/html"}
        listener.body = b"<!doctype html><title>Welcome</title>"
        detail = failure(config_for(listener.url()), "answer")
    assert "/v1" in detail


def test_a_path_that_leads_nowhere(llm_server):
    base_url = llm_server.base_url.removesuffix("/v1")
    assert "/v1" in failure(config_for(base_url), "answer")


def test_a_redirect_is_told_and_not_followed():
    with listening("127.0.0.2") as elsewhere, listening() as listener:
        listener.status, listener.headers = 308, {"Location": elsewhere.url() + "/v1/models"}
        detail = failure(config_for(listener.url(), api_key=KEY), "reachable")
    assert elsewhere.url() in detail
    assert elsewhere.seen == []


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("rate_limit", "no more requests"),
        ("quota", "credit"),
        ("server_error", "problem of its own"),
        ("unavailable", "problem of its own"),
        ("bad_request", "refuses the request"),
        ("malformed", "/v1"),
        ("empty_body", "/v1"),
        ("no_choices", "/v1"),
        ("cut_midway", "broke"),
    ],
)
def test_a_model_that_does_not_answer(llm_server, fault, words):
    llm_server.faults.add(fault, path="/v1/chat")
    report = test_connection(config_for(llm_server.base_url))
    assert not report.ok
    assert words in report.steps[-1].detail


def test_a_model_that_takes_too_long(llm_server):
    llm_server.faults.add("hang", path="/v1/chat", delay=20)
    report = test_connection(config_for(llm_server.base_url, timeout=1))
    assert "loading" in report.steps[-1].detail


def test_a_server_that_knows_the_limit_by_another_name(llm_server):
    llm_server.faults.add("bad_request", match="max_tokens")
    report = test_connection(config_for(llm_server.base_url))
    assert outcomes(report)["answer"] is Outcome.FAILED  # its words do not speak of the limit
    with listening() as listener:
        listener.status = 400
        listener.headers = {"Content-Type": "application/json"}
        listener.body = b'{"error": {"message": "Unsupported parameter: max_tokens"}}'
        test_connection(config_for(listener.url()))
    assert len([path for _method, path, _headers in listener.seen if "chat" in path]) == 2


def test_a_key_in_the_server_s_own_words_is_left_out():
    with listening() as listener:
        listener.status = 401
        listener.headers = {"Content-Type": "application/json"}
        listener.body = f'{{"error": {{"message": "Incorrect key {KEY}"}}}}'.encode()
        assert "Incorrect key …" in failure(config_for(listener.url(), api_key=KEY), "key")


def test_no_step_lasts_longer_than_a_person_waits(llm_server, monkeypatch):
    monkeypatch.setattr("glossary_site.llm.connection.MOST_SECONDS", 1)
    llm_server.faults.add("hang", path="/v1/chat", delay=20)
    assert not test_connection(config_for(llm_server.base_url, timeout=3600)).ok


# The command


def run(**options) -> str:
    out = StringIO()
    call_command("testllm", stdout=out, **options)
    return out.getvalue()


@pytest.mark.django_db
def test_the_command_tests_the_site_s_provider(llm_server, settings):
    assert "built-in" in run()
    settings.LLM = settings.LLM | {
        "base_url": llm_server.base_url,
        "model": MODEL,
        "api_key": KEY,
    }
    told = run()
    assert len(re.findall("^✓ ", told, re.M)) == 7
    assert MODEL in told
    assert KEY not in told


@pytest.mark.django_db
def test_the_command_tests_a_project_s_provider_and_fails_loudly(llm_server, settings):
    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["127.0.0.1"])
    wish = Wish(kind=ProviderKind.OPENAI, base_url=llm_server.base_url, model="nowhere")
    project, plain = make_project("Harbour"), make_project("Quay")
    save_provider(scope=project.stream, wish=wish, actor=None)
    llm_server.configure(models=("alpha",))
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("testllm", project=project.pk, stdout=out)
    assert "✗" in out.getvalue()
    assert "alpha" in out.getvalue()
    assert "built-in" in run(project=plain.pk)
    save_provider(scope=SITE, wish=wish, actor=None)
    with pytest.raises(CommandError):
        run(project=plain.pk)


@pytest.mark.django_db
@pytest.mark.parametrize("number", [99999, 10**30])
def test_the_command_knows_no_such_project(number):
    with pytest.raises(CommandError, match="no project"):
        run(project=number)
