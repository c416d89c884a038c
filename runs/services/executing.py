"""The way of a run through its steps, from wherever it was left."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import InterfaceError, OperationalError
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override

from glossary_site.errors import Refusal
from glossary_site.jobs.choices import State
from glossary_site.jobs.errors import PermanentFailure, Stop, Stopped
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.session import Session
from glossary_site.llm.providers import overridden, provider_for
from glossary_site.observe.masking import mask
from runs.choices import Step
from runs.models import Run, RunStep
from runs.services.asking import Parked
from runs.services.ending import begin, complete_if_not_cancelled, fail
from runs.services.steps.extract import extract
from runs.services.steps.generate import generate
from runs.services.steps.load import load
from runs.services.steps.refine import refine
from runs.services.steps.review import review
from runs.services.work import Work

STEPS: dict[str, Callable[[Work], None]] = {
    Step.LOAD: load,
    Step.EXTRACT: extract,
    Step.GENERATE: generate,
    Step.REVIEW: review,
    Step.REFINE: refine,
}
IN_HAND = (State.ASSIGNED, State.RUNNING)
LOOK_SECONDS = 0.2
NEVER = 2**31 - 1


def advance(run_id: int, session: Session) -> None:
    """Go on with a run to its end, or until it has to wait for answers."""
    run = Run.objects.select_related("project", "base", "actor").filter(pk=run_id).first()
    if run is None:
        # It went with its project.
        return
    with override(run.project.language):
        try:
            if _take(run, session):
                _go_on(run, session)
        except (Stopped, Parked):
            raise
        except (OperationalError, InterfaceError):
            # The database may come back; the next attempt goes on from here.
            raise
        except Exception as error:
            _give_up(run, session, error)


def _take(run: Run, session: Session) -> bool:
    """Make it ours. The job that put its questions may be about to end: it is waited for."""
    while True:
        with session.atomic():
            row = Run.objects.select_for_update(of=("self",)).get(pk=run.pk)
            other = JobRun.objects.filter(pk=row.job_id or 0, state__in=IN_HAND)
            if not other.exclude(pk=session.run.pk).exists():
                Run.objects.filter(pk=run.pk).update(job=session.run)
                return begin(run)
        session.wait(LOOK_SECONDS)


def _go_on(run: Run, session: Session) -> None:
    work = Work(run, session)
    _check_provider(work)
    with work.lines, _young_garbage_only():
        for step in run.steps.filter(finished_at__isnull=True).order_by("order"):
            session.check()
            _enter(work, step)
            STEPS[step.step](work)
    with session.finishing():
        if not complete_if_not_cancelled(run):
            raise Stopped(Stop.CANCELED)


@contextmanager
def _young_garbage_only() -> Iterator[None]:
    """Of many documents a run keeps millions of objects to its end. To look through all of them for
    garbage stops the whole process for seconds, and whoever would tell the run to stop with it."""
    before = gc.get_threshold()
    gc.set_threshold(*before[:2], NEVER)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _check_provider(work: Work) -> None:
    """Whoever is set instead may be just the one whom these documents were not to be shown to."""
    if work.options.own_provider and not overridden():
        raise Refusal(
            "provider_unknown",
            _(
                "Only the command that began this run knows the provider it asks. Start the "
                "command again."
            ),
        )


def _enter(work: Work, step: RunStep) -> None:
    work.step = step
    # Somebody may have chosen another since the last step.
    work.config = provider_for(work.project.stream)
    if step.started_at is None:
        step.started_at = timezone.now()
        with work.session.atomic():
            work.progress(0, 0, lines=[work.line(str(step.get_step_display()))])
            step.save(update_fields=["started_at"])
        work.tell(now=True)


def _give_up(run: Run, session: Session, error: Exception) -> None:
    message = sentence_of(error)
    # What went wrong may be that it was stopped, or went with its project.
    session.look()
    session.check()
    # Only while it is ours. Where nothing can be written, the sweep settles it later.
    with session.atomic():
        fail(run, message, error=error)
    raise PermanentFailure(message) from error


def sentence_of(error: BaseException) -> str:
    """What people are told. Only our own sentences are shown: others may name files, addresses or
    keys of the server."""
    if isinstance(error, Refusal | PermanentFailure):
        return mask(str(error))
    return _(
        "Something went wrong (%(kind)s). Operators find the details in the log of the run."
    ) % {"kind": type(error).__name__}
