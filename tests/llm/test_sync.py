"""Sending one by one: what goes wrong on the way, and what comes of it."""

import threading
import time
from decimal import Decimal

import pytest

from glossary_site.jobs.errors import Stop, Stopped
from glossary_site.llm.choices import JobStatus, LedgerStatus, ProcessStatus
from glossary_site.llm.models import LedgerEntry, LLMJob
from glossary_site.llm.services import queue
from glossary_site.llm.strategies import sync, wire
from glossary_site.llm.strategies.lines import Lines
from tests.llm.working import (
    answers,
    asking,
    enqueued,
    questions,
    reloaded,
    session_for,
    work,
    work_to_end,
)
from tests.llm_server import Answer

pytestmark = pytest.mark.django_db


def test_no_more_are_asked_at_a_time_than_the_provider_allows(provider):
    provider.delay = 0.05
    work_to_end(enqueued(questions(20)))
    assert provider.most_at_once == 4


@pytest.mark.parametrize(
    ("fault", "conditions"),
    [
        ("rate_limit", {}),
        ("rate_limit", {"retry_after": 0.1}),
        ("rate_limit", {"retry_after": 0.1, "http_date": True}),
        ("server_error", {}),
        ("unavailable", {"retry_after": 0.1}),
        ("server_error", {"status": 502}),
        ("cut_before", {}),
        ("cut_midway", {}),
        ("malformed", {}),
        ("empty_body", {}),
        ("no_choices", {}),
    ],
)
def test_what_may_pass_is_tried_again(provider, fault, conditions):
    provider.faults.add(fault, times=3, **conditions)
    process = work_to_end(enqueued(questions(6)))
    assert (process.completed, process.failed) == (6, 0)
    assert [result.key for result in answers(process)] == [f"question {n}" for n in range(6)]


def test_a_server_that_hangs_is_given_up_on_and_asked_again(provider, settings):
    settings.LLM = {**settings.LLM, "timeout": 1}
    provider.faults.add("hang", times=1)
    assert work_to_end(enqueued(questions(3))).completed == 3


def test_attempts_come_to_an_end_and_sink_nobody_else(provider, settings):
    settings.LLM_ATTEMPTS = 3
    provider.faults.add("server_error", match="question 2")
    process = work_to_end(enqueued(questions(6)))
    assert process.status == ProcessStatus.COMPLETED
    assert (process.completed, process.failed) == (5, 1)
    third = answers(process)[2]
    assert not third.ok
    assert "500" in third.error
    assert len([r for r in provider.requests if "question 2" in r.body]) == 3


@pytest.mark.parametrize("fault", ["bad_request", "refused_key", "forbidden", "unknown_model"])
def test_a_refusal_is_not_tried_again(provider, fault):
    provider.faults.add(fault, match="question 1")
    process = work_to_end(enqueued(questions(3)))
    assert (process.completed, process.failed) == (2, 1)
    assert len([r for r in provider.requests if "question 1" in r.body]) == 1


def test_an_account_without_money_is_not_asked_again(provider):
    provider.faults.add("quota", match="question 1")
    process = work_to_end(enqueued(questions(3)))
    assert process.failed == 1
    assert len([r for r in provider.requests if "question 1" in r.body]) == 1


def test_a_key_that_is_refused_as_a_bad_request_ends_it_too(provider):
    provider.faults.add("bad_request", message="API key not valid. Please pass a valid API key.")
    process = work_to_end(enqueued(questions(60)))
    assert process.status == ProcessStatus.FAILED
    assert len(provider.requests) < 30


def test_a_provider_that_fails_everybody_is_not_asked_for_the_rest(provider):
    provider.faults.add("refused_key")
    process = work_to_end(enqueued(questions(60)))
    assert process.status == ProcessStatus.FAILED
    assert process.failed == 60
    assert len(provider.requests) < 30
    assert "401" in process.error
    assert all(not result.ok for result in answers(process))


def test_a_server_that_is_away_is_waited_for_without_a_worker(provider, settings):
    settings.LLM_ATTEMPTS = 2
    provider.faults.add("unavailable")
    process = work(enqueued(questions(30)))
    assert (process.status, process.failed) == (ProcessStatus.WAITING, 0)
    pause = (process.run.due_at - process.run.created_at).total_seconds()
    assert pause == pytest.approx(30, abs=1)
    assert not LLMJob.objects.of(process.pk).in_flight().exists()
    process = work(process)
    pause = (process.run.due_at - process.run.created_at).total_seconds()
    assert pause == pytest.approx(120, abs=1)
    provider.faults.clear()
    process = work(process)
    assert (process.status, process.completed) == (ProcessStatus.COMPLETED, 30)


def test_one_that_fails_before_anybody_is_answered_is_no_outage(provider, settings):
    settings.LLM_ATTEMPTS = 1
    provider.faults.add("server_error", match="question 2")
    provider.faults.add("slow", delay=0.3)
    process = work(enqueued(questions(12)))
    assert (process.status, process.completed, process.failed) == (ProcessStatus.COMPLETED, 11, 1)
    assert len(provider.requests) == 12


