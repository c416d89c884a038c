"""The life of a process: taken up, parked, ended, cancelled, tried again, rescued.

Every change holds the process's row first; then its requests, the month's spending, its run and the
feed, always in this order.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override

from glossary_site.errors import Refusal
from glossary_site.jobs.choices import ACTIVE as RUN_ACTIVE
from glossary_site.jobs.choices import State
from glossary_site.jobs.errors import PermanentFailure
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.services import audit
from glossary_site.jobs.services.audit import Actor
from glossary_site.jobs.services.enqueue import enqueue as enqueue_job
from glossary_site.jobs.services.runs import cancel_run
from glossary_site.llm import news
from glossary_site.llm.choices import (
    TRANSITIONS,
    UNFINISHED,
    BatchState,
    JobStatus,
    ProcessStatus,
    Strategy,
)
from glossary_site.llm.models import LLMJob, LLMProcess
from glossary_site.llm.models.process import SITE
from glossary_site.llm.providers import ProviderConfig
from glossary_site.llm.querysets import LLMJobQuerySet
from glossary_site.llm.requests import decode
from glossary_site.llm.services import budgets, ledger
from glossary_site.llm.sessions import Session

KIND = "llm.process"
# In the hands of a run.
WORKING = (ProcessStatus.RUNNING, ProcessStatus.CANCELLING)
# So often it is taken up again although nothing came of it.
MOST_STALLS = 5
# What works on processes within its own jobs looks after these itself, and comes first.
OTHERS_FIRST = timedelta(minutes=10)
CHUNK = 500
# What the owner of a process counts.
PROGRESS = (
    "total",
    "growing",
    "reserved_tokens",
    "reserved_nano",
    "completed",
    "failed",
    "served",
    "input_tokens",
    "output_tokens",
    "cost_nano",
    "progress_at",
    "stalls",
)

Steps = Sequence[dict[str, Any]]


class Interrupted(Exception):
    """The process is not the caller's any more: cancelled, or in other hands."""


def find(process_id: UUID) -> LLMProcess:
    process = LLMProcess.objects.filter(pk=process_id).first()
    if process is None:
        raise Refusal(
            "no_such_process",
            _("There is no LLM process %(id)s.") % {"id": process_id},
            status=404,
        )
    return process


def lock(process_id: UUID) -> LLMProcess:
    """Within a transaction: nobody else changes it until that ends."""
    process = LLMProcess.objects.select_for_update().filter(pk=process_id).first()
    return process if process is not None else find(process_id)


def lock_own(process_id: UUID, session: Session) -> LLMProcess:
    """The same for who works on it, as long as it is his."""
    process = LLMProcess.objects.select_for_update().filter(pk=process_id).first()
    if process is None or process.run_id != session.run.pk or process.status not in WORKING:
        raise Interrupted
    return process


def save_progress(process: LLMProcess, session: Session) -> None:
    """Its counts as the owner has them, if he still is: from here on nobody else can change it."""
    own = LLMProcess.objects.filter(pk=process.pk, status=process.status, run=session.run)
    if not own.update(**{name: getattr(process, name) for name in PROGRESS}):
        raise Interrupted


def check_own(process_id: UUID, session: Session) -> None:
    """The same without holding it, for who only waits."""
    own = LLMProcess.objects.filter(
        pk=process_id, status__in=WORKING, run=session.run, run__state__in=RUN_ACTIVE
    )
    if not own.exists():
        raise Interrupted


def move(process: LLMProcess, to: ProcessStatus) -> None:
    """The caller holds the row, and saves it."""
    if to not in TRANSITIONS[ProcessStatus(process.status)]:
        raise RuntimeError(f"An LLM process may not go from {process.status} to {to}")
    process.status = to


def start(process: LLMProcess) -> None:
    """Have a worker take it up. The caller holds the row, and saves it."""
    process.run = enqueue_job(
        KIND,
        {"process_id": str(process.pk)},
        idempotency_key=f"{KIND}:{process.pk}:{process.turns}",
        scope=job_scope(process),
    )


