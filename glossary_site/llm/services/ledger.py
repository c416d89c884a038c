"""The account of what went out: written before it is sent, completed by what came back.

Every writer here runs in the transaction of whoever keeps a process's books.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from glossary_site.inserting import insert, replacing
from glossary_site.llm.choices import ENDED, LedgerStatus
from glossary_site.llm.models import LedgerEntry, LLMJob, LLMProcess
from glossary_site.llm.providers import ProviderConfig
from glossary_site.llm.querysets import LedgerQuerySet
from glossary_site.llm.strategies.asks import Answer, Ask, answer_from, first_ask, follow
from glossary_site.llm.tokens import cost_nano

PRUNE_BATCH = 2000
WRITTEN = (
    "status",
    "process_id",
    "custom_id",
    "batch_job_id",
    "base_url",
    "model",
    "answer_json",
    "error",
    "sendings",
    "input_tokens",
    "output_tokens",
    "cost_nano",
    "sent_at",
    "answered_at",
)
OVERWRITING = replacing(unique=("fingerprint", "apart"), columns=WRITTEN)


@dataclass(frozen=True)
class Known:
    """What the ledger says about a call that is about to be made."""

    answer: Answer | None = None
    # The same call of this very process failed: it is not made again for a duplicate.
    error: str = ""
    # Which request sent it, and how often, where it was one of this process.
    custom_id: UUID | None = None
    sendings: int = 0


NOTHING = Known()


def look_up(process: LLMProcess, asks: Sequence[Ask]) -> dict[tuple[str, str], Known]:
    entries = LedgerEntry.objects.filter(fingerprint__in={ask.fingerprint for ask in asks})
    by_fingerprint: dict[str, list[LedgerEntry]] = {}
    # The newest last: it wins.
    for entry in entries.order_by(F("answered_at").asc(nulls_first=True), "pk"):
        by_fingerprint.setdefault(entry.fingerprint, []).append(entry)
    return {
        ask.name: _known(process, ask, by_fingerprint[ask.fingerprint])
        for ask in asks
        if ask.fingerprint in by_fingerprint
    }


def _known(process: LLMProcess, ask: Ask, entries: list[LedgerEntry]) -> Known:
    own = next((entry for entry in entries if entry.apart == ask.apart), None)
    # Who wants a fresh answer takes none but its own. Everybody else takes any, the newest.
    for entry in [own] if ask.apart else reversed(entries):
        if entry is not None and entry.status == LedgerStatus.ANSWERED:
            return Known(answer=_answer(entry))
    if own is None:
        return Known()
    ours = own.process_id == process.pk
    return Known(
        error=own.error if ours and own.status == LedgerStatus.FAILED else "",
        custom_id=own.custom_id if ours and own.status == LedgerStatus.SENT else None,
        sendings=own.sendings if ours else 0,
    )


def _answer(entry: LedgerEntry) -> Answer:
    return answer_from(
        entry.answer_json, input_tokens=entry.input_tokens, output_tokens=entry.output_tokens
    )


def sent(process: LLMProcess, ask: Ask, *, batch_id: str = "") -> LedgerEntry:
    """The row for a call that goes out now; `write` puts it down."""
    return LedgerEntry(
        fingerprint=ask.fingerprint,
        apart=ask.apart,
        process_id=process.pk,
        custom_id=ask.job_id,
        batch_job_id=batch_id,
        base_url=process.base_url,
        model=process.model,
        sendings=max(1, ask.sendings),
        sent_at=ask.sent_at or timezone.now(),
    )


def answered(process: LLMProcess, ask: Ask, answer: Answer, *, batch_id: str = "") -> LedgerEntry:
    entry = sent(process, ask, batch_id=batch_id)
    entry.status = LedgerStatus.ANSWERED
    entry.answered_at = timezone.now()
    entry.answer_json = answer.encoded()
    entry.input_tokens, entry.output_tokens = answer.input_tokens, answer.output_tokens
    entry.cost_nano = price(process, answer.input_tokens, answer.output_tokens)
    return entry


def write(entries: Iterable[LedgerEntry]) -> None:
    """All in one statement. In the order of their names: two processes that have the same requests
    would otherwise lock each other out."""
    rows = {(entry.fingerprint, entry.apart): entry for entry in entries}
    insert([rows[name] for name in sorted(rows)], on_conflict=OVERWRITING)


def no_answer(process: LLMProcess, ask: Ask, error: str) -> None:
    """A call that came to nothing. An answer that somebody else got meanwhile stays."""
    _entry(ask.name).exclude(status=LedgerStatus.ANSWERED).update(
        status=LedgerStatus.FAILED, error=error, process_id=process.pk
    )


def useless(process: LLMProcess, ask: Ask, error: str) -> None:
    """An answer that does not serve: it is not offered to anybody again."""
    for name in (ask.name, ask.repaired):
        if name is not None:
            _entry(name).update(status=LedgerStatus.FAILED, error=error, process_id=process.pk)


def reject(process: LLMProcess, rows: Iterable[LLMJob], config: ProviderConfig) -> None:
    """Answers that fit their schema and are no use to who asked: whoever puts these questions again
    gets others. What was asked to repair an answer goes with it."""
    asks = [first_ask(row, config) for row in rows]
    while asks:
        known = look_up(process, asks)
        answers = [(ask, known[ask.name].answer) for ask in asks if ask.name in known]
        # The caller may hold rows that are locked after the ledger's, so nobody is waited for: who
        # has one of these in hand writes another answer.
        entries = LedgerEntry.objects.select_for_update(skip_locked=True).filter(
            fingerprint__in={ask.fingerprint for ask, _known in answers},
            status=LedgerStatus.ANSWERED,
        )
        numbers = list(entries.values_list("pk", flat=True))
        LedgerEntry.objects.filter(pk__in=numbers).update(
            status=LedgerStatus.FAILED, error=_("The answer was no use."), process_id=process.pk
        )
        steps = [follow(ask, answer, config, served=True) for ask, answer in answers if answer]
        asks = [step for step in steps if isinstance(step, Ask)]


def keep(process_id: UUID, answers: Sequence[tuple[Ask, Answer]]) -> None:
    """Answers that came when nothing else could be written any more: they are paid for."""
    with transaction.atomic():
        process = LLMProcess.objects.select_for_update().get(pk=process_id)
        entries = [answered(process, ask, answer) for ask, answer in answers]
        write(entries)
        process.input_tokens += sum(entry.input_tokens for entry in entries)
        process.output_tokens += sum(entry.output_tokens for entry in entries)
        process.cost_nano += sum(entry.cost_nano for entry in entries)
        if process.ended:
            # It was cancelled meanwhile; its month is told.
            return
        process.save(update_fields=["input_tokens", "output_tokens", "cost_nano"])


def forget_failures(process_id: UUID) -> None:
    """So that another try of this process sends them again."""
    LedgerEntry.objects.filter(process_id=process_id, status=LedgerStatus.FAILED).delete()


def price(process: LLMProcess, input_tokens: int, output_tokens: int) -> int:
    """In billionths."""
    return cost_nano(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        input_price=process.input_price,
        output_price=process.output_price,
    )


def prune(*, days: int | None = None, check: Callable[[], None] = lambda: None) -> dict[str, int]:
    """Remove what is older than the retention, in short transactions: entries of the ledger, and
    answers that nobody came for."""
    horizon = timezone.now() - timedelta(days=days or settings.LLM_LEDGER_DAYS)
    forgotten = LLMProcess.objects.filter(status__in=ENDED, finished_at__lt=horizon)
    unclaimed = LLMJob.objects.filter(process_id__in=forgotten.values("pk"))
    return {
        "entries": _remove(LedgerEntry.objects.filter(sent_at__lt=horizon), check),
        "unclaimed": _remove(unclaimed, check),
    }


def _remove(old: QuerySet[Any], check: Callable[[], None]) -> int:
    removed = 0
    while True:
        check()
        with transaction.atomic():
            ids = list(old.order_by("pk").values_list("pk", flat=True)[:PRUNE_BATCH])
            count = old.model._default_manager.filter(pk__in=ids).delete()[0]
        removed += count
        if count < PRUNE_BATCH:
            return removed


def _entry(name: tuple[str, str]) -> LedgerQuerySet:
    return LedgerEntry.objects.filter(fingerprint=name[0], apart=name[1])
