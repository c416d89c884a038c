"""Processes that get their requests while they are worked on."""

import time
from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from rest_framework.test import APIClient

from glossary_site.errors import Refusal
from glossary_site.jobs.session import Session
from glossary_site.llm.choices import ProcessStatus, Strategy
from glossary_site.llm.models import LLMJob, LLMProcess, Spending
from glossary_site.llm.requests import Request
from glossary_site.llm.services import budgets, queue
from glossary_site.llm.services.budgets import Caps
from tests.llm.working import answers, asking, enqueued, questions, reloaded, session_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(provider) -> Session:
    """Somebody's job, which has questions."""
    return session_for(enqueued([asking("the owner's own")]))


def growing(owner: Session, **options) -> LLMProcess:
    return queue.enqueue(uuid4(), questions(60), inline=owner, growing=True, **options)


def keys(process: LLMProcess) -> list[str]:
    return [result.key for result in answers(process)]


def test_the_first_are_sent_while_the_last_are_still_being_written(provider, owner):
    def written() -> Iterator[Request]:
        for number, request in enumerate(questions(12)):
            if number == 6:
                provider.ledger.wait_for(1, timeout=5)
            yield request

    process = growing(owner)
    assert (process.growing, process.total) == (True, 0)
    assert queue.execute(process.pk, owner, requests=written()).ended
    process = reloaded(process)
    assert (process.status, process.total, process.completed) == (ProcessStatus.COMPLETED, 12, 12)
    assert not process.growing
    assert keys(process) == [f"question {number}" for number in range(12)]
    assert set(provider.ledger.charged().values()) == {1}


def test_as_many_are_out_at_a_time_as_if_all_had_been_there(provider, owner):
    provider.delay = 0.05
    queue.execute(growing(owner).pk, owner, requests=questions(40))
    assert provider.most_at_once == 4


def test_what_is_kept_back_grows_along_and_is_settled(provider, owner):
    process = growing(owner)
    kept = []

    def written() -> Iterator[Request]:
        for request in questions(20):
            kept.append(Spending.objects.get(scope="site").reserved_tokens)
            yield request

    before = Spending.objects.get(scope="site")
    queue.execute(process.pk, owner, requests=written())
    after = Spending.objects.get(scope="site")
    assert kept[0] == before.reserved_tokens
    assert kept[-1] > before.reserved_tokens
    assert after.reserved_tokens == before.reserved_tokens
    assert after.used_tokens - before.used_tokens == reloaded(process).tokens > 0


def test_where_there_is_a_limit_all_are_weighed_before_the_first_is_sent(provider, owner):
    budgets.set_caps(scope="site", caps=Caps(tokens=50), actor="tests")
    with pytest.raises(Refusal, match="Nothing was sent"):
        growing(owner)
    budgets.set_caps(scope="site", caps=Caps(tokens=10_000_000), actor="tests")
    process = growing(owner)
    assert (process.growing, process.total) == (False, 60)
    assert not provider.requests


def test_a_batch_goes_out_whole(provider, owner):
    process = growing(owner, strategy=Strategy.BATCH)
    assert (process.growing, process.total) == (False, 60)


def test_who_takes_it_up_after_a_kill_writes_only_what_is_missing(provider, owner):
    def written() -> Iterator[Request]:
        yield from questions(9)
        provider.ledger.wait_for(4)
        raise OSError("killed")

    process = growing(owner)
    with pytest.raises(OSError, match="killed"):
        queue.execute(process.pk, owner, requests=written())
    process = reloaded(process)
    assert process.growing
    assert 4 <= process.total <= 9
    assert queue.execute(process.pk, owner, requests=questions(20)).ended
    process = reloaded(process)
    assert (process.total, process.completed) == (20, 20)
    assert sorted(keys(process)) == sorted(f"question {number}" for number in range(20))
    assert set(provider.ledger.charged().values()) == {1}