def test_a_server_that_stays_away_is_given_up(provider, settings):
    settings.LLM_ATTEMPTS = 1
    provider.faults.add("unavailable")
    process = work_to_end(enqueued(questions(30)))
    assert (process.status, process.failed) == (ProcessStatus.FAILED, 30)
    assert "503" in process.error
    assert len(provider.requests) == 3 * 8


def test_answers_that_could_not_be_noted_are_kept_all_the_same(provider, monkeypatch):
    """As when the database was away for a moment, or somebody made a mistake."""
    process = enqueued(questions(3))
    session = session_for(process)
    noted = iter(range(10))
    real = sync.Sending._take_in

    def stumble(self, outcome, page):
        if next(noted) == 1:
            raise OSError("stumbled")
        real(self, outcome, page)

    monkeypatch.setattr(sync.Sending, "_take_in", stumble)
    with pytest.raises(OSError, match="stumbled"):
        queue.execute(process.pk, session)
    monkeypatch.undo()
    session.fail(OSError("stumbled"))
    process = work_to_end(process)
    assert process.completed == 3
    assert len(provider.requests) == 3
    assert process.tokens > 0


def test_the_run_of_a_process_that_was_given_up_says_why(provider):
    provider.faults.add("refused_key")
    process = work(enqueued(questions(40)))
    process.run.refresh_from_db()
    assert process.run.state == "FAILED"
    assert process.run.error == process.error
    assert not type(process.run).objects.filter(retry_of=process.run).exists()


def test_a_request_that_comes_twice_is_sent_once(provider):
    twice = [asking("the same", key=str(n)) for n in range(10)]
    process = work_to_end(enqueued([*twice, asking("another")]))
    assert process.completed == 11
    assert process.served == 9
    assert len(provider.requests) == 2
    assert len({result.content for result in answers(process)[:10]}) == 1


def test_duplicates_share_a_failure(provider):
    provider.faults.add("bad_request")
    process = work_to_end(enqueued([asking("the same", key=str(n)) for n in range(3)]))
    assert process.failed == 3
    assert len(provider.requests) == 1


def test_a_refusal_of_the_model_is_a_failure_of_that_request(provider):
    provider.faults.add("refusal", match="question 1")
    process = work_to_end(enqueued(questions(2)))
    assert [result.ok for result in answers(process)] == [True, False]
    assert "refused" in answers(process)[1].error


def test_an_empty_answer_is_a_failure(provider):
    provider.script(lambda body: Answer("", finish_reason="content_filter"))
    process = work_to_end(enqueued(questions(1)))
    assert "content_filter" in answers(process)[0].error


def test_an_answer_that_was_cut_off_says_so(provider):
    provider.script(lambda body: Answer("half of", finish_reason="length"))
    (result,) = answers(work_to_end(enqueued(questions(1))))
    assert (result.ok, result.finish_reason) == (True, "length")


def test_usage_is_counted_and_priced(provider, settings):
    settings.LLM = {**settings.LLM, "input_price": Decimal(3), "output_price": Decimal(15)}
    provider.script(lambda body: Answer("yes", prompt_tokens=1000, completion_tokens=100))
    process = work_to_end(enqueued(questions(2)))
    assert (process.input_tokens, process.output_tokens) == (2000, 200)
    assert str(process.cost) == "0.009"


def test_a_server_that_does_not_count_is_estimated(provider):
    ask = wire.Ask(None, asking("x" * 400), [], "f")
    answer = wire.read_answer({"choices": [{"message": {"content": "y" * 40}}]}, ask)
    assert (answer.input_tokens, answer.output_tokens) == (104, 10)


@pytest.mark.parametrize("count", [-1, 10**30, float("inf"), float("nan")])
def test_counts_that_cannot_be_are_estimated(provider, count):
    provider.script(lambda body: Answer("yes", prompt_tokens=count, completion_tokens=count))
    process = work_to_end(enqueued(questions(3)))
    assert process.completed == 3
    assert 0 < process.tokens < 1000


@pytest.mark.parametrize(
    "said",
    [
        Answer("half: \ud800", status=400),
        Answer(refusal="half: \ud800"),
        Answer(finish_reason="half: \ud800"),
    ],
)
def test_what_no_database_keeps_concerns_its_request_alone(provider, said):
    provider.script(lambda body: said if "question 1" in str(body) else "fine")
    process = work_to_end(enqueued(questions(3)))
    assert [result.ok for result in answers(process)] == [True, False, True]
    assert "half: ?" in answers(process)[1].error


def test_no_tool_is_ever_sent(provider):
    work_to_end(enqueued(questions(3)))
    for request in provider.requests:
        assert request.json.keys() == {"model", "messages", "max_tokens", "temperature"}


def test_a_cancelled_session_aborts_what_is_in_flight_within_two_seconds(provider):
    provider.faults.add("hold")
    process = enqueued(questions(8))
    session = session_for(process)
    stopper = threading.Timer(0.5, session.stop, [Stop.CANCELED])
    stopper.start()
    began = time.monotonic()
    with pytest.raises(Stopped):
        queue.execute(process.pk, session)
    assert time.monotonic() - began < 2.5
    provider.ledger.wait_for(4)
    provider.faults.clear()
    time.sleep(0.1)
    assert {r.outcome for r in provider.requests} == {"abandoned"}
    assert LLMJob.objects.of(process.pk).in_flight().count() == 8