def take(process_id: UUID, session: Session) -> LLMProcess | None:
    """Take it up, if there is anything to do. What was in flight when an earlier run died waits
    again; requests within a batch stay with it."""
    with session.atomic():
        process = lock(process_id)
        if process.ended:
            return None
        other = JobRun.objects.filter(pk=process.run_id or 0).exclude(pk=session.run.pk)
        # A retried run follows one that has ended; only two deliveries of one process meet here.
        if other.filter(state__in=(State.ASSIGNED, State.RUNNING)).exists():
            raise PermanentFailure(f"Another run works on the LLM process {process_id} already.")
        process.unheard = process.status == ProcessStatus.WAITING and process.stalls > 0
        if process.status in (ProcessStatus.PENDING, ProcessStatus.WAITING):
            move(process, ProcessStatus.RUNNING)
        if process.turns:
            # Somebody had it before.
            take_back(process)
        process.run = session.run
        process.turns += 1
        process.stalls += 1
        process.save(update_fields=["status", "run", "turns", "stalls"])
        return process


def take_back(process: LLMProcess) -> int:
    """Requests that nobody is sending any more wait again."""
    if process.batches.filter(state=BatchState.CREATING).exists():
        # They may be at the provider; the batch's recovery finds out.
        return 0
    return unsend(LLMJob.objects.of(process.pk).in_flight().filter(batch_job_id__isnull=True))


def unsend(rows: LLMJobQuerySet) -> int:
    return rows.update(status=JobStatus.PENDING, batch_job_id=None, updated_at=timezone.now())


def park(process_id: UUID, session: Session, *, seconds: float) -> None:
    """Let go of the worker, and have it taken up again later. Called in the run's last
    transaction."""
    process = lock_own(process_id, session)
    if process.status == ProcessStatus.RUNNING:
        move(process, ProcessStatus.WAITING)
    process.run = enqueue_job(
        KIND,
        {"process_id": str(process.pk)},
        idempotency_key=f"{KIND}:{process.pk}:{process.turns}",
        run_after=timezone.now() + timedelta(seconds=seconds),
        scope=job_scope(process),
    )
    if process.strategy == Strategy.BATCH:
        # A batch takes as long as it takes: nothing has stalled.
        process.stalls = 0
    process.save(update_fields=["status", "run", "stalls"])


def hand_over(process: LLMProcess, run: JobRun) -> None:
    """To the run that goes on with it later, of whatever kind: nobody takes it for abandoned then.
    The caller holds the row."""
    if process.status == ProcessStatus.RUNNING:
        move(process, ProcessStatus.WAITING)
    process.run = run
    process.save(update_fields=["status", "run"])


def end(process: LLMProcess, to: ProcessStatus, *, error: str = "", steps: Steps = ()) -> None:
    """All its requests have ended, the last with these steps. The caller holds the row."""
    move(process, to)
    process.error = error
    process.growing = False
    process.finished_at = timezone.now()
    budgets.settle(process)
    process.save()
    if process.then_kind:
        enqueue_job(process.then_kind, process.then_payload, scope=job_scope(process))
    news.changed(process, steps)


def fail_unfinished(process: LLMProcess, rows: LLMJobQuerySet, error: str) -> int:
    """Requests that will not be sent any more. The caller holds the row, and saves it."""
    failed = rows.filter(status__in=UNFINISHED).update(
        status=JobStatus.FAILED, error_message=error, updated_at=timezone.now()
    )
    process.failed += failed
    return failed


def complete(process: LLMProcess, *, steps: Steps = ()) -> None:
    """Nothing is left to do. The caller holds the row."""
    if process.status == ProcessStatus.CANCELLING:
        end(process, ProcessStatus.CANCELLED, error=process.error, steps=steps)
    else:
        end(process, ProcessStatus.COMPLETED, steps=steps)


