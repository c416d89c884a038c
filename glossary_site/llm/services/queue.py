"""The queue that knows nothing of its callers: put requests in, have them answered, take the
answers out.

    enqueue(process_id, requests, then=("my.job", {"number": 7}))
    ...
    with consume(process_id) as results:      # in the job that follows
        for result in results:
            store(result)
"""

import json
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import islice
from typing import IO, Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.inserting import insert
from glossary_site.jobs.errors import Stop, Stopped
from glossary_site.jobs.registry import kind_of
from glossary_site.llm import news
from glossary_site.llm.choices import JobStatus, ProviderKind, Strategy
from glossary_site.llm.ids import growing_ids
from glossary_site.llm.logs import traced
from glossary_site.llm.models import LLMJob, LLMProcess
from glossary_site.llm.models.process import SITE
from glossary_site.llm.providers import ProviderConfig, provider_for
from glossary_site.llm.requests import Request, Result, encode, request_from
from glossary_site.llm.services import budgets, ledger, processes
from glossary_site.llm.services.processes import Interrupted
from glossary_site.llm.sessions import Session
from glossary_site.llm.strategies import execution
from glossary_site.llm.strategies.asks import Ask, ask_for
from glossary_site.llm.strategies.books import Heard
from glossary_site.llm.strategies.lines import Lines
from glossary_site.llm.tokens import cost_of_nano

# As many are in memory at a time, of whatever number.
CHUNK = 200
# A process that gets no answer for so long gets none.
PATIENCE = timedelta(days=2)

ENDS = (JobStatus.COMPLETED, JobStatus.FAILED)

Then = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Turn:
    """What came of one turn at a process: its end, or the wish to be taken up again."""

    ended: bool
    resume_after: float = 0.0
    # What is wrong with the provider meanwhile, in a sentence.
    why: str = ""


@dataclass(frozen=True)
class Estimate:
    """What requests will take: at most, if the tokens are estimated well."""

    requests: int
    # Of these: answered already, and free.
    served: int
    tokens: int
    nano: int
    priced: bool

    @property
    def cost(self) -> Decimal | None:
        """None where no price is known."""
        return cost_of_nano(self.nano) if self.priced else None


def enqueue(
    process_id: UUID,
    requests: Iterable[Request | Mapping[str, Any]],
    *,
    scope: str = SITE,
    strategy: Strategy | None = None,
    then: Then | None = None,
    inline: Session | None = None,
    growing: bool = False,
) -> LLMProcess:
    """Store the requests, keep their estimated cost back, and have a worker begin, all or nothing.

    The same `process_id` again gives the process that is there (`fresh` tells which). `then` names
    the work that follows when all requests have ended. `inline`: no worker is called, this session
    is going to call `execute` itself. `growing`: it will bring the requests along, so that the
    first are sent while the last are being written. Where they go out together, or their cost is
    limited and must be known before, they are stored here all the same; the process tells which.
    """
    with traced("enqueue", process_id, scope=scope) as said:
        if then is not None:
            kind_of(then[0]).check_payload(then[1])
        there = LLMProcess.objects.filter(pk=process_id).first()
        if there is not None:
            return there
        config = provider_for(scope)
        process = LLMProcess(
            pk=process_id,
            scope=scope,
            strategy=strategy or config.strategy,
            month=budgets.this_month(),
            progress_at=timezone.now(),
            language=get_language() or settings.LANGUAGE_CODE,
            run=None if inline is None else inline.run,
        )
        processes.remember_provider(process, config)
        if then is not None:
            process.then_kind, process.then_payload = then
        process.growing = growing and _may_grow(process)
        if process.growing:
            requests = ()
        with tempfile.TemporaryFile("w+", prefix="glossary-llm-") as spool:
            # First to a file: the database is not kept waiting while the caller thinks of requests.
            weighed = _weighed(
                process,
                requests,
                config,
                keep=lambda ask: spool.write(f"{ask.job_id} {encode(ask.request)}\n"),
            )
            process.total = weighed.requests
            with transaction.atomic():
                if not _insert(process):
                    return LLMProcess.objects.get(pk=process_id)
                if not process.growing:
                    _store(process, spool)
                    budgets.reserve(process, tokens=weighed.tokens, nano=weighed.nano)
                    if inline is None:
                        processes.start(process)
                    process.save()
                news.changed(process)
        process.fresh = True
        said |= {"inserted": process.total, "reserved_tokens": weighed.tokens}
    return process


def _may_grow(process: LLMProcess) -> bool:
    asks_one_by_one = (
        process.strategy == Strategy.SYNC and process.provider_kind != ProviderKind.BUILTIN
    )
    return asks_one_by_one and not budgets.is_limited(process.scope)


def _insert(process: LLMProcess) -> bool:
    """Two that enqueue the same process at once: the primary key decides."""
    try:
        with transaction.atomic():
            process.save(force_insert=True)
    except IntegrityError:
        return False
    return True


def estimate(requests: Iterable[Request | Mapping[str, Any]], *, scope: str = SITE) -> Estimate:
    """What these would take if they were enqueued now. Nothing is stored or kept back."""
    config = provider_for(scope)
    process = LLMProcess(scope=scope, month=budgets.this_month())
    processes.remember_provider(process, config)
    return _weighed(process, requests, config, keep=lambda ask: None)


