"""The life of a definition: made, changed, switched on and off, started, removed.

Its timer is a django-q2 schedule, kept in step with it in the same transaction. Nothing here counts
the hours; the sweep only looks whether the timer's last call got lost.
"""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django_q.models import Schedule

from glossary_site.errors import Refusal
from glossary_site.jobs import cron as crons
from glossary_site.jobs import registry
from glossary_site.jobs.choices import Policy
from glossary_site.jobs.models import JobDefinition, JobRun
from glossary_site.jobs.payloads import check_storable
from glossary_site.jobs.services import audit, starting
from glossary_site.jobs.services.audit import Actor

logger = logging.getLogger(__name__)

FIRE = "glossary_site.jobs.timers.fire"
FIELDS = (
    "name",
    "kind",
    "payload",
    "cron",
    "event_type",
    "policy",
    "timeout_seconds",
    "retries",
    "enabled",
)
# django-q2 looks at its timers every 30 seconds; only then its call may be missed.
MISSED_AFTER = timedelta(seconds=40)
# A slot that was missed for longer is not made up for: nobody expects it any more.
MISSED_UNTIL = timedelta(minutes=10)


def create_definition(
    *,
    actor: Actor,
    name: str,
    kind: str,
    payload: dict[str, Any] | None = None,
    cron: str = "",
    event_type: str = "",
    policy: str = Policy.FORBID,
    timeout_seconds: int | None = None,
    retries: int | None = None,
    enabled: bool = True,
) -> JobDefinition:
    definition = JobDefinition(
        name=name,
        kind=kind,
        payload=payload or {},
        cron=cron,
        event_type=event_type,
        policy=policy,
        timeout_seconds=timeout_seconds,
        retries=retries,
        enabled=enabled,
    )
    check_definition(definition)
    with transaction.atomic():
        _save(definition, force_insert=True)
        _set_timer(definition)
        audit.record(actor, "create", definition, after=_facts(definition))
    return definition


def update_definition(
    definition: JobDefinition, *, actor: Actor, version: int | None = None, **changes: Any
) -> JobDefinition:
    """Change the fields that are named, if it is still as the caller saw it (`version`; without
    one, as the given object was read)."""
    if unknown := changes.keys() - set(FIELDS):
        raise TypeError(f"not a field of a definition: {', '.join(sorted(unknown))}")
    seen = definition.version if version is None else version
    with transaction.atomic():
        definition = starting.lock(definition)
        if definition.version != seen:
            raise Refusal(
                "definition_changed",
                _("“%(name)s” was changed in the meantime. Look at it again first.")
                % {"name": definition.name},
                version=definition.version,
            )
        before = _facts(definition)
        for field, value in changes.items():
            setattr(definition, field, value)
        if changes != {"enabled": False}:
            # Switching off is always possible, also where the kind is not known any more.
            check_definition(definition)
        after = _facts(definition)
        if before == after:
            return definition
        if definition.enabled and any(before[key] != after[key] for key in ("enabled", "cron")):
            definition.enabled_at = timezone.now()
        definition.version += 1
        _save(definition)
        _set_timer(definition)
        changed = [key for key in FIELDS if before[key] != after[key]]
        audit.record(
            actor,
            "change",
            definition,
            before={key: before[key] for key in changed},
            after={key: after[key] for key in changed},
        )
    return definition


def enable(definition: JobDefinition, *, actor: Actor) -> JobDefinition:
    return update_definition(definition, actor=actor, enabled=True)


def disable(definition: JobDefinition, *, actor: Actor) -> JobDefinition:
    """Nothing starts by itself any more; what runs goes on."""
    return update_definition(definition, actor=actor, enabled=False)


def delete_definition(definition: JobDefinition, *, actor: Actor) -> None:
    """Its runs stay, as history."""
    with transaction.atomic():
        definition = starting.lock(definition)
        kind = registry.find(definition.kind)
        others = JobDefinition.objects.filter(kind=definition.kind).exclude(pk=definition.pk)
        if kind is not None and kind.cron and not others.exists():
            raise Refusal(
                "definition_needed",
                _("The site would make “%(name)s” again. Switch it off instead.")
                % {"name": definition.name},
            )
        audit.record(actor, "delete", definition, before=_facts(definition))
        Schedule.objects.filter(pk=definition.schedule_id).delete()
        definition.delete()


def run_now(definition: JobDefinition, *, actor: Actor) -> JobRun:
    """Start it by hand, also while it is switched off."""
    with transaction.atomic():
        definition = starting.lock(definition)
        earlier = starting.active_runs(definition).first()
        if earlier is not None and definition.policy == Policy.FORBID:
            raise Refusal(
                "definition_active",
                _("“%(name)s” is at work already: job %(id)s.")
                % {"name": definition.name, "id": earlier.pk},
                run_id=earlier.pk,
            )
        run = starting.start_run(definition)
        audit.record(actor, "run", definition, after={"run": run.pk})
    return run


