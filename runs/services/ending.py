"""How a run begins and ends. Each move is a compare-and-set that names the state it comes from: a
cancelled run is never completed, a completed one never cancelled.

Rows are locked in one order: LLM process, run, job, feed.
"""

import traceback
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override

from glossary_site.errors import Refusal
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.querysets import JobRunQuerySet
from glossary_site.jobs.services import audit
from glossary_site.jobs.services.runs import cancel_run
from glossary_site.llm.models import LLMProcess
from glossary_site.llm.services import processes
from projects.access import Actor, name_of
from projects.models import Project
from runs import news
from runs.choices import ACTIVE, Level, Status
from runs.models import ERROR_LENGTH, Run
from runs.services import logs
from runs.services.logs import Line

ADVANCE = "runs.advance"


def begin(run: Run) -> bool:
    """PENDING → RUNNING, or go on with one that runs already; False when it has ended."""
    now = timezone.now()
    fresh = Run.objects.filter(pk=run.pk, status=Status.PENDING)
    if fresh.update(status=Status.RUNNING, started_at=now, progress_at=now):
        logs.write(run, [Line(_("The run has begun."))])
    return Run.objects.filter(pk=run.pk, status=Status.RUNNING).exists()


def complete_if_not_cancelled(run: Run) -> bool:
    """RUNNING → COMPLETED; False when it was stopped before. Call it last in a transaction."""
    if not _end(run, Status.COMPLETED, come_from=(Status.RUNNING,)):
        return False
    run.refresh_from_db()
    message = _("The run is complete.")
    if run.failure_count:
        message = ngettext(
            "The run is complete, with %(n)s failure.",
            "The run is complete, with %(n)s failures.",
            run.failure_count,
        ) % {"n": run.failure_count}
    logs.write(run, [Line(message, level=Level.WARNING if run.failure_count else Level.INFO)])
    news.happened(run, news.COMPLETED, failures=run.failure_count)
    return True


def fail(run: Run, message: str, *, error: BaseException | None = None) -> bool:
    """To FAILED, with a sentence for people; the whole story is in the log, for operators. False
    when it had ended before. Call it last in a transaction."""
    message = message.strip()[:ERROR_LENGTH] or _("Something went wrong.")
    if not _end(run, Status.FAILED, error_message=message):
        return False
    story = "".join(traceback.format_exception(error)) if error is not None else ""
    logs.write(run, [Line(message, level=Level.ERROR, traceback=story)])
    news.happened(run, news.FAILED, error=message)
    return True


def cancel(run: Run, *, actor: Actor, because: str = "") -> Run:
    """To CANCELLED. Whoever works on it is told within a second, in the middle of a call too, and
    nothing that it still writes is taken. What is there already stays."""
    with transaction.atomic():
        asked = lock_process(run)
        if not _end(run, Status.CANCELLED):
            run.refresh_from_db()
            raise Refusal(
                "run_not_active",
                _("This run has ended already: %(status)s.") % {"status": run.get_status_display()},
                run_id=run.pk,
                run_status=run.status,
            )
        # A refusal is for whoever asks, what is written now for everybody in the project.
        with override(run.project.language):
            _write_cancelled(run, actor, because, asked)
    run.refresh_from_db()
    return run


def _write_cancelled(run: Run, actor: Actor, because: str, asked: LLMProcess | None) -> None:
    who = name_of(actor) or audit.SITE
    reason = because or _("Stopped.")
    if name_of(actor):
        reason = _("Stopped by %(name)s.") % {"name": who}
    logs.write(run, [Line(reason, level=Level.WARNING)])
    audit.record(who, "cancel", run, after={"status": Status.CANCELLED})
    if asked is not None and not asked.ended:
        # One that is being cancelled already is as good.
        with suppress(Refusal):
            processes.cancel(asked.pk, actor=who, reason=reason)
    for job in jobs_of(run).active():
        with suppress(Refusal):
            cancel_run(job, actor=who, reason=reason)
    news.happened(run, news.CANCELLED, by=name_of(actor))


def stop_runs(project: Project, actor: Actor) -> None:
    """Of a project that is about to be deleted."""
    for run in Run.objects.filter(project=project).active():
        # One that has ended by itself meanwhile is as good.
        with suppress(Refusal):
            cancel(run, actor=actor)


def jobs_of(run: Run) -> JobRunQuerySet:
    """The work done for it: the first, and those that went on after a kill or a batch."""
    return JobRun.objects.for_scope(run.project.stream).filter(kind=ADVANCE, payload__run_id=run.pk)


def _end(
    run: Run, status: Status, *, come_from: tuple[Status, ...] = ACTIVE, **fields: Any
) -> bool:
    active = Run.objects.filter(pk=run.pk, status__in=come_from)
    ended = active.update(status=status, finished_at=timezone.now(), current_term="", **fields)
    if ended:
        run.status = status
    return bool(ended)


def lock_process(run: Run) -> LLMProcess | None:
    """The process that answers for the step it is at, locked before the run as by its worker."""
    number = asked_by(run)
    if number is None:
        return None
    return LLMProcess.objects.select_for_update().filter(pk=number).first()


def asked_by(run: Run) -> UUID | None:
    """The number of that process; there may be none of that number yet."""
    asking = run.steps.filter(process_id__isnull=False, finished_at__isnull=True)
    return asking.values_list("process_id", flat=True).first()
