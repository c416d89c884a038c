"""Vectors of texts, from the provider of a scope: many texts in a request, several requests at a
time, each in the ledger before it goes out, and all of it within the month's budget.

    config = endpoint(provider_for("project:7"), model="text-embedding-3-small")
    vectors = embed(texts, scope="project:7", config=config, check=session.check)

A request that was answered is not sent again within the next hour. So a caller that was killed
between an answer and its own transaction asks for the same, and pays once.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import numpy as np
from django.db import DatabaseError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from glossary_site.jobs.errors import Stop, Stopped
from glossary_site.llm.choices import LedgerStatus, ProviderKind
from glossary_site.llm.models import EmbeddingCall, LLMProcess
from glossary_site.llm.providers import ProviderConfig
from glossary_site.llm.services import budgets, ledger, processes
from glossary_site.llm.strategies.sync import LAST_ANSWERS_SECONDS, LOOK_SECONDS
from glossary_site.llm.strategies.wire_vectors import Heard, VectorWire
from glossary_site.llm.vectors import (
    Batch,
    Embedded,
    Vectors,
    batches,
    halves,
    pack,
    prepared,
    unpack,
)
from glossary_site.outbound.errors import UrlRefused
from glossary_site.secrets import SecretUnreadable

# How long an answer is kept for somebody who did not get to storing it; and what is kept back of
# the budget for somebody who was killed.
KEPT = timedelta(hours=1)
TIDY_BATCH = 200
# Refusals of many texts that fewer of them may not meet.
REFUSED_TOGETHER = frozenset({400, 413, 422})


class EmbeddingFailed(Exception):
    """A sentence for people. `later`: in so many seconds the server wants to hear from us again."""

    def __init__(self, sentence: str, *, later: float | None = None) -> None:
        super().__init__(sentence)
        self.later = later


def endpoint(config: ProviderConfig, *, model: str) -> ProviderConfig:
    """Who makes vectors: the provider of a scope, with another model."""
    if config.kind != ProviderKind.OPENAI:
        raise EmbeddingFailed(
            _(
                "No server is set up that could make vectors. Name an OpenAI-compatible provider "
                "for the project or the site, or choose a built-in embedder."
            )
        )
    return replace(config, model=model)


def embed(
    texts: Sequence[str],
    *,
    scope: str,
    config: ProviderConfig,
    check: Callable[[], object] = lambda: None,
    seconds: float | None = None,
    dimensions: int | None = None,
) -> Vectors:
    """A unit vector for each text, in their order; zeros for a text with nothing in it.

    `check` is called five times a second and stops everything by raising. `seconds`: no longer than
    that, for a person who waits. `dimensions`: any other number of them is a failure. Raises
    `EmbeddingFailed`, or `Refusal` where the budget does not allow it.
    """
    wanted = [prepared(text) for text in texts]
    sending = Sending(scope, config, check=check, seconds=seconds, dimensions=dimensions)
    try:
        found = sending.run(list(dict.fromkeys(filter(None, wanted))))
    except (SecretUnreadable, UrlRefused) as error:
        raise EmbeddingFailed(str(error)) from error
    vectors = np.zeros((len(wanted), sending.dimensions or 0), dtype=np.float32)
    for row, text in enumerate(wanted):
        if text:
            vectors[row] = found[text]
    return vectors


class Sending:
    """One call of `embed`. This thread keeps the books, the wire makes the requests."""

    def __init__(
        self,
        scope: str,
        config: ProviderConfig,
        *,
        check: Callable[[], object],
        seconds: float | None,
        dimensions: int | None,
    ) -> None:
        self._config = config
        self._check = check
        self._seconds = seconds
        self._until = None if seconds is None else time.monotonic() + seconds
        self.dimensions = dimensions
        self._owner = uuid4()
        # Whose budget it is, at which prices. Never stored: it has no requests in the queue.
        self._account = LLMProcess(scope=scope, month=budgets.this_month())
        processes.remember_provider(self._account, config)
        self._out: dict[str, Batch] = {}
        self._found: dict[str, Vectors] = {}

    def run(self, texts: list[str]) -> dict[str, Vectors]:
        sending = self._open(list(batches(texts, self._config, scope=self._account.scope)))
        if not sending:
            return self._found
        try:
            wire = VectorWire(self._config)
            try:
                self._send(wire, sending)
            except Exception as error:
                # Whatever it is, answers that are paid for are worth a try.
                with suppress(DatabaseError, EmbeddingFailed):
                    self._keep_last_answers(wire, seconds=self._patience(error))
                raise
            finally:
                wire.close()
        except BaseException:
            self._let_go()
            raise
        return self._found

    def _send(self, wire: VectorWire, sending: list[Batch]) -> None:
        while sending or self._out:
            # Before the check: who is stopped right after it must not take its proof for fresh.
            moment = time.monotonic()
            self._check()
            wire.prove(moment)
            self._out |= {batch.fingerprint: batch for batch in sending}
            wire.send(sending)
            sending = self._take_in(wire.collect(self._pause()))

    def _pause(self) -> float:
        if self._until is None:
            return LOOK_SECONDS
        left = self._until - time.monotonic()
        if left <= 0:
            raise EmbeddingFailed(
                _("The server gave no vectors within %(seconds)g seconds.")
                % {"seconds": self._seconds}
            )
        return min(left, LOOK_SECONDS)

    # What goes out

    def _open(self, asked: list[Batch]) -> list[Batch]:
        """Write down what is going to be sent, and keep its cost back, all or nothing. What the
        ledger knows is not sent."""
        # A transaction around this one would lose the ledger in the very crash it is for.
        with transaction.atomic(durable=True):
            self._make_rows(asked)
            rows = _locked([batch.fingerprint for batch in asked])
            sending, tokens, nano = [], 0, 0
            for batch in asked:
                row = rows[batch.fingerprint]
                if row.status == LedgerStatus.ANSWERED:
                    self._keep(batch, unpack(bytes(row.vectors), dimensions=row.dimensions))
                    continue
                self._free(row)
                row.owner, row.month = self._owner, self._account.month
                row.status, row.error, row.answered_at = LedgerStatus.SENT, "", None
                row.sent_at, row.sendings = timezone.now(), row.sendings + 1
                row.reserved_tokens = batch.tokens
                row.reserved_nano = ledger.price(self._account, batch.tokens, 0)
                row.save()
                tokens, nano = tokens + row.reserved_tokens, nano + row.reserved_nano
                sending.append(batch)
            budgets.reserve(self._account, tokens=tokens, nano=nano)
        return sending

    def _make_rows(self, asked: list[Batch]) -> None:
        """Two that send the same at once: one of them makes the row, and both then lock it. In the
        order of their names: they would otherwise wait for each other."""
        EmbeddingCall.objects.bulk_create(
            [
                EmbeddingCall(
                    fingerprint=batch.fingerprint,
                    owner=self._owner,
                    scope=self._account.scope,
                    month=self._account.month,
                    base_url=self._config.base_url,
                    model=self._config.model,
                    texts=len(batch.texts),
                    sent_at=timezone.now(),
                )
                for batch in sorted(asked, key=lambda batch: batch.fingerprint)
            ],
            ignore_conflicts=True,
        )

    def _free(self, row: EmbeddingCall) -> None:
        """What an earlier sender keeps back for it: he was killed, or finds that it is not his any
        more."""
        if row.reserved_tokens or row.reserved_nano:
            budgets.enter(
                scope=row.scope,
                month=row.month,
                freed_tokens=row.reserved_tokens,
                freed_nano=row.reserved_nano,
            )

    # What came back

    def _take_in(self, heard: list[Heard]) -> list[Batch]:
        """Note it; and what is to be asked instead of what was refused."""
        for outcome in heard:
            del self._out[outcome.ask.fingerprint]
        errors = {outcome.ask.fingerprint: self._wrong(outcome) for outcome in heard}
        if heard:
            self._note(heard, errors)
        again: list[Batch] = []
        for outcome in heard:
            error = errors[outcome.ask.fingerprint]
            if not error:
                continue
            if not _divisible(outcome):
                raise EmbeddingFailed(error, later=outcome.later)
            again += halves(outcome.ask, self._config, scope=self._account.scope)
        return self._open(again) if again else []

    def _wrong(self, outcome: Heard) -> str:
        """Why it is of no use; empty where it is."""
        if outcome.later is not None:
            return _("The server wants to be left alone for %(seconds)d seconds.") % {
                "seconds": outcome.later
            }
        if outcome.answer is None:
            return outcome.error
        try:
            self._keep(
                outcome.ask,
                unpack(pack(outcome.answer.vectors), dimensions=outcome.answer.dimensions),
            )
        except EmbeddingFailed as error:
            return str(error)
        return ""

    def _keep(self, batch: Batch, vectors: Vectors) -> None:
        if vectors.shape[1] != (self.dimensions or vectors.shape[1]):
            raise EmbeddingFailed(
                _(
                    "The server gave vectors of %(now)d values, and before of %(before)d. Is it "
                    "still the same model?"
                )
                % {"now": vectors.shape[1], "before": self.dimensions}
            )
        self.dimensions = vectors.shape[1]
        self._found.update(zip(batch.texts, vectors, strict=True))

    def _note(self, heard: list[Heard], errors: dict[str, str]) -> None:
        with transaction.atomic(durable=True):
            rows = _locked([outcome.ask.fingerprint for outcome in heard])
            freed_tokens = freed_nano = tokens = nano = 0
            for outcome in heard:
                cost = 0
                if outcome.answer is not None:
                    cost = ledger.price(self._account, outcome.answer.tokens, 0)
                    tokens, nano = tokens + outcome.answer.tokens, nano + cost
                row = rows.get(outcome.ask.fingerprint)
                if row is None or row.owner != self._owner:
                    # Removed after an hour, or sent by somebody else meanwhile.
                    continue
                freed_tokens += row.reserved_tokens
                freed_nano += row.reserved_nano
                _complete(row, outcome.answer, error=errors[row.fingerprint], cost=cost)
            budgets.enter(
                scope=self._account.scope,
                month=self._account.month,
                freed_tokens=freed_tokens,
                freed_nano=freed_nano,
                tokens=tokens,
                nano=nano,
            )

    def _keep_last_answers(self, wire: VectorWire, *, seconds: float) -> None:
        """We have to stop: what comes in the last seconds is not paid for again by the next one."""
        until = time.monotonic() + seconds
        while self._out:
            left = until - time.monotonic()
            heard = wire.collect(max(0.0, min(left, LOOK_SECONDS)))
            answered = [outcome for outcome in heard if outcome.answer is not None]
            for outcome in heard:
                del self._out[outcome.ask.fingerprint]
            if answered:
                self._note(answered, {each.ask.fingerprint: self._wrong(each) for each in answered})
            if left <= 0:
                return

    def _patience(self, error: Exception) -> float:
        """For what is on the wire. Who cancels, or a person, does not wait for it."""
        cancelled = isinstance(error, Stopped) and error.why is not Stop.SHUTDOWN
        return 0.0 if cancelled or self._until is not None else LAST_ANSWERS_SECONDS

    def _let_go(self) -> None:
        """Nothing is kept back any more for what was not answered."""
        with transaction.atomic(durable=True):
            own = EmbeddingCall.objects.filter(owner=self._owner, status=LedgerStatus.SENT)
            for row in own.select_for_update().defer("vectors").order_by("fingerprint"):
                self._free(row)
            own.update(reserved_tokens=0, reserved_nano=0)


def tidy(*, check: Callable[[], object] = lambda: None) -> int:
    """Remove what is older than an hour, in short transactions; how many. What a sender that was
    killed kept back goes back to the budget."""
    removed = 0
    while True:
        check()
        old = EmbeddingCall.objects.filter(sent_at__lt=timezone.now() - KEPT)
        scope = old.order_by("pk").values_list("scope", flat=True).first()
        if scope is None:
            return removed
        with transaction.atomic():
            # Of one scope at a time: of two, the second would be locked after the site's month.
            rows = list(
                old.filter(scope=scope)
                .select_for_update()
                .defer("vectors")
                .order_by("fingerprint")[:TIDY_BATCH]
            )
            months = {row.month for row in rows}
            for month in sorted(months):
                budgets.enter(
                    scope=scope,
                    month=month,
                    freed_tokens=sum(row.reserved_tokens for row in rows if row.month == month),
                    freed_nano=sum(row.reserved_nano for row in rows if row.month == month),
                )
            EmbeddingCall.objects.filter(pk__in=[row.pk for row in rows]).delete()
        removed += len(rows)


def _locked(fingerprints: Sequence[str]) -> dict[str, EmbeddingCall]:
    rows = EmbeddingCall.objects.select_for_update().filter(fingerprint__in=fingerprints)
    return {row.fingerprint: row for row in rows.order_by("fingerprint")}


def _complete(row: EmbeddingCall, answer: Embedded | None, *, error: str, cost: int) -> None:
    row.reserved_tokens = row.reserved_nano = 0
    row.error = error
    row.status = LedgerStatus.FAILED if error else LedgerStatus.ANSWERED
    if answer is not None:
        row.answered_at = timezone.now()
        row.input_tokens, row.cost_nano = answer.tokens, cost
        if not error:
            row.dimensions, row.vectors = answer.dimensions, pack(answer.vectors)
    row.save()


def _divisible(outcome: Heard) -> bool:
    """Whether it may be too much for the server, or one of its texts what it does not like."""
    return outcome.status in REFUSED_TOGETHER and len(outcome.ask.texts) > 1