def _weighed(
    process: LLMProcess,
    given: Iterable[Request | Mapping[str, Any]],
    config: ProviderConfig,
    *,
    keep: Callable[[Ask], object],
) -> Estimate:
    """Look at each request once, a few at a time, and keep it."""
    total = served = tokens = nano = 0
    ids = growing_ids()
    requests = map(request_from, given)
    while chunk := list(islice(requests, CHUNK)):
        asks = [ask_for(next(ids), each, config) for each in chunk]
        total += len(asks)
        known = {} if config.kind == ProviderKind.BUILTIN else ledger.look_up(process, asks)
        for ask in asks:
            keep(ask)
            if known.get(ask.name, ledger.NOTHING).answer is not None:
                served += 1
            elif config.kind != ProviderKind.BUILTIN:
                counted = ask.request.input_tokens, ask.request.max_tokens
                tokens += sum(counted)
                nano += ledger.price(process, *counted)
    return Estimate(total, served, tokens, nano, priced=process.priced)


def _store(process: LLMProcess, spool: IO[str]) -> None:
    spool.seek(0)
    lines = (line.rstrip("\n").split(" ", 1) for line in spool)
    rows = (
        LLMJob(pk=UUID(number), process_id=process.pk, request_json=text) for number, text in lines
    )
    while chunk := list(islice(rows, CHUNK)):
        insert(chunk)


def results(process_id: UUID, *, ends: Collection[JobStatus] = ENDS) -> Iterator[Result]:
    """The answers so far, and the failures, in order of enqueuing; or one of the two."""
    last: UUID | None = None
    ended = LLMJob.objects.of(process_id).filter(status__in=ends)
    while rows := list(ended.after(last)[:CHUNK]):
        last = rows[-1].pk
        yield from map(_result, rows)


def _result(row: LLMJob) -> Result:
    key = json.loads(row.request_json)["key"]
    if row.response_json is None:
        return Result(id=row.pk, key=key, ok=False, error=row.error_message or "")
    return Result(id=row.pk, key=key, ok=True, **json.loads(row.response_json))


@contextmanager
def consume(process_id: UUID, *, ends: Collection[JobStatus] = ENDS) -> Iterator[Iterator[Result]]:
    """Take the answers away: what is stored in the body, and the removal of the rows, happen
    together or not at all. Whoever was told of the answers as they came (`heard`) wants the
    failures only."""
    with traced("consume", process_id) as said, transaction.atomic():
        process = processes.lock(process_id)
        if not process.ended:
            raise Refusal(
                "process_active",
                _("This LLM process is still going on: %(status)s.")
                % {"status": process.get_status_display()},
                status_now=process.status,
            )
        yield results(process_id, ends=ends)
        said["deleted"] = LLMJob.objects.of(process_id).delete()[0]
        process.consumed_at = timezone.now()
        process.save(update_fields=["consumed_at"])


def reject(process_id: UUID, ids: Collection[UUID]) -> None:
    """These answers were no use: nobody is served them again. Called in the transaction that takes
    them in."""
    process = processes.find(process_id)
    rows = LLMJob.objects.of(process_id).filter(pk__in=ids)
    ledger.reject(process, rows, provider_for(process.scope))


def execute(
    process_id: UUID,
    session: Session,
    *,
    seconds: float | None = None,
    heard: Heard | None = None,
    requests: Iterable[Request] = (),
    lines: Lines | None = None,
) -> Turn:
    """Work on a process in somebody's session, for so long at most. Whoever calls this sees to it
    that a process which has not ended is taken up again. `heard` is told of requests that end, in
    the transaction in which they do; not of those in a batch. `requests` are all of a process that
    is growing: those that it does not have are put as it gets on. `lines` are the caller's, who has
    other processes, too, and closes them."""
    with traced("execute", process_id) as said, Lines() as own:
        process = processes.take(process_id, session)
        if process is None:
            return Turn(ended=True)
        with override(process.language):
            try:
                resume_after, why = execution.work(
                    process,
                    session,
                    seconds=seconds,
                    heard=heard,
                    requests=requests,
                    lines=lines or own,
                )
                turn = _turn(process, session, resume_after, why)
            except Interrupted:
                # Somebody cancelled the process, and not the job.
                session.check()
                if not processes.find(process_id).ended:
                    raise Stopped(Stop.LOST) from None
                turn = Turn(ended=True)
        said |= vars(turn)
    return turn


def _turn(process: LLMProcess, session: Session, resume_after: float, why: str) -> Turn:
    if not process.ended:
        # What was worked on may have been another copy of it.
        process = processes.find(process.pk)
    if not process.ended and timezone.now() - process.progress_at > PATIENCE:
        with session.atomic():
            process = processes.lock_own(process.pk, session)
            words = _("No answer for %(n)s days.")
            processes.give_up(process, words % {"n": PATIENCE.days})
    return Turn(ended=process.ended, resume_after=resume_after, why=why)


recover = processes.recover
cancel = processes.cancel
retry = processes.retry
