"""How a list of runs is narrowed, the same on the pages and in the API; what is offered for one."""

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from glossary_site.jobs.choices import ACTIVE, HELD, UNSUCCESSFUL, WAITING, State
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.querysets import JobRunQuerySet
from glossary_site.numbers import number_in

# What people look for; a program names the states themselves.
STATE_GROUPS = {
    "active": (_("Active"), ACTIVE),
    "waiting": (_("Waiting"), WAITING),
    "running": (_("Running"), HELD),
    "succeeded": (_("Succeeded"), (State.SUCCEEDED,)),
    "failed": (_("Failed or timed out"), UNSUCCESSFUL),
    "cancelled": (_("Cancelled"), (State.CANCELED,)),
}

# Work that somebody asked for, apart from what begins by the clock or an event, over and over.
ORIGINS = {
    "asked": (_("Asked for"), Q(definition__isnull=True)),
    "definitions": (_("By a definition"), Q(definition__isnull=False)),
}


def matching(runs: JobRunQuerySet, text: str) -> JobRunQuerySet:
    """“#41” is that run; “41” may also be a part of its kind, key, error or worker."""
    number = number_in(text.removeprefix("#"))
    if number is not None and text.startswith("#"):
        return runs.filter(pk=number)
    found = (
        Q(kind__icontains=text)
        | Q(idempotency_key__icontains=text)
        | Q(error__icontains=text)
        | Q(assigned_worker__icontains=text)
    )
    return runs.filter(found if number is None else found | Q(pk=number))


def may_be_retried(run: JobRun) -> bool:
    """Where it makes a difference: after an end without success, or instead of a pause. Read the
    run with its `next_attempt`, or this is a query."""
    following: JobRun | None = getattr(run, "next_attempt", None)
    waiting = following or run
    if waiting.state in WAITING:
        return waiting.due_at > timezone.now()
    return following is None and run.state in (*UNSUCCESSFUL, State.CANCELED)
