"""Starting what a definition describes: once for each slot or event, and as its policy says."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.jobs import registry
from glossary_site.jobs.choices import Policy, State
from glossary_site.jobs.models import JobDefinition, JobRun, TriggerEvent
from glossary_site.jobs.querysets import JobRunQuerySet
from glossary_site.jobs.services import runs, transitions
from glossary_site.jobs.services.audit import SITE
from glossary_site.jobs.services.enqueue import enqueue

TRIES = 20


def start_run(
    definition: JobDefinition,
    *,
    scheduled_for: datetime | None = None,
    event: TriggerEvent | None = None,
) -> JobRun:
    """The run of this slot or event. `fresh` tells whether it is new; one that the policy does not
    let run is there too, cancelled, with the reason."""
    with transaction.atomic():
        definition = lock(definition)
        there = _same(definition, scheduled_for, event)
        if there is not None:
            return there
        why_not = _make_room(definition)
        run = enqueue(
            definition.kind,
            payload_for(definition, event),
            idempotency_key=f"event:{event.pk}:{definition.pk}" if event else None,
            timeout=definition.timeout_seconds,
            retries=definition.retries,
            definition=definition,
            scheduled_for=scheduled_for,
        )
        if why_not:
            # Its delivery finds a run that has ended.
            transitions.end(run, State.CANCELED, error=why_not)
    return run


def lock(definition: JobDefinition) -> JobDefinition:
    """One at a time decides about a definition. The weaker lock: a worker that writes the next
    attempt of a run, which points here, must not have to wait for one who waits for that run."""
    locked: JobDefinition = JobDefinition.objects.select_for_update(no_key=True).get(
        pk=definition.pk
    )
    return locked


def active_runs(definition: JobDefinition) -> JobRunQuerySet:
    """Also an attempt that waits for its turn."""
    return JobRun.objects.filter(definition=definition).active().order_by("pk")


def payload_for(definition: JobDefinition, event: TriggerEvent | None) -> dict[str, Any]:
    """The definition's own; where the function has an argument `event`, that too."""
    if event is None or not registry.kind_of(definition.kind).takes("event"):
        return dict(definition.payload)
    about = {"id": str(event.pk), "type": event.type, "payload": event.payload}
    return {**definition.payload, "event": about}


def _same(
    definition: JobDefinition, scheduled_for: datetime | None, event: TriggerEvent | None
) -> JobRun | None:
    if event is not None:
        return JobRun.objects.filter(idempotency_key=f"event:{event.pk}:{definition.pk}").first()
    if scheduled_for is not None:
        return JobRun.objects.filter(definition=definition, scheduled_for=scheduled_for).first()
    return None


def _make_room(definition: JobDefinition) -> str:
    """As the policy says; why there is none, or nothing."""
    if definition.policy == Policy.FORBID:
        earlier = active_runs(definition).first()
        return f"Skipped: job {earlier.pk} of this definition had not ended." if earlier else ""
    if definition.policy == Policy.REPLACE:
        for _try in range(TRIES):
            # Again until there is none: one that just failed may have left its next attempt.
            earlier_runs = list(active_runs(definition))
            if not earlier_runs:
                return ""
            for run in earlier_runs:
                _replace(run)
        raise Refusal(
            "definition_busy",
            _("The runs of “%(name)s” are changing too fast.") % {"name": definition.name},
        )
    return ""


def _replace(run: JobRun) -> None:
    try:
        runs.cancel_run(run, actor=SITE, reason="Replaced by a newer run of its definition.")
    except Refusal as refusal:
        if refusal.code != "run_not_active":
            raise
