"""What people and the site do to processes: cancel, retry, rescue, remove."""

import json
from unittest.mock import patch

import pytest
from django.db import OperationalError
from django.db.models import F

from glossary_site.errors import Refusal
from glossary_site.jobs.choices import State
from glossary_site.jobs.errors import Stop, Stopped
from glossary_site.jobs.models import AuditEntry, JobRun
from glossary_site.jobs.services.enqueue import enqueue as enqueue_job
from glossary_site.jobs.services.runs import cancel_run
from glossary_site.jobs.session import Session, claim
from glossary_site.llm.choices import ENDED, TRANSITIONS, JobStatus, ProcessStatus
from glossary_site.llm.models import LLMJob, LLMProcess, Spending
from glossary_site.llm.services import processes, queue
from glossary_site.observe.logs import JsonLines
from tests.jobs.running import perform
from tests.llm.working import (
    SCHEMA,
    WORKER,
    answers,
    asking,
    enqueued,
    latest_run,
    questions,
    reloaded,
    session_for,
    work,
    work_to_end,
)

pytestmark = pytest.mark.django_db


def interrupted(process: LLMProcess, *, answered: int) -> LLMProcess:
    """After so many answers, by a worker that never came back."""
    session = session_for(process)
    tell = session.progress

    def progress(current: int, total: int, message: str = "") -> None:
        tell(current, total, message)
        if current == answered:
            session.stop(Stop.TIMED_OUT)

    with patch.object(session, "progress", progress), pytest.raises(Stopped):
        queue.execute(process.pk, session)
    session.fail(Stopped(Stop.TIMED_OUT))
    return reloaded(process)


def other_work() -> Session:
    """A job of somebody else, begun."""
    session = claim(enqueue_job("work.note", retries=0).pk, worker=WORKER)
    assert session is not None
    return session


def exhausted(process: LLMProcess) -> None:
    """Its run has ended for good."""
    run = latest_run(process)
    JobRun.objects.filter(pk=run.pk).update(max_attempts=run.attempt)
    session = session_for(process)
    session.fail(ValueError("no luck"))


def test_a_waiting_process_is_cancelled(provider, superuser):
    process = enqueued(questions(3), then=("work.note", {}))
    run = process.run
    process = queue.cancel(process.pk, actor=superuser)
    assert (process.status, process.failed) == (ProcessStatus.CANCELLED, 3)
    run.refresh_from_db()
    assert run.state == State.CANCELED
    assert "root" in answers(process)[0].error
    assert Spending.objects.filter(reserved_tokens__gt=0).count() == 0
    assert provider.requests == []
    assert JobRun.objects.filter(kind="work.note").exists(), "whoever waits for it must be told"
    entry = AuditEntry.objects.get(target_type="llm.llmprocess")
    assert (entry.actor, entry.action) == ("root", "cancel")
    assert entry.before["status"] == "PENDING"
    assert entry.after["status"] == "CANCELLED"


def test_answers_that_are_there_when_it_is_cancelled_stay(provider, superuser):
    provider.faults.add("hold", match="question 5")
    process = interrupted(enqueued(questions(6)), answered=5)
    process = queue.cancel(process.pk, actor=superuser, reason="Enough.")
    assert (process.completed, process.failed) == (5, 1)
    with queue.consume(process.pk) as results:
        assert [result.ok for result in results] == [True] * 5 + [False]
    assert not LLMJob.objects.exists()


def test_a_cancelled_process_is_noticed_by_who_executes_it_inline(provider, superuser):
    provider.faults.add("hold")
    owner = other_work()
    process = enqueued(questions(4), inline=owner)
    # In this thread, between two looks of the executor: nobody else may use its connection.
    looked = iter(range(100))
    real = owner.check

    def check() -> None:
        real()
        if next(looked) == 3:
            queue.cancel(process.pk, actor=superuser)

    owner.check = check
    assert queue.execute(process.pk, owner).ended
    assert reloaded(process).status == ProcessStatus.CANCELLED
    assert JobRun.objects.get(pk=owner.run.pk).state == State.RUNNING


def test_a_scope_that_goes_takes_its_processes_along(provider, superuser):
    going = [enqueued(questions(1), scope="project:7") for _ in range(2)]
    staying = enqueued(questions(1), scope="project:8")
    assert processes.cancel_scope(scope="project:7", actor=superuser) == 2
    assert {reloaded(each).status for each in going} == {ProcessStatus.CANCELLED}
    assert reloaded(staying).status == ProcessStatus.PENDING
    assert Spending.objects.get(scope="project:7").reserved_tokens == 0
    assert processes.cancel_scope(scope="project:7", actor=superuser) == 0


