"""Events from elsewhere that start work here. The same one counts once."""

import logging
import time
from typing import Any

from django.db import DatabaseError, IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.jobs.models import NAME_LENGTH, JobDefinition, TriggerEvent
from glossary_site.jobs.payloads import check_storable
from glossary_site.jobs.services.audit import Actor
from glossary_site.jobs.services.starting import start_run

logger = logging.getLogger(__name__)

KEY_LENGTH = 200
BATCH = 100
# After a failure, before the events that wait are tried again.
PAUSE_SECONDS = 30.0
_not_before = 0.0


def receive_event(
    *, type: str, payload: dict[str, Any] | None = None, dedupe_key: str, actor: Actor
) -> tuple[TriggerEvent, bool]:
    """Keep it and start what it starts, in one transaction. The same key again is the same event:
    nothing starts twice, and the second answer is False."""
    event = TriggerEvent(
        type=_checked("type", type, NAME_LENGTH),
        dedupe_key=_checked("dedupe_key", dedupe_key, KEY_LENGTH),
        payload={} if payload is None else payload,
        created_by=str(actor)[:150],
    )
    check_storable(event.payload)
    with transaction.atomic():
        there = _insert_once(event)
        if there is not None:
            if (there.type, there.payload) != (event.type, event.payload):
                raise Refusal(
                    "dedupe_conflict",
                    _("Another event was received with the key “%(key)s”.")
                    % {"key": event.dedupe_key},
                    event_id=str(there.pk),
                )
            return there, False
        try:
            with transaction.atomic():
                _process(event)
        except DatabaseError:
            raise
        except Exception:
            # The sender has done its part: the event is kept, and the sweep tries again.
            logger.exception("The event %s could not be acted on yet", event.pk)
    return event, True


def process_waiting() -> int:
    """Act on the events that nobody could act on when they came; how many."""
    global _not_before
    if time.monotonic() < _not_before:
        return 0
    done = 0
    waiting = TriggerEvent.objects.unprocessed().order_by("created_at")
    for pk in list(waiting.values_list("pk", flat=True)[:BATCH]):
        try:
            with transaction.atomic():
                event = waiting.select_for_update().filter(pk=pk).first()
                if event is not None:
                    _process(event)
                    done += 1
        except DatabaseError:
            raise
        except Exception:
            logger.exception("The event %s could not be acted on", pk)
            _not_before = time.monotonic() + PAUSE_SECONDS
    return done


def _process(event: TriggerEvent) -> None:
    for definition in JobDefinition.objects.started_by(event.type).order_by("pk"):
        try:
            with transaction.atomic():
                event.runs.add(start_run(definition, event=event))
        except Refusal as refusal:
            # It would be refused again. One definition must not keep the others from starting.
            logger.warning("The event %s does not start “%s”: %s", event.pk, definition, refusal)
    event.processed_at = timezone.now()
    event.save(update_fields=["processed_at"])


def _insert_once(event: TriggerEvent) -> TriggerEvent | None:
    """Insert it, or return the one that has its key. The unique constraint decides."""
    same = TriggerEvent.objects.filter(dedupe_key=event.dedupe_key)
    there = same.first()
    if there is not None:
        return there
    try:
        with transaction.atomic():
            event.save(force_insert=True)
    except IntegrityError:
        return same.get()
    return None


def _checked(field: str, text: str, length: int) -> str:
    if not text.strip() or len(text) > length or not text.isprintable():
        raise Refusal(
            "bad_event",
            _("“%(field)s” must be one line of 1 to %(length)s characters.")
            % {"field": field, "length": length},
            status=400,
            field=field,
        )
    return text