def test_what_was_in_flight_is_sent_again_by_the_next_run_and_nothing_else(provider):
    provider.faults.add("hold", nth=6)
    process = enqueued(questions(12))
    session = session_for(process)
    threading.Timer(0.7, session.stop, [Stop.TIMED_OUT]).start()
    with pytest.raises(Stopped):
        queue.execute(process.pk, session)
    before = reloaded(process)
    assert before.completed == 11
    session.fail(Stopped(Stop.TIMED_OUT))
    provider.faults.clear()
    process = work_to_end(process)
    assert process.completed == 12
    counts = sorted(provider.ledger.seen().values())
    assert counts == [1] * 11 + [2]


def test_answers_of_the_last_seconds_of_a_worker_are_kept(provider):
    provider.delay = 0.8
    process = enqueued(questions(3))
    session = session_for(process)
    threading.Timer(0.4, session.stop, [Stop.SHUTDOWN]).start()
    with pytest.raises(Stopped):
        queue.execute(process.pk, session)
    assert LedgerEntry.objects.filter(status=LedgerStatus.ANSWERED).count() == 3
    assert reloaded(process).completed == 0
    session.fail(Stopped(Stop.SHUTDOWN))
    process = work_to_end(process)
    assert process.completed == 3
    assert len(provider.requests) == 3
    assert process.tokens > 0


def test_one_who_is_not_the_owner_any_more_sends_and_writes_nothing(provider):
    """As after a long sleep: somebody else has taken the process over."""
    process = enqueued(questions(5))
    sleeper = session_for(process)
    taken = queue.processes.take(process.pk, sleeper)
    sleeper.fail(Stopped(Stop.TIMED_OUT))
    process = work_to_end(process)
    assert process.completed == 5
    with Lines() as lines, pytest.raises(queue.Interrupted):
        sync.turn(taken, queue.provider_for("site"), sleeper, seconds=None, lines=lines)
    assert len(provider.requests) == 5
    assert reloaded(process).completed == 5


def test_calls_wait_until_it_is_certain_that_the_work_is_ours(provider, settings):
    """The proof that a call needs runs out well before a lease does."""
    settings.JOB_LEASE_SECONDS = 0.6
    config = queue.provider_for("site")
    line = wire.Wire(config, wire.Speech())
    try:
        time.sleep(0.4)
        process = enqueued(questions(1))
        job = LLMJob.objects.of(process.pk).get()
        line.send([sync.first_ask(job, config)])
        assert line.collect(0.3) == []
        assert provider.requests == []
        line.prove(time.monotonic())
        (outcome,) = line.collect(3)
        assert outcome.answer is not None
    finally:
        line.close()


def test_a_key_that_a_server_repeats_stays_out_of_the_rows(provider, settings):
    settings.LLM = {**settings.LLM, "api_key": "sk-very-secret-key"}
    provider.script(lambda body: Answer("Wrong key: sk-very-secret-key", status=400))
    process = work_to_end(enqueued(questions(1)))
    row = LLMJob.objects.of(process.pk).get()
    assert row.status == JobStatus.FAILED
    assert "secret" not in row.error_message
    assert "secret" not in str(LedgerEntry.objects.values())


def test_another_provider_chosen_meanwhile_gets_the_rest(provider, settings):
    settings.LLM_TURN_SECONDS = 0.1
    provider.delay = 0.05
    process = work(enqueued(questions(30)))
    settings.LLM = {**settings.LLM, "model": "peer-large"}
    settings.LLM_TURN_SECONDS = 60.0
    process = work_to_end(process)
    assert process.completed == 30
    assert (process.model, process.notice) == ("peer-large", "provider_changed")
    assert {r.json["model"] for r in provider.requests} == {"peer-small", "peer-large"}


def test_several_processes_may_share_a_line(provider):
    owner = session_for(enqueued(questions(1)))
    with Lines() as lines:
        for number in range(3):
            process = enqueued([asking(f"of process {number}")], inline=owner)
            assert queue.execute(process.pk, owner, lines=lines).ended
        assert [thread.name for thread in threading.enumerate()].count("llm-wire") == 1
        assert provider.connections == 1
    assert "llm-wire" not in [thread.name for thread in threading.enumerate()]


def test_a_line_is_not_used_again_after_trouble_or_for_another_provider(provider, settings):
    config = queue.provider_for("site")
    with Lines() as lines:
        with lines.to(config) as first:
            pass
        with pytest.raises(OSError, match="trouble"), lines.to(config) as second:
            raise OSError("trouble")
        assert second is first
        with lines.to(config) as third:
            assert third is not first
        settings.LLM = {**settings.LLM, "timeout": 7}
        with lines.to(queue.provider_for("site")) as fourth:
            assert fourth is not third