def test_and_the_questions_and_answers_that_nobody_comes_for(provider, superuser):
    answered = work_to_end(enqueued(questions(2), scope="project:7"))
    waiting = enqueued(questions(2), scope="project:7")
    staying = [work_to_end(enqueued(questions(1))), enqueued(questions(1), scope="project:8")]
    processes.cancel_scope(scope="project:7", actor=superuser)
    left = set(LLMJob.objects.values_list("process_id", flat=True))
    assert left == {each.pk for each in staying}
    assert reloaded(answered).consumed_at
    assert reloaded(waiting).consumed_at
    assert reloaded(staying[0]).consumed_at is None


def test_what_has_ended_is_not_cancelled(provider, superuser):
    process = work_to_end(enqueued(questions(1)))
    with pytest.raises(Refusal) as refused:
        queue.cancel(process.pk, actor=superuser)
    assert refused.value.code == "process_not_active"


def test_only_the_failed_requests_are_retried(provider, settings, superuser):
    settings.LLM_ATTEMPTS = 1
    provider.faults.add("server_error", match="question 2", times=1)
    process = work_to_end(enqueued(questions(4), then=("work.note", {})))
    assert process.failed == 1
    process = queue.retry(process.pk, actor=superuser)
    assert (process.status, process.failed) == (ProcessStatus.PENDING, 0)
    assert process.reserved_tokens > 0
    process = work_to_end(process)
    assert (process.status, process.completed) == (ProcessStatus.COMPLETED, 4)
    assert len(provider.requests) == 5
    assert JobRun.objects.filter(kind="work.note").count() == 2
    assert AuditEntry.objects.filter(action="retry", target_type="llm.llmprocess").exists()
    site = Spending.objects.get(scope="site")
    assert (site.reserved_tokens, site.used_tokens) == (0, process.tokens)


def test_an_answer_that_did_not_fit_is_asked_for_again_on_retry(provider, superuser):
    provider.faults.add("break_schema", times=2)
    process = work_to_end(enqueued([asking("x", schema=SCHEMA)]))
    assert process.failed == 1
    queue.retry(process.pk, actor=superuser)
    assert work_to_end(process).completed == 1


def test_there_is_nothing_to_retry_where_nothing_failed(provider, superuser):
    process = enqueued(questions(1))
    with pytest.raises(Refusal) as refused:
        queue.retry(process.pk, actor=superuser)
    assert refused.value.code == "process_active"
    process = work_to_end(process)
    with pytest.raises(Refusal) as refused:
        queue.retry(process.pk, actor=superuser)
    assert refused.value.code == "nothing_to_retry"


def test_a_cancelled_process_can_be_taken_up_again(provider, superuser):
    process = queue.cancel(enqueued(questions(3)).pk, actor=superuser)
    queue.retry(process.pk, actor=superuser)
    assert work_to_end(process).completed == 3


def test_in_flight_with_a_dead_owner_waits_again(provider):
    provider.faults.add("hold")
    process = interrupted(enqueued(questions(3)), answered=0)
    assert LLMJob.objects.of(process.pk).in_flight().count() == 3
    provider.faults.clear()
    session = session_for(process)
    processes.take(process.pk, session)
    assert LLMJob.objects.of(process.pk).pending().count() == 3


def test_a_process_whose_run_is_gone_for_good_is_taken_up_again(provider):
    process = enqueued(questions(3))
    exhausted(process)
    before = reloaded(process).run_id
    assert processes.rescue() == 1
    assert reloaded(process).run_id != before
    assert processes.rescue() == 0, "it is looked after now"
    assert work_to_end(process).completed == 3


def test_a_process_that_never_gets_anywhere_is_given_up_and_pays_nothing_back_for_ever(provider):
    process = enqueued(questions(3), then=("work.note", {}))
    assert Spending.objects.get(scope="site").reserved_tokens > 0
    for _ in range(processes.MOST_STALLS):
        session = session_for(process)
        processes.take(process.pk, session)
        JobRun.objects.filter(pk=session.run.pk).update(max_attempts=1)
        session.run.max_attempts = 1
        session.fail(ValueError("always the same"))
        processes.rescue()
    process = reloaded(process)
    assert process.status == ProcessStatus.FAILED
    assert process.error.startswith("Given up after 5 turns without progress.")
    assert "always the same" not in process.error, "it may name files and addresses of the server"
    assert Spending.objects.get(scope="site").reserved_tokens == 0
    assert JobRun.objects.filter(kind="work.note").exists()


