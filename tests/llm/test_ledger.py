"""What was answered once is not paid for again."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from glossary_site.llm.choices import LedgerStatus
from glossary_site.llm.models import LedgerEntry, LLMJob, LLMProcess
from glossary_site.llm.requests import Request, fingerprint
from glossary_site.llm.services import ledger, queue
from tests.llm.working import SCHEMA, answers, asking, enqueued, questions, work, work_to_end

pytestmark = pytest.mark.django_db


def test_a_later_process_is_served_without_a_call(provider):
    first = work_to_end(enqueued(questions(4)))
    again = work_to_end(enqueued(questions(4)))
    assert len(provider.requests) == 4
    assert (again.completed, again.served, again.tokens) == (4, 4, 0)
    assert [r.content for r in answers(again)] == [r.content for r in answers(first)]
    assert all(result.served for result in answers(again))


def test_what_will_be_served_is_not_kept_back_for(provider):
    work_to_end(enqueued(questions(4)))
    again = enqueued([*questions(4), asking("new", max_tokens=100)])
    assert again.reserved_tokens == asking("new").input_tokens + 100


def test_a_fresh_answer_can_be_asked_for(provider):
    counter = iter(range(100))
    provider.script(lambda body: f"answer {next(counter)}")
    work_to_end(enqueued(questions(2)))
    fresh = work_to_end(enqueued(questions(2, reuse=False)))
    assert len(provider.requests) == 4
    assert fresh.served == 0
    assert {result.content for result in answers(fresh)} == {"answer 2", "answer 3"}
    one = work_to_end(enqueued([asking("question 0", reuse=False), asking("question 1")]))
    assert (one.served, len(provider.requests)) == (1, 5)


def test_the_newest_answer_is_the_one_that_serves(provider):
    counter = iter(range(100))
    provider.script(lambda body: f"answer {next(counter)}")
    work_to_end(enqueued(questions(1)))
    work_to_end(enqueued(questions(1, reuse=False)))
    (served,) = answers(work_to_end(enqueued(questions(1))))
    assert served.content == "answer 1"


def test_a_fresh_answer_that_was_paid_is_not_paid_again_after_a_crash(provider):
    process = enqueued(questions(1, reuse=False))
    job = LLMJob.objects.of(process.pk).get()
    config = queue.provider_for("site")
    ask = queue.ask_for(job.pk, asking("question 0", reuse=False), config)
    answer = ledger.Answer("from before the crash")
    ledger.write([ledger.answered(process, ask, answer)])
    assert answers(work_to_end(process))[0].content == "from before the crash"
    assert provider.requests == []


def test_an_answer_that_was_rejected_serves_nobody(provider):
    """Nor does the one that it repaired."""
    said = iter(["no JSON", *({"term": "tide", "count": count} for count in range(3))])
    provider.script(lambda body: next(said))
    wanted = [asking("bad", schema=SCHEMA), asking("good", schema=SCHEMA)]
    process = enqueued(wanted[:1])
    work_to_end(process)
    (bad,) = answers(process)
    work_to_end(enqueued(wanted[1:]))
    queue.reject(process.pk, [bad.id])
    again = work_to_end(enqueued(wanted))
    assert (again.completed, again.served) == (2, 1)
    assert [answer.data for answer in answers(again)] == [
        {"term": "tide", "count": 2},
        {"term": "tide", "count": 1},
    ]


def test_the_entry_is_there_before_the_call(provider):
    process = work_to_end(enqueued(questions(1)))
    entry = LedgerEntry.objects.get()
    assert entry.sent_at.timestamp() <= provider.requests[0].at
    assert entry.answered_at >= entry.sent_at
    assert (entry.process_id, entry.status) == (process.pk, LedgerStatus.ANSWERED)
    assert entry.input_tokens > 0


def test_what_the_answer_depends_on_is_in_the_fingerprint():
    def of(address="a", model="m", text="x", **options):
        request = Request("k", [{"role": "user", "content": text}], **options)
        return fingerprint(address=address, model=model, messages=request.messages, request=request)

    same = of()
    assert of(reuse=False) == same
    others = [
        of(address="b"),
        of(model="n"),
        of(text="y"),
        of(max_tokens=7),
        of(temperature=0.5),
        of(temperature=None),
        of(schema=SCHEMA),
    ]
    assert len({same, *others}) == 8


def test_the_callers_key_does_not_matter(provider):
    work_to_end(enqueued([asking("x", key="mine")]))
    again = work_to_end(enqueued([asking("x", key="yours")]))
    assert (again.served, answers(again)[0].key) == (1, "yours")


def test_a_failed_call_is_a_fact_too_and_is_made_again_by_another_process(provider):
    provider.faults.add("bad_request", times=1)
    work_to_end(enqueued(questions(1)))
    entry = LedgerEntry.objects.get()
    assert entry.status == LedgerStatus.FAILED
    assert "400" in entry.error
    assert work_to_end(enqueued(questions(1))).completed == 1
    entry.refresh_from_db()
    assert (entry.status, entry.error) == (LedgerStatus.ANSWERED, "")


def test_an_answer_that_did_not_fit_serves_nobody(provider):
    provider.faults.add("break_schema", times=2)
    first = work_to_end(enqueued([asking("x", schema=SCHEMA)]))
    assert first.failed == 1
    assert set(LedgerEntry.objects.values_list("status", flat=True)) == {LedgerStatus.FAILED}
    assert work_to_end(enqueued([asking("x", schema=SCHEMA)])).completed == 1


def test_old_entries_and_forgotten_answers_are_removed(provider, settings):
    old, new = work_to_end(enqueued(questions(3))), work_to_end(enqueued([asking("new")]))
    long_ago = timezone.now() - timedelta(days=91)
    LedgerEntry.objects.filter(process_id=old.pk).update(sent_at=long_ago)
    LLMProcess.objects.filter(pk=old.pk).update(finished_at=long_ago)
    assert ledger.prune() == {"entries": 3, "unclaimed": 3}
    assert LedgerEntry.objects.get().process_id == new.pk
    assert not LLMJob.objects.of(old.pk).exists()
    assert LLMJob.objects.of(new.pk).count() == 1
    settings.LLM_LEDGER_DAYS = 1
    assert ledger.prune() == {"entries": 0, "unclaimed": 0}


def test_a_request_is_in_the_ledger_once():
    fields = {"fingerprint": "f", "process_id": uuid4(), "custom_id": uuid4()}
    LedgerEntry.objects.create(**fields, sent_at=timezone.now())
    LedgerEntry.objects.create(**fields, sent_at=timezone.now(), apart="own")
    with pytest.raises(IntegrityError), transaction.atomic():
        LedgerEntry.objects.create(**fields, sent_at=timezone.now())


def test_other_work_does_not_wait_for_a_half_made_answer(provider):
    """A request that another process has sent and not had answered is sent again here: waiting for
    somebody who may be dead would be worse."""
    other = enqueued(questions(1))
    job = LLMJob.objects.of(other.pk).get()
    ask = queue.ask_for(job.pk, asking("question 0"), queue.provider_for("site"))
    ledger.write([ledger.sent(other, ask)])
    assert work(enqueued(questions(1))).completed == 1
