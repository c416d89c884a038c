"""What people do to runs: cancel one, try one again."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.jobs import news
from glossary_site.jobs.choices import ACTIVE, UNSUCCESSFUL, WAITING, Policy, State
from glossary_site.jobs.models import JobDefinition, JobRun
from glossary_site.jobs.services import audit, transitions
from glossary_site.jobs.services.audit import Actor

TRIES = 20


def cancel_run(run: JobRun, *, actor: Actor, reason: str = "") -> JobRun:
    """End it now. A job that is running is told within a second; whatever it still writes is
    refused from this moment on."""
    for _try in range(TRIES):
        run = JobRun.objects.get(pk=run.pk)
        if run.state not in ACTIVE:
            raise Refusal(
                "run_not_active",
                _("Job %(id)s has ended already: %(state)s.")
                % {"id": run.pk, "state": run.get_state_display()},
                state=run.state,
            )
        before = _facts(run)
        with transaction.atomic():
            if transitions.end(run, State.CANCELED, error=reason or f"Cancelled by {actor}."):
                audit.record(actor, "cancel", run, before=before, after=_facts(run))
                return run
    raise Refusal("run_busy", _("Job %(id)s is changing too fast.") % {"id": run.pk})


def retry_run(run: JobRun, *, actor: Actor) -> JobRun:
    """Try again now: a new attempt after an unsuccessful or cancelled one, or, where one waits
    already, that one without its pause."""
    with transaction.atomic():
        if run.definition_id is not None:
            JobDefinition.objects.select_for_update(no_key=True).filter(
                pk=run.definition_id
            ).first()
        run = JobRun.objects.select_for_update(no_key=True).get(pk=run.pk)
        waiting = _waiting(run)
        if waiting is not None:
            before = _facts(waiting)
            transitions.hurry(waiting)
            audit.record(actor, "retry", waiting, before=before, after=_facts(waiting))
            return waiting
        if run.state not in (*UNSUCCESSFUL, State.CANCELED):
            raise Refusal(
                "run_not_failed",
                _("Job %(id)s cannot be tried again: %(state)s.")
                % {"id": run.pk, "state": run.get_state_display()},
                state=run.state,
            )
        if JobRun.objects.filter(retry_of=run).exists():
            raise Refusal(
                "run_retried",
                _("Job %(id)s was tried again already.") % {"id": run.pk},
                next_id=run.next_attempt.pk,
            )
        _refuse_beside_another(run)
        attempt = transitions.make_next_attempt(run, blameless=True)
        audit.record(actor, "retry", run, before=_facts(run), after=_facts(attempt))
        transitions.hurry(attempt)
        news.changed(attempt)
    return attempt


def _refuse_beside_another(run: JobRun) -> None:
    """A definition that runs alone does so by hand, too."""
    definition = run.definition
    if definition is None or definition.policy != Policy.FORBID:
        return
    active = JobRun.objects.active().filter(definition=definition).first()
    if active is not None:
        raise Refusal(
            "definition_active",
            _("“%(name)s” is at work already: job %(id)s.")
            % {"name": definition.name, "id": active.pk},
            run_id=active.pk,
        )


def _waiting(run: JobRun) -> JobRun | None:
    """The run itself or its next attempt, where it waits for its time."""
    if run.state in WAITING:
        return run
    return JobRun.objects.waiting().filter(retry_of=run).first()


def _facts(run: JobRun) -> dict[str, Any]:
    return {"id": run.pk, "state": run.state, "attempt": run.attempt, "due_at": run.due_at}
