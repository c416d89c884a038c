"""Putting requests in and taking answers out."""

import threading
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction

from glossary_site.errors import Refusal
from glossary_site.jobs.models import JobRun
from glossary_site.live.models import Event
from glossary_site.llm.choices import JobStatus, ProcessStatus
from glossary_site.llm.ids import growing_ids
from glossary_site.llm.models import LLMJob, LLMProcess
from glossary_site.llm.requests import Request
from glossary_site.llm.services import queue
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

pytestmark = pytest.mark.django_db


def test_what_goes_in_comes_out_answered_and_in_order(provider):
    process = work_to_end(enqueued(questions(25)))
    assert process.status == ProcessStatus.COMPLETED
    assert (process.total, process.completed, process.failed) == (25, 25, 0)
    results = answers(process)
    assert [result.key for result in results] == [f"question {n}" for n in range(25)]
    assert all(result.ok and result.key in result.content for result in results)


def test_a_process_that_was_consumed_leaves_no_row(provider):
    process = work_to_end(enqueued(questions(5)))
    kept = []
    with queue.consume(process.pk) as results:
        kept += [result.key for result in results]
    assert len(kept) == 5
    assert not LLMJob.objects.filter(process_id=process.pk).exists()
    assert reloaded(process).consumed_at is not None


def test_rows_and_what_was_stored_of_them_go_together_or_not_at_all(provider):
    process = work_to_end(enqueued(questions(3)))

    def fail_within() -> None:
        with queue.consume(process.pk) as results:
            next(results)
            raise ValueError("no room")

    @transaction.atomic
    def fail_afterwards() -> None:
        with queue.consume(process.pk) as results:
            list(results)
        raise ValueError("no room")

    for fail in (fail_within, fail_afterwards):
        with pytest.raises(ValueError, match="no room"):
            fail()
        assert len(answers(process)) == 3
        assert reloaded(process).consumed_at is None


def test_nothing_is_taken_away_before_all_is_answered(provider):
    process = enqueued(questions(2))
    with pytest.raises(Refusal) as refused, queue.consume(process.pk):
        pass
    assert refused.value.code == "process_active"
    assert LLMJob.objects.of(process.pk).count() == 2


def test_the_same_process_is_enqueued_once(provider):
    number = uuid4()
    first = queue.enqueue(number, questions(2))
    again = queue.enqueue(number, questions(7))
    assert (first.fresh, again.fresh) == (True, False)
    assert again.total == 2
    assert LLMJob.objects.of(number).count() == 2
    assert JobRun.objects.filter(kind="llm.process").count() == 1


def test_nothing_is_left_of_a_refused_enqueue(provider):
    def half_wrong():
        yield from questions(300)
        yield {"key": "x", "messages": [{"role": "tool", "content": "x"}]}

    with pytest.raises(Refusal):
        enqueued(half_wrong())
    assert not LLMProcess.objects.exists()
    assert not LLMJob.objects.exists()
    assert not JobRun.objects.exists()


@pytest.mark.parametrize(
    "given",
    [
        {"key": "x"},
        {"key": "x", "messages": []},
        {"key": "x", "messages": [{"role": "user", "content": ["parts"]}]},
        {"key": "x", "messages": [{"role": "user", "content": "x", "tool_calls": []}]},
        {"key": "x", "messages": [{"role": "user", "content": "x"}], "tools": []},
        {"key": "x", "messages": [{"role": "user", "content": "x"}], "max_tokens": 0},
        {"key": "x", "messages": [{"role": "user", "content": "x"}], "schema": {"type": "wrong"}},
        {"key": "x", "messages": [{"role": "user", "content": "x"}], "schema": []},
    ],
)
def test_a_request_that_cannot_be_is_refused_where_it_comes_in(provider, given):
    with pytest.raises(Refusal) as refused:
        enqueued([given])
    assert (refused.value.code, refused.value.status) == ("bad_request", 400)


def test_plain_dictionaries_are_requests_too(provider):
    message = {"role": "user", "content": "as a dictionary"}
    process = work_to_end(enqueued([{"key": "k", "messages": [message]}]))
    assert [result.key for result in answers(process)] == ["k"]


def test_what_follows_is_enqueued_with_the_last_answer(provider, tmp_path):
    then = ("work.note", {"path": str(tmp_path / "notes"), "line": "done"})
    process = enqueued(questions(3), then=then)
    assert not JobRun.objects.filter(kind="work.note").exists()
    work_to_end(process)
    assert JobRun.objects.get(kind="work.note").payload == then[1]


def test_an_unknown_kind_of_following_work_is_refused_at_once(provider):
    with pytest.raises(Refusal):
        enqueued(questions(1), then=("no.such.kind", {}))
    assert not LLMProcess.objects.exists()


