"""The definitions of what the site does by itself: one for each kind that names its hours."""

import logging

from django.db import transaction
from django_q.models import Schedule

from glossary_site.errors import Refusal
from glossary_site.jobs import registry
from glossary_site.jobs.models import JobDefinition
from glossary_site.jobs.registry import Kind
from glossary_site.jobs.services.audit import SITE
from glossary_site.jobs.services.definitions import create_definition

logger = logging.getLogger(__name__)

# Timers of earlier versions, which called a function without a definition; its kind now.
FORMER_TIMERS = {"glossary_site.live.services.prune_events": "site.prune_live_events"}


def ensure_definitions() -> None:
    """Every worker calls it when it starts. What is there stays as an operator left it."""
    with transaction.atomic():
        crons = _take_former_timers()
        present = set(JobDefinition.objects.values_list("kind", flat=True))
        for kind in registry.kinds():
            if kind.cron and kind.name not in present:
                _create(kind, crons.get(kind.name, kind.cron))


def _create(kind: Kind, cron: str) -> None:
    try:
        with transaction.atomic():
            create_definition(actor=SITE, name=kind.name, kind=kind.name, cron=cron)
    except Refusal as refusal:
        # Another host, which starts at the same moment, was first.
        logger.info("%s", refusal)


def _take_former_timers() -> dict[str, str]:
    """Remove them, and keep the hours that they were moved to."""
    former = Schedule.objects.filter(func__in=FORMER_TIMERS)
    crons = {FORMER_TIMERS[timer.func]: timer.cron for timer in former if timer.cron}
    former.delete()
    return crons