def give_up(process: LLMProcess, error: str, *, steps: Steps = ()) -> None:
    """Nothing more can be done for it. The caller holds the row."""
    fail_unfinished(process, LLMJob.objects.of(process.pk), error)
    cancelling = process.status == ProcessStatus.CANCELLING
    to = ProcessStatus.CANCELLED if cancelling else ProcessStatus.FAILED
    end(process, to, error=error, steps=steps)


def cancel(process_id: UUID, *, actor: Actor, reason: str = "") -> LLMProcess:
    """Stop it. What is in flight is aborted within two seconds, a batch is cancelled at its
    provider; answers that are there stay until they are taken."""
    with transaction.atomic():
        process = lock(process_id)
        if process.ended or process.status == ProcessStatus.CANCELLING:
            raise Refusal(
                "process_not_active",
                _("This LLM process has ended already: %(status)s.")
                % {"status": process.get_status_display()},
                status_now=process.status,
            )
        before = process.facts()
        with override(process.language):
            why = reason or _("Cancelled by %(name)s.") % {"name": actor}
        rows = LLMJob.objects.of(process.pk)
        at_provider = process.batches.filter(state__in=[BatchState.CREATING, BatchState.OPEN])
        if at_provider.exists():
            # A worker cancels it there, and collects what was done (and is charged) by then.
            move(process, ProcessStatus.CANCELLING)
            process.error = why
            fail_unfinished(process, rows.pending(), why)
            _cancel_run(process, actor=actor, reason=why)
            process.turns += 1
            start(process)
            process.save()
            news.changed(process)
        else:
            fail_unfinished(process, rows, why)
            end(process, ProcessStatus.CANCELLED, error=why)
            _cancel_run(process, actor=actor, reason=why)
        audit.record(actor, "cancel", process, before=before, after=process.facts())
    return process


def cancel_scope(*, scope: str, actor: Actor, reason: str = "") -> int:
    """Stop everything of a scope that is about to go, and keep nothing back for it; how many.
    Nobody comes for its answers any more, so they go, with the questions."""
    active = LLMProcess.objects.active().for_scope(scope).exclude(status=ProcessStatus.CANCELLING)
    with transaction.atomic():
        numbers = list(active.order_by("pk").values_list("pk", flat=True))
        for number in numbers:
            # One that has ended by itself meanwhile is as good.
            with suppress(Refusal):
                cancel(number, actor=actor, reason=reason)
        unclaimed = LLMProcess.objects.select_for_update().for_scope(scope).unclaimed()
        ended = list(unclaimed.order_by("pk").values_list("pk", flat=True))
        LLMJob.objects.filter(process_id__in=ended).delete()
        LLMProcess.objects.filter(pk__in=ended).update(consumed_at=timezone.now())
    return len(numbers)


def _cancel_run(process: LLMProcess, *, actor: Actor, reason: str) -> None:
    """The worker that has it in hand stops. A run that does other work too is not ours to end: it
    notices that the process is not its own any more."""
    run = process.run
    if run is not None and run.kind == KIND and run.state in RUN_ACTIVE:
        try:
            cancel_run(run, actor=actor, reason=reason)
        except Refusal:
            # It has ended by itself in this moment.
            return


def retry(process_id: UUID, *, actor: Actor) -> LLMProcess:
    """Send the failed requests of an ended process again."""
    with transaction.atomic():
        process = lock(process_id)
        rows = LLMJob.objects.of(process.pk)
        if not process.ended:
            raise Refusal(
                "process_active",
                _("This LLM process is still going on: %(status)s.")
                % {"status": process.get_status_display()},
                status_now=process.status,
            )
        before = process.facts()
        tokens, nano = _estimate(process, rows.failed())
        if not tokens:
            raise Refusal(
                "nothing_to_retry", _("No failed request of this LLM process is left to retry.")
            )
        # Their failures are facts of the ledger, which would else be told again.
        ledger.forget_failures(process.pk)
        retried = rows.failed().update(
            status=JobStatus.PENDING,
            batch_job_id=None,
            error_message=None,
            updated_at=timezone.now(),
        )
        move(process, ProcessStatus.PENDING)
        process.failed -= retried
        process.error, process.finished_at = "", None
        process.turns, process.stalls = process.turns + 1, 0
        process.progress_at = timezone.now()
        process.month = budgets.this_month()
        budgets.reserve(process, tokens=tokens, nano=nano)
        start(process)
        process.save()
        audit.record(actor, "retry", process, before=before, after=process.facts())
        news.changed(process)
    return process


