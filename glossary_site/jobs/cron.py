"""Cron expressions: what they may say, and the times they name.

Times are reckoned as django-q2 reckons them, in the site's own time zone. When its clocks go
forward, what was due in the hour that is missing is due at the end of the gap; when they go back, a
time in the hour that comes twice is due twice.
"""

import re
from datetime import UTC, datetime

from croniter import CroniterBadDateError, croniter
from django.utils import timezone
from django.utils.translation import gettext as _
from django_q.utils import localtime

from glossary_site.errors import Refusal

FIELDS = 5
# Times by chance (R) or by a hash (H) would be others for each one who reckons them.
BY_CHANCE = re.compile(r"\b[HR]\b", re.I)


def check_cron(cron: str) -> None:
    """Refuse, in words, what is no cron expression or never comes."""
    if len(cron.split()) != FIELDS or BY_CHANCE.search(cron):
        raise _refused(
            _(
                "A cron expression has five fields (minute, hour, day, month, weekday), "
                "such as “17 3 * * *”."
            )
        )
    try:
        next_slot(cron, after=timezone.now())
    except CroniterBadDateError as error:
        raise _refused(_("“%(cron)s” names a day that never comes.") % {"cron": cron}) from error
    except ValueError as error:
        raise _refused(
            _("“%(cron)s” is not a cron expression: %(reason)s.")
            % {"cron": cron, "reason": str(error).rstrip(".")}
        ) from error


def next_slot(cron: str, *, after: datetime) -> datetime:
    """In UTC: local times are compared by the hands of the clock, which go back once a year."""
    slot: datetime = croniter(cron, localtime(after)).get_next(datetime)
    return slot.astimezone(UTC)


def last_slot(cron: str, *, after: datetime, until: datetime) -> datetime | None:
    """The latest time that it names in between, the end included. Counted forwards, as the timer
    does."""
    last = None
    slot = next_slot(cron, after=after)
    while slot <= until:
        last, slot = slot, next_slot(cron, after=slot)
    return last


def _refused(reason: str) -> Refusal:
    return Refusal("bad_cron", reason, status=400, field="cron")