def fire(definition_id: int, *, scheduled_for: datetime) -> JobRun | None:
    """Its time has come. None: it has been switched off or removed since the timer was set."""
    on = JobDefinition.objects.enabled().filter(pk=definition_id, enabled_at__lte=scheduled_for)
    with transaction.atomic():
        definition = on.select_for_update(no_key=True).first()
        if definition is None:
            return None
        return starting.start_run(definition, scheduled_for=scheduled_for)


# Each definition by the clock as it was last seen, and when to look at it again. It saves reckoning
# every second what happens once a day.
_next_looks: dict[tuple[int, str, datetime], datetime] = {}


def fire_missed_slots(now: datetime) -> int:
    """The latest slot of each definition, where the timer's call for it got lost: with Redis, a
    killed worker loses what it had in hand. How many."""
    global _next_looks
    looks, fired = {}, 0
    for definition in JobDefinition.objects.enabled().by_the_clock():
        key = (definition.pk, definition.cron, definition.enabled_at)
        look = _next_looks.get(key)
        if look is None or look <= now:
            fired += _fire_if_missed(definition, now)
            look = crons.next_slot(definition.cron, after=now - MISSED_AFTER) + MISSED_AFTER
        looks[key] = look
    _next_looks = looks
    return fired


def _fire_if_missed(definition: JobDefinition, now: datetime) -> bool:
    since = max(definition.enabled_at, now - MISSED_UNTIL)
    slot = crons.last_slot(definition.cron, after=since, until=now - MISSED_AFTER)
    if slot is None or JobRun.objects.filter(definition=definition, scheduled_for=slot).exists():
        return False
    try:
        run = fire(definition.pk, scheduled_for=slot)
    except Refusal as refusal:
        logger.warning("“%s” could not be started for %s: %s", definition, slot, refusal)
        return False
    return run is not None and run.fresh


def check_definition(definition: JobDefinition) -> None:
    """Tidy what was typed, and refuse, in words, what could never run."""
    for field in ("name", "kind", "cron", "event_type"):
        setattr(definition, field, " ".join(getattr(definition, field).split()))
    try:
        definition.clean_fields()
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise _bad(field, " ".join(messages)) from error
    if definition.timeout_seconds == 0:
        raise _bad("timeout_seconds", _("A timeout has at least one second."))
    kind = registry.kind_of(definition.kind)
    if not kind.schedulable:
        raise Refusal(
            "kind_not_schedulable",
            _("Work of the kind “%(kind)s” is only started by the site itself.")
            % {"kind": kind.name},
            status=400,
            field="kind",
        )
    check_storable(definition.payload)
    if definition.cron:
        crons.check_cron(definition.cron)
    if definition.event_type and kind.takes("event"):
        kind.check_payload({**definition.payload, "event": {}})
    if definition.cron or not definition.event_type:
        kind.check_payload(definition.payload)


def _bad(field: str, reason: str) -> Refusal:
    return Refusal("bad_definition", f"{field}: {reason}", status=400, field=field)


def _save(definition: JobDefinition, **options: Any) -> None:
    try:
        with transaction.atomic():
            definition.save(**options)
    except IntegrityError as error:
        raise Refusal(
            "definition_name_taken",
            _("There is already a definition called “%(name)s”. Choose another name.")
            % {"name": definition.name},
            field="name",
        ) from error


def _set_timer(definition: JobDefinition) -> None:
    """Have django-q2 call at the definition's times, or not at all."""
    timer = definition.schedule
    if not (definition.enabled and definition.cron):
        if timer is not None:
            timer.delete()
            definition.schedule = None
    elif timer is None:
        definition.schedule = Schedule.objects.create(
            name=definition.name,
            func=FIRE,
            args=str(definition.pk),
            schedule_type=Schedule.CRON,
            cron=definition.cron,
            intended_date_kwarg="scheduled_for",
        )
        definition.save(update_fields=["schedule"])
    elif (timer.name, timer.cron) != (definition.name, definition.cron):
        timer.name = definition.name
        if timer.cron != definition.cron:
            timer.cron = definition.cron
            timer.next_run = crons.next_slot(timer.cron, after=timezone.now())
        timer.save(update_fields=["name", "cron", "next_run"])


def _facts(definition: JobDefinition) -> dict[str, Any]:
    return {field: getattr(definition, field) for field in FIELDS}
