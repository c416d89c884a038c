"""How a batch is doing, and what is in it when it has ended."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from glossary_site.llm import news, troubles
from glossary_site.llm.choices import BatchState, LedgerStatus, ProcessStatus
from glossary_site.llm.models import LedgerEntry, LLMProcess, ProviderBatch
from glossary_site.llm.querysets import LLMJobQuerySet
from glossary_site.llm.services import ledger, processes
from glossary_site.llm.speech import worth_rephrasing
from glossary_site.llm.strategies.asks import (
    Ask,
    Done,
    Failed,
    Malformed,
    first_ask,
    follow,
    read_answer,
)
from glossary_site.llm.strategies.batch_desk import Desk
from glossary_site.llm.strategies.batch_files import Line, read_lines
from glossary_site.llm.strategies.books import Page, page_of
from glossary_site.llm.strategies.wire import RETRIED

if TYPE_CHECKING:
    from openai.types import Batch

CHUNK = 200
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
# A batch that failed for one of these reasons may go through at another time.
PASSING = frozenset({"token_limit_exceeded", "rate_limit_exceeded", "server_error"})


def look_after(desk: Desk, batch: ProviderBatch) -> None:
    there = desk.api.retrieve(batch.batch_id)
    process = _note(desk, batch, there)
    if there is None:
        _close(desk, batch, fail=_("The provider does not know the batch any more."))
    elif there.status in ENDED:
        _collect(desk, batch, there)
        desk.api.remove_files(there.input_file_id, there.output_file_id, there.error_file_id)
    elif process.status == ProcessStatus.CANCELLING and there.status != "cancelling":
        desk.api.cancel(batch.batch_id)


def _note(desk: Desk, batch: ProviderBatch, there: Batch | None) -> LLMProcess:
    """The provider's own counts, for the page and for the feed."""
    with desk.session.atomic():
        process = processes.lock_own(desk.process_id, desk.session)
        before = batch.provider_status, batch.completed, batch.failed
        batch.polls += 1
        if there is not None:
            batch.note_status(there.status)
            if there.request_counts is not None:
                batch.completed = max(0, there.request_counts.completed)
                batch.failed = max(0, there.request_counts.failed)
        batch.save(update_fields=["polls", "provider_status", "completed", "failed"])
        if before != (batch.provider_status, batch.completed, batch.failed):
            process.progress_at = timezone.now()
            process.save(update_fields=["progress_at"])
        open_ones = process.batches.filter(state=BatchState.OPEN)
        underway = sum(each.completed + each.failed for each in open_ones)
        done = min(process.total, process.done + underway)
        step = {"batch": batch.number, "batch_status": batch.provider_status, "done": done}
        news.progress(process, [step])
    desk.session.progress(done, process.total, batch.provider_status)
    return process


def _collect(desk: Desk, batch: ProviderBatch, there: Batch) -> None:
    for file_id in filter(None, (there.output_file_id, there.error_file_id)):
        with tempfile.TemporaryFile(prefix="glossary-batch-") as file:
            desk.api.download(file_id, file)
            lines = read_lines(file)
            while chunk := list(islice(lines, CHUNK)):
                _take_in(desk, batch, chunk)
    if there.status == "cancelled":
        process = processes.find(desk.process_id)
        ours = process.status == ProcessStatus.CANCELLING
        why = process.error if ours else _("The batch was cancelled elsewhere.")
        _close(desk, batch, fail=why)
    elif there.status == "failed":
        _close_failed(desk, batch, there)
    else:
        _close(desk, batch)


def _take_in(desk: Desk, batch: ProviderBatch, lines: Sequence[Line]) -> None:
    """Answers of this batch to requests that wait for it; anything else in the file is ignored."""
    direct: list[Ask] = []
    with page_of(processes.find(desk.process_id), desk.session, batch_id=batch.batch_id) as page:
        rows = _rows(desk, batch).in_bulk([line.job_id for line in lines])
        asks = {pk: first_ask(row, desk.config) for pk, row in rows.items()}
        known = ledger.look_up(page.process, list(asks.values()))
        for line in lines:
            ask = asks.pop(line.job_id, None)
            if ask is not None:
                step = _read(desk, page, line, ask, known.get(ask.name, ledger.NOTHING))
                direct += [step] if step is not None else []
        process = page.process
    if process.status != ProcessStatus.CANCELLING:
        desk.send_directly(process, direct)


def _read(desk: Desk, page: Page, line: Line, ask: Ask, known: ledger.Known) -> Ask | None:
    """What a line means; the ask, where one has to be sent on its own."""
    if line.status == 200:
        try:
            answer = read_answer(line.body, ask)
        except Malformed as error:
            page.failed(ask.job_id, str(error))
            return None
        if known.answer is None:
            page.answered(ask, answer)
        # Else it was taken in before a crash, and is paid for and counted.
        step = follow(ask, answer, desk.config, served=False)
        if isinstance(step, Done):
            page.completed(ask.job_id, step)
        elif isinstance(step, Failed):
            page.useless(ask, step.error)
            page.failed(ask.job_id, step.error)
        else:
            return step
    elif worth_rephrasing(line.status, line.reason):
        return ask
    elif line.executed and line.status < 500 and line.status not in RETRIED:
        page.no_answer(ask, line.error)
        page.failed(ask.job_id, line.error)
    # What is left is not an answer: the request goes into another batch.
    return None


def _close(desk: Desk, batch: ProviderBatch, *, fail: str = "") -> None:
    """The batch is over. What it has not answered fails, or waits for another."""
    with desk.session.atomic():
        process = processes.lock_own(desk.process_id, desk.session)
        rest = _rows(desk, batch)
        if process.status == ProcessStatus.CANCELLING:
            fail = fail or process.error
        if fail:
            processes.fail_unfinished(process, rest, fail)
        else:
            most = settings.LLM_ATTEMPTS
            often = LedgerEntry.objects.filter(
                process_id=process.pk,
                status=LedgerStatus.SENT,
                sendings__gte=most,
            )
            processes.fail_unfinished(
                process,
                rest.filter(pk__in=often.values("custom_id")),
                ngettext("Not answered in %(n)s batch.", "Not answered in %(n)s batches.", most)
                % {"n": most},
            )
            processes.unsend(_rows(desk, batch))
        process.save()
        batch.state, batch.collected_at = BatchState.COLLECTED, timezone.now()
        batch.save(update_fields=["state", "collected_at"])


def _close_failed(desk: Desk, batch: ProviderBatch, there: Batch) -> None:
    """The provider did not begin. Requests that it names fail, the others get another batch."""
    problems = (there.errors.data if there.errors else None) or []
    named = {each.line: each.message for each in problems if each.line}
    if not named:
        passing = any(each.code in PASSING for each in problems)
        why = "; ".join(each.message or each.code or "" for each in problems[:3])
        _close(desk, batch, fail="" if passing else troubles.refused_batch(why))
        return
    with page_of(processes.find(desk.process_id), desk.session) as page:
        # The lines of the file were the requests in order.
        ids = _rows(desk, batch).order_by("pk").values_list("pk", flat=True)
        for number, job_id in enumerate(ids.iterator(chunk_size=CHUNK), start=1):
            if number in named:
                words = _("The provider refused the request: %(why)s")
                page.failed(job_id, words % {"why": named[number]})
    _close(desk, batch)


def _rows(desk: Desk, batch: ProviderBatch) -> LLMJobQuerySet:
    return desk.rows().in_flight().filter(batch_job_id=batch.batch_id)