def test_a_provider_that_fails_everybody_fails_also_those_not_yet_written(provider, owner):
    provider.faults.add("refused_key")
    process = growing(owner)
    assert queue.execute(process.pk, owner, requests=questions(120)).ended
    process = reloaded(process)
    assert (process.status, process.total, process.failed) == (ProcessStatus.FAILED, 120, 120)
    assert len(provider.requests) < 30


def test_before_a_long_wait_all_are_written_down(provider, owner):
    provider.faults.add("rate_limit", nth=5, retry_after=3600)
    process = growing(owner)
    turn = queue.execute(process.pk, owner, requests=questions(120))
    assert not turn.ended
    assert turn.resume_after > 3000
    assert "429" in turn.why
    process = reloaded(process)
    assert (process.growing, process.total) == (False, 120)
    assert queue.execute(process.pk, owner).ended
    assert reloaded(process).completed == 120


def test_one_that_is_cancelled_grows_no_more(provider, owner, superuser):
    process = growing(owner)

    def written() -> Iterator[Request]:
        yield from questions(8)
        queue.cancel(process.pk, actor=superuser)
        yield from questions(20)[8:]

    assert queue.execute(process.pk, owner, requests=written()).ended
    process = reloaded(process)
    assert (process.status, process.growing) == (ProcessStatus.CANCELLED, False)
    assert process.total <= 8
    assert process.total == process.completed + process.failed
    assert LLMJob.objects.of(process.pk).count() == process.total


def test_the_built_in_engine_gets_the_rest_at_once(provider, owner, settings):
    process = growing(owner)
    settings.LLM = {**settings.LLM, "base_url": "", "model": ""}
    assert queue.execute(process.pk, owner, requests=questions(5)).ended
    process = reloaded(process)
    # It knows nothing of these questions, and says so of each.
    assert (process.total, process.failed) == (5, 5)
    assert not provider.requests


def test_questions_that_are_alike_are_paid_once(provider, owner):
    alike = [asking("the same", key=str(number)) for number in range(40)]
    process = growing(owner)
    queue.execute(process.pk, owner, requests=alike)
    assert reloaded(process).completed == 40
    assert list(provider.ledger.charged().values()) == [1]


def test_writing_does_not_wait_for_a_slow_provider(provider, owner):
    """Up to a point: what waits is in memory."""
    provider.delay = 0.3
    moments = []

    def written() -> Iterator[Request]:
        for request in questions(40):
            moments.append(time.monotonic())
            yield request

    queue.execute(growing(owner).pk, owner, requests=written())
    assert moments[-1] - moments[0] < 0.3


def test_an_ended_process_is_whole():
    process = enqueued(questions(1))
    with pytest.raises(IntegrityError), transaction.atomic():
        LLMProcess.objects.filter(pk=process.pk).update(
            growing=True, status=ProcessStatus.CANCELLED, finished_at=process.created_at
        )


def test_wherever_people_and_programs_look_it_says_that_more_is_to_come(owner, superuser, sign_in):
    process = growing(owner)
    LLMProcess.objects.filter(pk=process.pk).update(total=128, completed=12)
    reader, program = sign_in(superuser), APIClient()
    program.force_authenticate(superuser)
    address = reverse("llm-process", args=[process.pk])
    assert "12 / 128 so far" in reader.get(address).text
    assert "12 / 128 so far" in reader.get(reverse("llm-process-list")).text
    assert "12 / 128(まだ増えます)" in reader.get(address, headers={"Accept-Language": "ja"}).text
    assert "128 so far</td>" in reader.get(reverse("admin:llm_llmprocess_changelist")).text
    assert program.get(f"/api/llm/processes/{process.pk}").json()["growing"]

    LLMProcess.objects.filter(pk=process.pk).update(growing=False)
    page = reader.get(address).text
    assert "12 / 128" in page
    assert "so far" not in page.replace("Cost so far", "")
    assert not program.get(f"/api/llm/processes/{process.pk}").json()["growing"]