def test_a_process_of_nothing_ends_and_is_followed(provider):
    process = work_to_end(enqueued([], then=("work.note", {})))
    assert process.status == ProcessStatus.COMPLETED
    assert JobRun.objects.filter(kind="work.note").exists()


def test_a_finished_request_is_one_event_with_the_process_as_correlation(provider):
    process = work_to_end(enqueued(questions(6), scope="project:7"))
    events = Event.objects.filter(stream__name="project:7", type="llm.progress").order_by("number")
    payloads = [event.payload for event in events]
    assert [payload["done"] for payload in payloads] == [1, 2, 3, 4, 5, 6]
    assert {payload["process_id"] for payload in payloads} == {str(process.pk)}
    assert {payload["total"] for payload in payloads} == {6}
    last = Event.objects.filter(stream__name="project:7", type="llm.changed").last()
    assert last.payload["status"] == "COMPLETED"


def test_news_of_the_whole_site_is_for_operators(provider):
    work_to_end(enqueued(questions(1)))
    assert Event.objects.filter(stream__name="operations", type="llm.progress").count() == 1


def test_keys_grow_in_order_of_enqueuing_beyond_any_digit():
    ids = growing_ids()
    some = [next(ids) for _ in range(5000)]
    assert some == sorted(some)
    assert [str(each) for each in some] == sorted(map(str, some))
    assert {each.version for each in some} == {7}


def test_texts_come_back_as_they_were(provider):
    nasty = "null \x00, half \ud83d, 日本語, \u2028 line, “quotes” \\ {json}"
    provider.script(lambda body: "echo")
    process = enqueued([asking("x", key=nasty)])
    work_to_end(process)
    assert answers(process)[0].key == nasty


def test_half_a_character_in_a_question_does_not_stop_it(provider):
    process = work_to_end(enqueued([asking("half \ud83d of a pair")]))
    assert answers(process)[0].ok


def test_it_can_be_executed_within_somebody_elses_job(provider):
    owner = session_for(enqueued(questions(1)))
    process = enqueued(questions(4), inline=owner)
    assert process.run_id == owner.run.pk
    assert queue.execute(process.pk, owner).ended
    assert len(answers(process)) == 4


def test_a_second_execution_while_the_first_goes_on_is_refused(provider):
    process = enqueued(questions(2))
    first = session_for(process)
    queue.processes.take(process.pk, first)
    other = session_for(enqueued(questions(1)))
    with pytest.raises(Exception, match="works on the LLM process"):
        queue.execute(process.pk, other)


def test_an_execution_after_the_end_does_nothing(provider):
    process = enqueued(questions(2))
    session = session_for(process)
    queue.execute(process.pk, session)
    assert queue.execute(process.pk, session).ended
    assert len(provider.requests) == 2


@pytest.mark.parametrize(
    "columns",
    [
        {"status": "DELETED"},
        {"status": JobStatus.PENDING, "response_json": "{}"},
        {"status": JobStatus.PENDING, "batch_job_id": "b"},
        {"status": JobStatus.IN_PROGRESS, "error_message": "x"},
        {"status": JobStatus.COMPLETED},
        {"status": JobStatus.COMPLETED, "response_json": "{}", "error_message": "x"},
        {"status": JobStatus.FAILED},
        {"status": JobStatus.FAILED, "error_message": ""},
        {"status": JobStatus.FAILED, "error_message": "x", "response_json": "{}"},
    ],
)
def test_the_database_refuses_columns_that_do_not_fit_the_status(columns):
    row = LLMJob(pk=uuid4(), process_id=uuid4(), request_json="{}", **columns)
    with pytest.raises(IntegrityError), transaction.atomic():
        LLMJob.objects.bulk_create([row])


def test_the_table_is_the_one_that_was_designed():
    assert [field.name for field in LLMJob._meta.fields] == [
        "id",
        "process_id",
        "request_json",
        "status",
        "batch_job_id",
        "response_json",
        "error_message",
        "created_at",
        "updated_at",
    ]


def test_a_long_process_gives_others_their_turn(provider, settings):
    settings.LLM_TURN_SECONDS = 0.1
    provider.delay = 0.05
    process = work(enqueued(questions(30)))
    assert process.status == ProcessStatus.WAITING
    assert 0 < process.completed < 30
    settings.LLM_TURN_SECONDS = 60.0
    assert work_to_end(process).completed == 30
    assert len(provider.requests) == 30


@pytest.mark.django_db(transaction=True)
def test_two_that_enqueue_the_same_process_at_once_make_one(provider):
    number = uuid4()
    made: list[LLMProcess] = []

    def enqueue() -> None:
        try:
            made.append(queue.enqueue(number, [Request("k", [{"role": "user", "content": "x"}])]))
        finally:
            connection.close()

    threads = [threading.Thread(target=enqueue) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 6
    assert sum(process.fresh for process in made) == 1
    assert LLMJob.objects.of(number).count() == 1
    assert JobRun.objects.count() == 1
