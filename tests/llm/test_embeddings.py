"""Vectors from a server: many texts in a request, each request paid once, within the budget."""

import threading
import time
from datetime import timedelta
from decimal import Decimal

import numpy as np
import pytest
from django.db import connection, transaction
from django.utils import timezone

from glossary_site.errors import Refusal
from glossary_site.jobs.errors import Stop, Stopped
from glossary_site.llm import vectors
from glossary_site.llm.choices import LedgerStatus
from glossary_site.llm.models import EmbeddingCall, Spending
from glossary_site.llm.providers import provider_for
from glossary_site.llm.services import budgets, embeddings
from glossary_site.llm.services.budgets import Caps
from glossary_site.llm.services.embeddings import EmbeddingFailed
from tests.llm_peer.answers import embedding
from tests.llm_server import EMBEDDINGS

pytestmark = pytest.mark.django_db

SCOPE = "project:7"
MODEL = "peer-embed"


def config():
    return embeddings.endpoint(provider_for(SCOPE), model=MODEL)


def embed(texts, **options):
    return embeddings.embed(texts, scope=SCOPE, config=config(), **options)


def sections(count: int, first: int = 0) -> list[str]:
    return [f"Section {number} is about berths." for number in range(first, first + count)]


def spending(scope: str = SCOPE) -> Spending:
    return Spending.objects.get(scope=scope)


def nothing_is_kept_back() -> bool:
    reserved = Spending.objects.filter(reserved_tokens__gt=0) | Spending.objects.filter(
        reserved_nano__gt=0
    )
    return not reserved.exists() and not EmbeddingCall.objects.filter(reserved_tokens__gt=0)


def right(found, texts) -> bool:
    wanted = np.array([embedding(text, 64) for text in texts])
    return found.shape == wanted.shape and bool(np.allclose(found, wanted, atol=2e-3))


# What is asked for


def test_every_text_gets_its_own_vector_in_order(provider):
    texts = [*sections(100), "港長は係船料を集める。", "", "  ", "Section 3 is about berths."]
    found = embed(texts)
    assert right(found[:101], texts[:101])
    assert not found[101:103].any()
    assert np.array_equal(found[103], found[3])
    assert found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found[:101], axis=1), 1, atol=1e-3)


def test_many_texts_go_in_one_request_and_several_requests_at_a_time(provider):
    provider.delay = 0.1
    embed(sections(300))
    sent = [entry.json for entry in provider.requests]
    assert {entry["model"] for entry in sent} == {MODEL}
    assert max(len(entry["input"]) for entry in sent) == vectors.MOST_TEXTS
    assert sum(len(entry["input"]) for entry in sent) == 300
    assert len(sent) == 10
    assert provider.most_at_once == 4
    assert sent[0].keys() == {"model", "input"}


def test_long_texts_go_in_smaller_company_and_are_cut(provider):
    embed(["港" * 40_000, *("word " * 6_000 + str(number) for number in range(8))])
    sent = [entry.json["input"] for entry in provider.requests]
    assert sum(map(len, sent)) == 9
    assert max(len(texts) for texts in sent) <= 4
    longest = max(len(text.encode()) for texts in sent for text in texts)
    assert longest <= 4 * vectors.MOST_TOKENS_OF_A_TEXT


def test_nothing_is_asked_for_nothing(provider):
    assert embed([]).shape == (0, 0)
    assert embed(["", " \n"]).shape == (2, 0)
    assert provider.requests == []


def test_texts_that_are_hardly_text_do_no_harm(provider):
    found = embed(["half a pair \ud800 of surrogates", "a\0b", "🙈🙉🙊"])
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-3)


def test_the_built_in_engine_makes_no_vectors(db):
    with pytest.raises(EmbeddingFailed, match="OpenAI-compatible"):
        config()


# What goes wrong


