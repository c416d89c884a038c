"""What goes wrong with a process is told in the language of whoever asked, whoever works on it."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.translation import get_language, override

from glossary_site.jobs.models import JobLog
from glossary_site.llm.choices import Strategy
from glossary_site.llm.models import LLMProcess
from glossary_site.llm.services import processes, queue
from tests.llm.working import (
    SCHEMA,
    answers,
    asking,
    enqueued,
    questions,
    reloaded,
    work,
    work_to_end,
)

pytestmark = pytest.mark.django_db


def in_japanese(requests, **options) -> LLMProcess:
    with override("ja"):
        process = enqueued(requests, **options)
    assert get_language() == "en"
    return process


def batched(requests) -> LLMProcess:
    return in_japanese(requests, strategy=Strategy.BATCH)


def test_a_batch_that_was_refused(provider):
    provider.plan_batch("failed", message="No such purpose.")
    process = work(batched(questions(2)))
    provider.finish_batches()
    process = work(process)
    assert answers(process)[0].error == "プロバイダーがバッチを拒否しました：No such purpose."


def test_a_batch_that_expires_again_and_again(provider, settings):
    settings.LLM_ATTEMPTS = 1
    provider.plan_batch("expired")
    process = work(batched(questions(1)))
    provider.finish_batches()
    assert answers(work(process))[0].error == "バッチで1回送りましたが、回答がありませんでした。"


def test_a_batch_that_is_gone(provider):
    process = work(batched(questions(1)))
    provider.batches._batches.clear()
    assert answers(work(process))[0].error == "このバッチはプロバイダー側に残っていません。"


def test_a_batch_of_another_provider(provider, settings):
    process = work(batched(questions(1)))
    settings.LLM = {**settings.LLM, "base_url": f"{provider.address}/prefix/v1"}
    assert "以前のプロバイダーのバッチ" in answers(work(process))[0].error


def test_a_request_larger_than_a_batch(provider, settings):
    settings.LLM_BATCH_BYTES = 2000
    process = work(batched([asking("x" * 5000)]))
    assert answers(process)[0].error.startswith("リクエストがバッチの上限を超えています（")


def test_a_provider_that_is_to_be_asked_later(provider):
    process = batched(questions(1))
    run = process.run
    provider.faults.add("unavailable", path="/v1/files")
    work(process)
    (line,) = JobLog.objects.filter(run=run)
    assert line.message.startswith("プロバイダーには後でもう一度問い合わせます：")


def test_no_answer_for_days(provider):
    process = work(batched(questions(1)))
    LLMProcess.objects.update(progress_at=timezone.now() - timedelta(days=3))
    assert work(process).error == "2日間、応答がありませんでした。"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("no_choices", "サーバーの応答がチャット補完の形式ではありません。"),
        ("malformed", "サーバーの応答がJSONではありません。"),
        ("bad_request", "サーバーがリクエストを拒否しました（"),
    ],
)
def test_what_went_wrong_on_the_wire(provider, settings, fault, said):
    settings.LLM_ATTEMPTS = 1
    provider.faults.add(fault, match="question 1")
    process = work_to_end(in_japanese(questions(2)))
    assert answers(process)[1].error.startswith(said)


def test_an_answer_that_was_cut_off(provider):
    provider.faults.add("truncated")
    process = work_to_end(in_japanese([asking("x", schema=SCHEMA)]))
    assert "トークンで途切れました" in answers(process)[0].error
    # The model is told in one language, whoever asks.
    told = provider.requests[1].json["messages"][2]["content"]
    assert "it was cut off after 1024 tokens" in told


def test_a_cancellation_and_a_process_that_is_given_up(provider, superuser):
    process = queue.cancel(in_japanese(questions(1)).pk, actor=superuser)
    assert process.error == "取り消されました（root）。"
    process = in_japanese(questions(1))
    LLMProcess.objects.filter(pk=process.pk).update(run=None, stalls=5)
    processes.recover(process.pk)
    assert reloaded(process).error.startswith("5回続けて進展がなかったため打ち切りました。")
