"""The safety net: no run says for ever that it is running.

A run whose work has ended without it (a worker killed too often, a status that could not be
written) goes on if it had got anywhere since, and is given up if not.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import connection, transaction
from django.db.models import Count, Sum
from django.utils.translation import gettext as _
from django.utils.translation import override

from glossary_site.errors import Refusal
from glossary_site.jobs.choices import ACTIVE as JOB_ACTIVE
from glossary_site.jobs.choices import State
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.services.audit import SITE
from glossary_site.jobs.services.enqueue import enqueue
from glossary_site.llm.choices import ProcessStatus
from glossary_site.llm.models import LLMProcess
from glossary_site.llm.services import processes, queue
from projects.access import OPERATOR
from runs.choices import ACTIVE, ENDED, Level
from runs.models import DocumentTerms, Run, RunStep
from runs.services import logs
from runs.services.asking import count
from runs.services.ending import ADVANCE, asked_by, cancel, fail, jobs_of, lock_process
from runs.services.logs import Line

logger = logging.getLogger(__name__)

# So often it is taken up again although nothing came of it.
MOST_STALLS = 3
# More than a step has terms or documents.
A_STEP = 10**9


def settle() -> int:
    """Look after every active run; how many needed it. One that makes trouble does not keep the
    others from it."""
    settled = 0
    for run in Run.objects.active().select_related("project", "job"):
        if run.job is None or run.job.state not in JOB_ACTIVE:
            with _trouble_noted(run):
                settled += settle_run(run)
    left = RunStep.objects.filter(
        run__status__in=ENDED, process_id__isnull=False, finished_at__isnull=True
    )
    for step in left.select_related("run"):
        with _trouble_noted(step.run):
            _drop_questions(step)
    return settled


@contextmanager
def _trouble_noted(run: Run) -> Iterator[None]:
    try:
        yield
    except Exception:
        if not connection.is_usable():
            raise
        logger.exception("Run %s could not be looked after", run.pk)


def settle_run(run: Run) -> bool:
    """Have it taken up again, or end it; False where somebody looks after it."""
    with transaction.atomic(), override(run.project.language):
        # Before the run, as its worker does.
        asked = lock_process(run)
        locked = Run.objects.select_for_update(of=("self",)).filter(pk=run.pk, status__in=ACTIVE)
        run_now = locked.select_related("project").first()
        if run_now is None or jobs_of(run_now).active().exists() or _is_asking(run_now):
            return False
        last: JobRun | None = jobs_of(run_now).order_by("-pk").first()
        if last is not None and last.state == State.CANCELED:
            # By an operator; or nobody could begin with it, however often it was given out.
            because = _("Stopped, because its job %(id)s was ended: %(why)s")
            cancel(run_now, actor=OPERATOR, because=because % {"id": last.pk, "why": last.error})
            return True
        mark = _mark(run_now)
        stalls = 0 if mark > run_now.mark else run_now.stalls + 1
        if stalls > MOST_STALLS:
            fail(run_now, _("The run did not get on: its worker ended again and again."))
            return True
        job = enqueue(ADVANCE, {"run_id": run_now.pk}, scope=run_now.project.stream)
        Run.objects.filter(pk=run_now.pk).update(job=job, stalls=stalls, mark=mark)
        if asked is not None and not asked.ended:
            processes.hand_over(asked, job)
        logs.write(run_now, [Line(_("The run is taken up again."), level=Level.WARNING)])
    return True


def _mark(run: Run) -> int:
    """How far it is in what a kill does not take away: steps, answers, documents read."""
    steps = run.steps.aggregate(finished=Count("finished_at"), done=Sum("done"))
    read = DocumentTerms.objects.filter(document__project=run.project).count()
    return int(steps["finished"] * A_STEP + (steps["done"] or 0) + read)


def _is_asking(run: Run) -> bool:
    """It waits for a process that will call for it."""
    number = asked_by(run)
    if number is None:
        return False
    return LLMProcess.objects.active().filter(pk=number).exclude(then_kind="").exists()


def _drop_questions(step: RunStep) -> None:
    """Of a run that ended in the middle: nobody comes for the answers any more."""
    number = step.process_id
    process = LLMProcess.objects.filter(pk=number).first() if number else None
    if process is not None and not process.ended:
        if process.status != ProcessStatus.CANCELLING:
            # It was stopped in the moment in which it asked.
            with suppress(Refusal):
                processes.cancel(process.pk, actor=SITE)
        return
    with transaction.atomic():
        if process is not None:
            with queue.consume(process.pk):
                count(step.run, process, requests=process.completed)
        RunStep.objects.filter(pk=step.pk).update(process_id=None)