@pytest.mark.parametrize(
    ("fault", "conditions"),
    [
        ("rate_limit", {"retry_after": 0.1}),
        ("rate_limit", {}),
        ("server_error", {}),
        ("unavailable", {"retry_after": 0.1}),
        ("cut_midway", {}),
        ("malformed", {}),
        ("empty_body", {}),
        ("vector_missing", {}),
        ("vector_short", {}),
        ("vector_nan", {}),
        ("vectors_misnumbered", {}),
        ("vectors_nested", {}),
    ],
)
def test_what_may_pass_is_tried_again(provider, fault, conditions):
    provider.faults.add(fault, times=2, **conditions)
    texts = sections(70)
    assert right(embed(texts), texts)
    assert nothing_is_kept_back()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("server_error", "500"),
        ("malformed", "not JSON"),
        ("vector_missing", "2 vectors for 3 texts"),
        ("vector_short", "different lengths"),
        ("vector_nan", "no numbers"),
        ("vectors_misnumbered", "numbered"),
        ("vectors_nested", "no list of vectors"),
        ("refused_key", "401"),
        ("unknown_model", "404"),
    ],
)
def test_what_stays_wrong_is_a_sentence_and_a_recorded_failure(provider, settings, fault, words):
    settings.LLM_ATTEMPTS = 2
    provider.faults.add(fault)
    with pytest.raises(EmbeddingFailed, match=words):
        embed(sections(3))
    call = EmbeddingCall.objects.get()
    assert (call.status, call.dimensions, bytes(call.vectors)) == (LedgerStatus.FAILED, 0, b"")
    assert words in call.error
    assert nothing_is_kept_back()
    provider.faults.clear()
    assert right(embed(sections(3)), sections(3))


def test_vectors_that_come_in_another_order_are_put_into_ours(provider):
    provider.faults.add("vectors_shuffled")
    assert right(embed(sections(9)), sections(9))


def test_a_server_may_write_vectors_in_base64(provider):
    body = {"model": MODEL, "input": ["berth"], "encoding_format": "base64"}
    _status, answer = provider.api.perform(EMBEDDINGS, body)
    batch = vectors.batch_of(["berth"], config(), scope=SCOPE)
    assert isinstance(answer["data"][0]["embedding"], str)
    assert right(vectors.read_vectors(answer, batch).vectors, ["berth"])


def test_values_too_large_to_be_squared_are_no_trouble():
    rows = np.array([[3e30, 4e30], [0, 0], [3e-30, 4e-30]], dtype=np.float32)
    assert np.allclose(vectors.unit(rows), [[0.6, 0.8], [0, 0], [0.6, 0.8]])


def test_a_server_that_changes_its_model_is_noticed(provider):
    embed(sections(3))
    provider.configure(dimensions=32)
    with pytest.raises(EmbeddingFailed, match="32 values, and before of 64"):
        embed(sections(3, first=10), dimensions=64)
    assert EmbeddingCall.objects.filter(status=LedgerStatus.FAILED).count() == 1
    assert spending().used_tokens > 0
    assert nothing_is_kept_back()


def test_a_server_that_takes_fewer_texts_gets_fewer(provider):
    provider.configure(most_inputs=5)
    texts = sections(70)
    assert right(embed(texts), texts)
    assert nothing_is_kept_back()


def test_one_text_that_a_server_refuses_is_found_and_the_others_are_kept(provider):
    provider.faults.add("bad_request", match="Section 20 ")
    with pytest.raises(EmbeddingFailed, match="400"):
        embed(sections(32))
    texts = {
        text
        for entry in provider.requests
        if entry.outcome == "200"
        for text in entry.json["input"]
    }
    assert texts >= set(sections(16))
    assert nothing_is_kept_back()


def test_a_long_wait_is_not_waited_for(provider):
    provider.faults.add("rate_limit", retry_after=3600)
    with pytest.raises(EmbeddingFailed, match="seconds") as failed:
        embed(sections(3))
    assert failed.value.later == pytest.approx(3600, abs=5)
    assert nothing_is_kept_back()