def _estimate(process: LLMProcess, rows: LLMJobQuerySet) -> tuple[int, int]:
    tokens = nano = 0
    for text in rows.values_list("request_json", flat=True).iterator(chunk_size=CHUNK):
        request = decode(text)
        tokens += request.input_tokens + request.max_tokens
        nano += ledger.price(process, request.input_tokens, request.max_tokens)
    return tokens, nano


def recover(process_id: UUID) -> LLMProcess:
    """For a process that nobody works on any more: have it taken up again, or end it. Does nothing
    where somebody does."""
    with transaction.atomic():
        process = lock(process_id)
        run = _last_attempt(process.run)
        if process.ended or (run is not None and _is_looked_after(run)):
            return process
        if (
            run is not None
            and run.state == State.CANCELED
            and process.status != ProcessStatus.CANCELLING
        ):
            # Of a cancelled run this is the reason that somebody gave.
            return cancel(process.pk, actor=audit.SITE, reason=run.error)
        if why := _hopeless(process, run):
            give_up(process, why)
        else:
            process.turns += 1
            start(process)
            process.save()
    return process


def _hopeless(process: LLMProcess, run: JobRun | None) -> str:
    """Why nobody is to take it up again; empty where somebody is. What ended the run may name files
    and addresses of the server: that is for operators."""
    with override(process.language):
        if run is not None and run.kind != KIND:
            words = _(
                "Job %(id)s, which worked on it, has ended. Operators find the details there."
            )
            return words % {"id": run.pk}
        if process.stalls >= MOST_STALLS:
            words = _(
                "Given up after %(n)s turns without progress. Operators find the details in its "
                "jobs."
            )
            return words % {"n": process.stalls}
    return ""


def _last_attempt(run: JobRun | None) -> JobRun | None:
    while run is not None and run.state not in RUN_ACTIVE:
        following = JobRun.objects.filter(retry_of=run).first()
        if following is None:
            break
        run = following
    return run


def _is_looked_after(run: JobRun) -> bool:
    """It is still to be heard of; or a job that does other work, too, has only just ended."""
    if run.state in RUN_ACTIVE:
        return True
    ended = run.finished_at
    return run.kind != KIND and ended is not None and timezone.now() - ended < OTHERS_FIRST


def rescue() -> int:
    """Look after every active process; how many were not looked after by anybody."""
    rescued = 0
    for process in LLMProcess.objects.active().select_related("run"):
        if process.run is None or process.run.state not in RUN_ACTIVE:
            found = recover(process.pk)
            rescued += found.run_id != process.run_id or found.ended
    return rescued


def discard(process_id: UUID, *, actor: Actor) -> None:
    """Remove an ended process with everything in the queue that is its own."""
    with transaction.atomic():
        process = lock(process_id)
        if not process.ended:
            raise Refusal(
                "process_active",
                _("This LLM process is still going on. Cancel it first."),
                status_now=process.status,
            )
        audit.record(actor, "delete", process, before=process.facts())
        LLMJob.objects.of(process.pk).delete()
        process.delete()


def remember_provider(process: LLMProcess, config: ProviderConfig) -> None:
    """Who answers from now on. The caller saves it."""
    process.provider_kind = config.kind
    process.base_url, process.model = config.base_url, config.model
    process.input_price, process.output_price = config.input_price, config.output_price


def job_scope(process: LLMProcess) -> str:
    """Of its runs: work of the whole site is nobody's."""
    return "" if process.scope == SITE else process.scope
