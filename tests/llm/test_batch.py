"""Sending many at once: every status of a batch, and every way it can go wrong."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from glossary_site.live.models import Event
from glossary_site.llm.choices import BatchState, JobStatus, Notice, ProcessStatus, Strategy
from glossary_site.llm.models import LedgerEntry, LLMJob, ProviderBatch
from glossary_site.llm.services import queue
from tests.llm.working import (
    SCHEMA,
    answers,
    asking,
    enqueued,
    questions,
    work,
    work_to_end,
)
from tests.llm_server import CHAT, Answer

pytestmark = pytest.mark.django_db


def batched(requests, **options):
    return enqueued(requests, strategy=Strategy.BATCH, **options)


def statuses(process) -> list[str]:
    return list(LLMJob.objects.of(process.pk).order_by("pk").values_list("status", flat=True))


def test_a_batch_is_submitted_polled_and_collected_without_holding_a_worker(provider):
    process = work(batched(questions(5)))
    assert process.status == ProcessStatus.WAITING
    (batch,) = provider.batches.all()
    assert batch.metadata == {"process_id": str(process.pk), "number": "1"}
    assert statuses(process) == [JobStatus.IN_PROGRESS] * 5
    assert set(LLMJob.objects.values_list("batch_job_id", flat=True)) == {batch.id}
    assert set(LedgerEntry.objects.values_list("batch_job_id", flat=True)) == {batch.id}
    assert process.run.state == "PENDING"
    provider.finish_batches()
    process = work(process)
    assert (process.status, process.completed) == (ProcessStatus.COMPLETED, 5)
    assert [result.key for result in answers(process)] == [f"question {n}" for n in range(5)]
    assert len(provider.ledger.charged()) == 5
    assert process.tokens > 0


def test_every_status_on_the_way_is_waited_for(provider):
    process = work(batched(questions(3)))
    for status in ("in_progress", "finalizing"):
        provider.advance_batches()
        process = work(process)
        assert process.status == ProcessStatus.WAITING
        assert ProviderBatch.objects.get().provider_status == status
    provider.advance_batches()
    assert work(process).completed == 3


def test_a_status_of_a_servers_own_is_waited_for_whatever_it_is(provider):
    process = work(batched(questions(3)))
    (batch,) = provider.batches.all()
    long = "waiting for a machine\0 with enough memory to become free"
    for status, noted in ((long, "waiting for a machine\ufffd with enough memor"), (None, "")):
        known, batch.status = batch.status, status
        process = work(process)
        batch.status = known
        assert process.status == ProcessStatus.WAITING, process.error
        assert ProviderBatch.objects.get().provider_status == noted
    provider.finish_batches()
    assert work(process).completed == 3


def test_polls_come_less_and_less_often(provider, settings):
    settings.LLM_BATCH_POLL_SECONDS = 10
    process = work(batched(questions(1)))
    pauses = []
    for _ in range(14):
        run = process.run
        pauses.append((run.due_at - run.created_at).total_seconds())
        process = work(process)
    assert [round(pause) for pause in pauses] == sorted(round(pause) for pause in pauses)
    assert pauses[0] == pytest.approx(10, abs=0.5)
    assert pauses[-1] == pytest.approx(600, abs=0.5)


def test_progress_is_the_providers_count(provider):
    process = work(batched(questions(6)))
    provider.advance_batches()
    provider.work_on_batches(4)
    process = work(process)
    event = Event.objects.filter(type="llm.progress").last()
    assert event.payload["done"] == 4
    assert event.payload["batch_status"] == "in_progress"
    assert event.payload["process_id"] == str(process.pk)
    provider.finish_batches()
    work(process)
    done = [e.payload["done"] for e in Event.objects.filter(type="llm.progress").order_by("number")]
    assert done[-1] == 6


def test_an_expired_batch_keeps_what_is_there_and_only_the_rest_is_sent_again(provider):
    provider.plan_batch("expired", after=4)
    process = work(batched(questions(10)))
    provider.finish_batches()
    process = work(process)
    assert process.completed == 4
    first, second = ProviderBatch.objects.order_by("number")
    assert (first.state, second.state, second.requests) == (
        BatchState.COLLECTED,
        BatchState.OPEN,
        6,
    )
    provider.finish_batches()
    process = work(process)
    assert (process.status, process.completed) == (ProcessStatus.COMPLETED, 10)
    assert set(provider.ledger.charged().values()) == {1}


def test_a_batch_that_expires_again_and_again_is_given_up(provider, settings):
    settings.LLM_ATTEMPTS = 3
    process = batched(questions(2))
    for _ in range(4):
        provider.plan_batch("expired")
        process = work(process)
        provider.finish_batches()
        if process.ended:
            break
    assert process.failed == 2
    assert "Not answered in 3 batches" in answers(process)[0].error


def test_a_batch_that_the_provider_refuses_fails_its_requests(provider):
    provider.plan_batch("failed", message="No such purpose.")
    process = work(batched(questions(2)))
    provider.finish_batches()
    process = work(process)
    assert (process.status, process.failed) == (ProcessStatus.COMPLETED, 2)
    assert "No such purpose." in answers(process)[0].error


def test_a_batch_that_was_cancelled_at_the_provider_is_not_sent_again(provider):
    process = work(batched(questions(5)))
    provider.advance_batches()
    provider.work_on_batches(2)
    (batch,) = provider.batches.all()
    batch.become("cancelling")
    provider.advance_batches()
    process = work(process)
    assert (process.completed, process.failed) == (2, 3)
    assert "cancelled elsewhere" in answers(process)[4].error
    assert len(provider.batches.all()) == 1


def test_cancelling_cancels_at_the_provider_and_keeps_what_is_paid(provider, superuser):
    process = work(batched(questions(5)))
    provider.advance_batches()
    provider.work_on_batches(2)
    queue.cancel(process.pk, actor=superuser)
    process = work(process)
    assert process.status == ProcessStatus.CANCELLING
    assert provider.batches.all()[0].status == "cancelling"
    provider.finish_batches()
    process = work_to_end(process)
    assert process.status == ProcessStatus.CANCELLED
    assert (process.completed, process.failed) == (2, 3)
    assert process.reserved_tokens == 0
    assert "root" in answers(process)[4].error


def test_failed_lines_are_failures_of_their_requests_alone(provider):
    provider.faults.add("unknown_model", match="question 1", in_batches=True)
    provider.faults.add("server_error", match="question 2", in_batches=True, times=1)
    provider.faults.add("hang", match="question 3", in_batches=True, times=1)
    process = work(batched(questions(4)))
    provider.finish_batches()
    process = work(process)
    assert statuses(process) == [
        JobStatus.COMPLETED,
        JobStatus.FAILED,
        JobStatus.IN_PROGRESS,
        JobStatus.IN_PROGRESS,
    ], "what may pass is in a second batch"
    provider.finish_batches()
    process = work(process)
    assert (process.completed, process.failed) == (3, 1)
    assert "404" in answers(process)[1].error


def test_a_body_written_as_text_and_an_empty_error_file_are_accepted(provider):
    provider.configure(batch_bodies_as_strings=True, empty_error_files=True)
    process = work(batched(questions(3)))
    provider.finish_batches()
    assert work(process).completed == 3


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_provider_without_batches_is_asked_one_by_one_and_it_is_said(provider, status):
    provider.faults.add("no_batches", status=status)
    process = work(batched(questions(5)))
    assert (process.status, process.completed) == (ProcessStatus.COMPLETED, 5)
    assert (process.strategy, process.notice) == (Strategy.SYNC, Notice.NO_BATCHES)
    assert "no batches" in process.get_notice_display()
    tried = [r for r in provider.ledger.entries() if r.path == "/v1/files"]
    work_to_end(batched([asking("later")]))
    assert len([r for r in provider.ledger.entries() if r.path == "/v1/files"]) == len(tried)


def test_files_without_batches_is_no_batches_either(provider):
    provider.faults.add("no_batches", path="/v1/batches")
    process = work(batched(questions(2)))
    assert (process.completed, process.notice) == (2, Notice.NO_BATCHES)


def test_more_than_fits_becomes_several_batches(provider, settings):
    settings.LLM_BATCH_REQUESTS = 4
    process = work(batched(questions(10)))
    assert [batch.requests for batch in ProviderBatch.objects.order_by("number")] == [4, 4, 2]
    provider.finish_batches()
    process = work(process)
    assert process.completed == 10
    assert [result.key for result in answers(process)] == [f"question {n}" for n in range(10)]


def test_batches_are_split_by_size_too(provider, settings):
    line = len(json.dumps({"x": "y" * 1000}))
    settings.LLM_BATCH_BYTES = 4 * line
    provider.configure(most_bytes_in_a_file=4 * line)
    process = work(batched([asking(f"{n} {'y' * 900}") for n in range(7)]))
    assert [batch.requests for batch in ProviderBatch.objects.order_by("number")] == [3, 3, 1]
    provider.finish_batches()
    assert work(process).completed == 7


def test_a_request_larger_than_a_batch_fails_alone(provider, settings):
    settings.LLM_BATCH_BYTES = 2000
    process = work(batched([asking("x" * 5000), asking("small")]))
    provider.finish_batches()
    process = work(process)
    assert [result.ok for result in answers(process)] == [False, True]
    assert "larger than a batch" in answers(process)[0].error


def test_duplicates_are_in_the_batch_once(provider):
    process = work(batched([asking("same", key=str(n)) for n in range(300)] + [asking("other")]))
    assert ProviderBatch.objects.get().requests == 2
    provider.finish_batches()
    process = work(process)
    assert (process.completed, process.served) == (301, 299)
    assert len(provider.ledger.charged()) == 2


def test_what_the_ledger_knows_is_in_no_batch(provider):
    work_to_end(enqueued(questions(3)))
    process = work(batched(questions(3)))
    assert (process.status, process.served) == (ProcessStatus.COMPLETED, 3)
    assert provider.batches.all() == []


def test_a_wrong_answer_is_repaired_at_once_and_not_a_day_later(provider):
    provider.faults.add("break_schema", match="text 1", in_batches=True)
    process = work(batched([asking(f"text {n}", schema=SCHEMA) for n in range(3)]))
    provider.finish_batches()
    process = work(process)
    assert (process.status, process.completed) == (ProcessStatus.COMPLETED, 3)
    assert len(provider.batches.all()) == 1
    direct = [r for r in provider.requests if not r.batch_id]
    assert len(direct) == 1


def test_a_second_wrong_answer_is_a_failure(provider):
    provider.faults.add("break_schema", in_batches=True, match="text 1")
    provider.faults.add("break_schema", match="text 1")
    process = work(batched([asking(f"text {n}", schema=SCHEMA) for n in range(2)]))
    provider.finish_batches()
    process = work(process)
    assert [result.ok for result in answers(process)] == [True, False]


def test_lines_that_a_server_does_not_understand_are_put_in_other_words(provider):
    def answer(body):
        if "response_format" in body:
            return Answer("json_schema is not supported", status=400)
        return json.dumps({"term": "t", "count": 1})

    provider.script(answer)
    process = work(batched([asking("x", schema=SCHEMA)]))
    provider.finish_batches()
    process = work(process)
    assert process.completed == 1


def test_lines_that_no_other_words_would_help_are_not_sent_again(provider):
    provider.faults.add("bad_request", code="content_filter", message="No.", in_batches=True)
    process = work(batched([asking("x", schema=SCHEMA)]))
    provider.finish_batches()
    process = work(process)
    assert process.failed == 1
    assert len(provider.requests) == 1


@pytest.mark.parametrize("fault", ["server_error", "rate_limit", "cut_before", "malformed"])
def test_a_provider_that_stumbles_over_a_poll_is_asked_again(provider, fault):
    process = work(batched(questions(2)))
    provider.finish_batches()
    provider.faults.add(fault, path="/v1/batches", times=1)
    process = work(process)
    assert process.status == ProcessStatus.WAITING
    assert work(process).completed == 2
    assert len(provider.batches.all()) == 1


@pytest.mark.parametrize("fault", ["server_error", "rate_limit", "cut_before", "malformed"])
def test_an_upload_that_stumbles_is_made_again(provider, fault):
    provider.faults.add(fault, path="/v1/files", times=1)
    process = work(batched(questions(2)))
    assert process.status == ProcessStatus.WAITING
    process = work(process)
    provider.finish_batches()
    process = work_to_end(process)
    assert process.completed == 2
    assert set(provider.ledger.charged().values()) == {1}
    names = [file.filename for file in provider.files.all()]
    assert not [name for name in names if name.endswith("-1.jsonl")], "no orphan is left"


@pytest.mark.parametrize("fault", ["cut_before", "malformed", "server_error"])
def test_a_batch_whose_creation_was_not_heard_of_is_found_and_not_made_twice(provider, fault):
    provider.faults.add(fault, path="/v1/batches", times=1, worked=True)
    process = work(batched(questions(3)))
    assert ProviderBatch.objects.get().state == BatchState.CREATING
    assert len(provider.batches.all()) == 1
    process = work(process)
    assert ProviderBatch.objects.get().state == BatchState.OPEN
    provider.finish_batches()
    assert work_to_end(process).completed == 3
    assert len(provider.batches.all()) == 1


def test_a_creation_that_did_not_happen_is_made_good_from_the_same_file(provider):
    provider.faults.add("server_error", path="/v1/batches", times=1)
    process = work(batched(questions(3)))
    for _ in range(3):
        process = work(process)
    assert ProviderBatch.objects.get().state == BatchState.OPEN
    assert len([r for r in provider.ledger.entries() if r.path == "/v1/files"]) == 1
    provider.finish_batches()
    assert work_to_end(process).completed == 3


def test_a_refused_key_ends_it_with_a_reason(provider):
    provider.faults.add("refused_key", path="/v1/files")
    process = work(batched(questions(3)))
    assert process.ended
    assert process.failed == 3
    assert "401" in answers(process)[0].error


def test_a_batch_that_is_gone_fails_its_requests(provider):
    process = work(batched(questions(2)))
    provider.batches._batches.clear()
    process = work(process)
    assert process.failed == 2
    assert "does not know the batch" in answers(process)[0].error


def test_nothing_is_left_lying_at_the_provider(provider):
    process = work(batched(questions(2)))
    assert len(provider.files.all()) == 1
    provider.finish_batches()
    work(process)
    assert provider.files.all() == []


def test_foreign_lines_in_an_answer_are_ignored(provider):
    process = work(batched(questions(2)))
    provider.advance_batches()
    (batch,) = provider.batches.all()
    other = enqueued([asking("of another process")])
    foreign = LLMJob.objects.of(other.pk).get()
    body = {"choices": [{"message": {"content": "mine!"}}]}
    line = {"custom_id": str(foreign.pk), "response": {"status_code": 200, "body": body}}
    batch.output += [line, {"custom_id": "nonsense"}, {"no": "id"}, line]
    provider.finish_batches()
    assert work(process).completed == 2
    foreign.refresh_from_db()
    assert foreign.status == JobStatus.PENDING


def test_a_provider_that_was_changed_loses_its_batch_and_never_sees_the_new_key(provider, settings):
    process = work(batched(questions(2)))
    settings.LLM = {**settings.LLM, "base_url": f"{provider.address}/prefix/v1", "api_key": "new"}
    process = work(process)
    assert (process.status, process.failed) == (ProcessStatus.COMPLETED, 2)
    assert process.notice == Notice.PROVIDER_CHANGED
    assert "lay in a batch" in answers(process)[0].error


def test_a_provider_that_answers_nothing_for_days_is_given_up(provider):
    process = work(batched(questions(2)))
    process = work(process)
    type(process).objects.update(progress_at=timezone.now() - timedelta(days=3))
    process = work(process)
    assert process.status == ProcessStatus.FAILED
    assert "2 days" in process.error
    assert process.reserved_tokens == 0


def test_the_lines_are_chats_with_nothing_else(provider):
    work(batched(questions(2)))
    (file,) = provider.files.all()
    for raw in file.content.decode().split("\n")[:-1]:
        line = json.loads(raw)
        assert line.keys() == {"custom_id", "method", "url", "body"}
        assert (line["method"], line["url"]) == ("POST", CHAT)