def test_who_waits_in_front_of_a_page_does_not_wait_long(provider):
    provider.faults.add("hold")
    began = time.monotonic()
    with pytest.raises(EmbeddingFailed, match=r"0\.5 seconds"):
        embed(["query"], seconds=0.5)
    assert time.monotonic() - began < 2
    assert nothing_is_kept_back()


def test_a_key_that_a_server_repeats_stays_out_of_it(provider, settings):
    settings.LLM = {**settings.LLM, "api_key": "sk-very-secret-key"}
    provider.faults.add("bad_request", message="Wrong key: sk-very-secret-key")
    with pytest.raises(EmbeddingFailed) as failed:
        embed(["berth"])
    assert "secret" not in str(failed.value)
    assert "secret" not in str(EmbeddingCall.objects.values())


def test_an_address_that_the_guard_refuses_is_not_called(provider, settings):
    typed = embeddings.endpoint(provider_for(SCOPE), model=MODEL)
    typed = vectors.ProviderConfig(**{**vars(typed), "origin": "scope"})
    with pytest.raises(EmbeddingFailed):
        embeddings.embed(["berth"], scope=SCOPE, config=typed)
    assert provider.requests == []
    assert nothing_is_kept_back()


# Once


def test_what_was_answered_is_served_and_costs_nothing(provider):
    first = embed(sections(70))
    used = spending().used_tokens
    again = embed(sections(70))
    assert np.array_equal(first, again)
    assert len(provider.requests) == 3
    assert spending().used_tokens == used


def test_another_model_server_or_project_is_another_question(provider):
    embed(["berth"])
    embeddings.embed(
        ["berth"], scope=SCOPE, config=embeddings.endpoint(provider_for(SCOPE), model="peer-large")
    )
    embeddings.embed(["berth"], scope="project:8", config=config())
    assert len(provider.requests) == 3


def test_after_a_crash_only_what_was_not_answered_is_sent(provider):
    """As it is after a kill: half of the requests have answers, one is open and kept back for."""
    texts = sections(96)
    provider.faults.add("refused_key", match="Section 70 ")
    with pytest.raises(EmbeddingFailed):
        embed(texts)
    provider.faults.clear()
    call = EmbeddingCall.objects.exclude(status=LedgerStatus.ANSWERED).get()
    EmbeddingCall.objects.filter(pk=call.pk).update(
        status=LedgerStatus.SENT, error="", reserved_tokens=100, reserved_nano=7
    )
    for scope in (SCOPE, "site"):
        Spending.objects.filter(scope=scope).update(reserved_tokens=100, reserved_nano=7)
    before = len(provider.requests)
    assert right(embed(texts), texts)
    assert len(provider.requests) == before + 1
    assert nothing_is_kept_back()
    assert EmbeddingCall.objects.get(pk=call.pk).sendings == 2


def test_the_row_is_there_before_the_request(provider):
    embed(["berth"])
    call = EmbeddingCall.objects.get()
    assert call.sent_at.timestamp() <= provider.requests[0].at
    assert call.answered_at >= call.sent_at
    assert (call.texts, call.dimensions, call.sendings) == (1, 64, 1)
    assert len(call.vectors) == 2 * 64


def test_old_calls_are_removed_with_what_they_kept_back(provider):
    embed(sections(40))
    embed(["new"])
    open_call = EmbeddingCall.objects.order_by("pk")[0]
    EmbeddingCall.objects.filter(pk=open_call.pk).update(
        status=LedgerStatus.SENT, dimensions=0, answered_at=None, reserved_tokens=50
    )
    Spending.objects.update(reserved_tokens=50)
    used = spending().used_tokens
    long_ago = timezone.now() - embeddings.KEPT - timedelta(minutes=1)
    EmbeddingCall.objects.exclude(texts=1).update(sent_at=long_ago)
    assert embeddings.tidy() == 2
    assert EmbeddingCall.objects.get().texts == 1
    assert nothing_is_kept_back()
    assert spending().used_tokens == used
    assert embeddings.tidy() == 0