def test_cancelling_the_run_cancels_the_process(provider, superuser):
    process = enqueued(questions(2))
    cancel_run(process.run, actor=superuser)
    assert processes.rescue() == 1
    process = reloaded(process)
    assert process.status == ProcessStatus.CANCELLED
    assert Spending.objects.get(scope="site").reserved_tokens == 0


def test_a_process_that_a_dead_job_executed_inline_is_left_to_its_kind_for_a_while(provider):
    owner = other_work()
    process = enqueued(questions(2), inline=owner)
    owner.fail(OperationalError("db7.internal (10.0.3.7) failed: /srv/pg.sock"))
    assert processes.rescue() == 0
    assert reloaded(process).status == ProcessStatus.PENDING
    ended = JobRun.objects.filter(pk=owner.run.pk)
    ended.update(finished_at=F("finished_at") - processes.OTHERS_FIRST)
    assert processes.rescue() == 1
    process = reloaded(process)
    assert process.status == ProcessStatus.FAILED
    assert process.error.startswith(f"Job {owner.run.pk}, which worked on it, has ended.")
    said = [process.error, *(each.error for each in answers(process))]
    assert not [each for each in said if "10.0.3.7" in each or "/srv" in each]


def test_recovering_a_process_that_somebody_works_on_does_nothing(provider):
    process = enqueued(questions(1))
    run = process.run_id
    assert queue.recover(process.pk).run_id == run
    session_for(process)
    assert queue.recover(process.pk).run_id == run


def test_the_next_attempt_counts_as_somebody_who_works_on_it(provider):
    process = enqueued(questions(1))
    session_for(process).fail(ValueError("no luck"))
    run = reloaded(process).run_id
    assert queue.recover(process.pk).run_id == run


def test_an_ended_process_can_be_removed(provider, superuser):
    process = enqueued(questions(2))
    with pytest.raises(Refusal):
        processes.discard(process.pk, actor=superuser)
    work_to_end(process)
    processes.discard(process.pk, actor=superuser)
    assert not LLMProcess.objects.exists()
    assert not LLMJob.objects.exists()


def test_an_unknown_process_is_refused(superuser):
    number = "6f1a2f6e-7a10-7000-8000-000000000000"
    for call in (queue.recover, processes.find):
        with pytest.raises(Refusal) as refused:
            call(number)
        assert (refused.value.code, refused.value.status) == ("no_such_process", 404)


def test_what_cannot_be_configured_ends_with_a_sentence(provider, settings):
    process = enqueued(questions(2))
    settings.LLM = {**settings.LLM, "base_url": "ftp://example.org/v1"}
    process = work(process)
    assert process.status == ProcessStatus.FAILED
    assert process.error
    assert reloaded(process).reserved_tokens == 0


def test_the_house_is_kept_by_jobs(provider):
    process = enqueued(questions(1))
    exhausted(process)
    rescued = perform(enqueue_job("llm.rescue_processes"))
    assert rescued.result == {"rescued": 1, "embeddings": 0}
    pruned = perform(enqueue_job("llm.prune_ledger"))
    assert pruned.result == {"entries": 0, "unclaimed": 0}


def test_entry_and_exit_are_logged_with_the_process(provider, caplog):
    caplog.set_level("DEBUG", logger="glossary_site.llm")
    caplog.handler.setFormatter(JsonLines())
    process = enqueued(questions(2))
    work_to_end(process)
    with queue.consume(process.pk):
        pass
    lines = [json.loads(line) for line in caplog.text.splitlines()]
    said = {line["message"]: line for line in lines if line["logger"] == "glossary_site.llm"}
    for name in ("enqueue", "execute", "consume"):
        for message in (f"ENTER {name}", f"EXIT {name}"):
            assert said[message]["process_id"] == str(process.pk)
    assert said["EXIT enqueue"]["inserted"] == 2
    assert said["EXIT consume"]["deleted"] == 2


def test_the_table_of_transitions_is_closed():
    assert set(TRANSITIONS) == set(ProcessStatus)
    for status, following in TRANSITIONS.items():
        assert status not in following
        if status in ENDED:
            assert following == {ProcessStatus.PENDING}
    with pytest.raises(RuntimeError):
        processes.move(LLMProcess(status=ProcessStatus.CANCELLING), ProcessStatus.COMPLETED)


def test_rows_of_a_cancelled_process_say_who_did_it(provider, superuser):
    process = queue.cancel(enqueued(questions(2)).pk, actor=superuser)
    rows = LLMJob.objects.of(process.pk)
    assert set(rows.values_list("status", flat=True)) == {JobStatus.FAILED}
