"""What the site does by the clock. The timers are django-q2 schedules, which operators see in the
admin."""

from dataclasses import dataclass

from django.db import transaction
from django_q.models import Schedule


@dataclass(frozen=True)
class Timer:
    name: str
    func: str
    cron: str


TIMERS = (Timer("prune live events", "glossary_site.live.services.prune_events", "17 3 * * *"),)


@transaction.atomic
def ensure_schedules() -> None:
    """Every start calls it; a row that is there keeps its hour."""
    for timer in TIMERS:
        present = Schedule.objects.filter(name=timer.name).order_by("pk").first()
        if present is None:
            Schedule.objects.create(
                name=timer.name, func=timer.func, schedule_type=Schedule.CRON, cron=timer.cron
            )
            continue
        # Names are not unique in that table: two hosts that start at once may both have made one.
        Schedule.objects.filter(name=timer.name).exclude(pk=present.pk).delete()
        if present.func != timer.func:
            present.func = timer.func
            present.save(update_fields=["func"])