def test_who_was_taken_for_dead_gives_nothing_back_twice(provider):
    """Somebody slept through the hour, and is answered after all."""
    provider.faults.add("hold")
    stop = threading.Event()

    def meanwhile():
        if provider.ledger.entries(path=EMBEDDINGS) and not stop.is_set():
            stop.set()
            EmbeddingCall.objects.update(sent_at=timezone.now() - timedelta(hours=2))
            assert embeddings.tidy() == 1
            provider.faults.clear()

    assert right(embed(["berth"], check=meanwhile), ["berth"])
    assert spending().used_tokens > 0
    assert nothing_is_kept_back()
    assert not EmbeddingCall.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_it_refuses_to_be_a_part_of_a_transaction(provider):
    with pytest.raises(RuntimeError), transaction.atomic():
        embed(["berth"])
    assert provider.requests == []


@pytest.mark.django_db(transaction=True)
def test_two_that_ask_for_the_same_at_once_are_both_answered_and_counted(provider):
    provider.delay = 0.2
    texts = sections(100)
    answers: list[bool] = []

    def ask():
        try:
            answers.append(right(embed(texts), texts))
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert answers == [True] * 4
    assert nothing_is_kept_back()
    sent = [text for entry in provider.requests for text in entry.json["input"]]
    charged = sum(len(text.encode()) // 4 for text in sent)
    assert spending().used_tokens == spending("site").used_tokens == charged


# The budget


def test_kept_back_at_first_and_entered_at_the_end(provider, settings):
    settings.LLM = {**settings.LLM, "input_price": Decimal(2), "output_price": Decimal(10)}
    provider.faults.add("hold")
    seen = []

    def look():
        if provider.ledger.entries(path=EMBEDDINGS):
            seen.append(spending().reserved_tokens)
            provider.faults.clear()

    embed(sections(20), check=look)
    assert seen[0] >= sum(len(text.encode()) for text in sections(20)) / 4
    for scope in (SCOPE, "site"):
        row = spending(scope)
        assert row.used_tokens == sum(len(text.encode()) // 4 for text in sections(20))
        assert row.used_cost == row.used_tokens * Decimal("0.000002")
    assert nothing_is_kept_back()


def test_a_server_that_does_not_count_is_estimated(provider):
    provider.faults.add("no_usage")
    embed(["x" * 400])
    assert spending().used_tokens == 100


@pytest.mark.parametrize("scope", [SCOPE, "site"])
def test_over_the_cap_is_refused_before_anything_is_sent(provider, scope):
    budgets.set_caps(scope=scope, caps=Caps(tokens=100), actor="tests")
    embed(sections(5))
    with pytest.raises(Refusal) as refused:
        embed(sections(40, first=5))
    assert refused.value.code == "budget_exceeded"
    assert len(provider.requests) == 1
    assert EmbeddingCall.objects.count() == 1
    assert nothing_is_kept_back()
    assert embed(sections(5)).any()


# Stopping


@pytest.mark.parametrize("why", [Stop.CANCELED, Stop.LOST])
def test_who_is_stopped_stops_within_a_second(provider, why):
    provider.faults.add("hold")
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()

    def check():
        if stop.is_set():
            raise Stopped(why)

    began = time.monotonic()
    with pytest.raises(Stopped):
        embed(sections(200), check=check)
    assert time.monotonic() - began < 2
    assert nothing_is_kept_back()
    sent = len(provider.requests)
    provider.faults.clear()
    time.sleep(0.1)
    assert len(provider.requests) == sent == 4


def test_the_last_answers_before_a_shutdown_are_kept(provider):
    provider.delay = 0.8
    texts = sections(60)

    def check():
        if provider.requests:
            raise Stopped(Stop.SHUTDOWN)

    with pytest.raises(Stopped):
        embed(texts, check=check)
    assert EmbeddingCall.objects.filter(status=LedgerStatus.ANSWERED).count() == 2
    assert nothing_is_kept_back()
    assert right(embed(texts), texts)
    assert len(provider.requests) == 2
