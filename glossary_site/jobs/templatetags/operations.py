"""How the pages about background work show times and states."""

from datetime import datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from glossary_site.durations import in_words
from glossary_site.jobs.choices import State
from glossary_site.jobs.lists import may_be_retried
from glossary_site.jobs.models import JobRun
from glossary_site.templatetags.site import badge, in_time

register = template.Library()

# An icon and words beside the colour: each is enough to tell a state.
BADGES = {
    State.PENDING: ("", "clock"),
    State.ORPHANED: ("badge-warn", "clock"),
    State.ASSIGNED: ("badge-info", "activity"),
    State.RUNNING: ("badge-info", "activity"),
    State.SUCCEEDED: ("badge-ok", "check"),
    State.FAILED: ("badge-bad", "alert"),
    State.TIMED_OUT: ("badge-bad", "clock"),
    State.CANCELED: ("", "close"),
}


@register.filter
def duration(length: timedelta | None) -> str:
    return "–" if length is None else in_words(length)


@register.simple_tag
def span(moment: datetime | None, now: datetime) -> SafeString | str:
    """How far a moment is from now, before or after: “40 s”, with the exact time on hover."""
    return "–" if moment is None else in_time(moment, in_words(abs(now - moment)))


@register.simple_tag
def until(moment: datetime | None, now: datetime) -> SafeString | str:
    """“in 40 s”; what should have happened already is “due”."""
    if moment is None:
        return "–"
    if moment <= now:
        return in_time(moment, _("due"))
    return in_time(moment, _("in %(time)s") % {"time": in_words(moment - now)})


@register.simple_tag
def ticking(moment: datetime | None, now: datetime) -> SafeString | str:
    """How long ago a moment was; ticking.js counts on, with the words given here."""
    if moment is None:
        return "–"
    return in_time(
        moment,
        in_words(now - moment),
        format_html(
            ' data-ticking="{}" data-seconds="{}" data-minutes="{}" data-hours="{}"',
            max(0, int((now - moment).total_seconds())),
            _("%(n)d s") % {"n": 0},
            _("%(n)d min") % {"n": 0},
            _("%(h)d h %(m)d min") % {"h": 0, "m": 0},
        ),
    )


@register.simple_tag
def state_badge(run: JobRun) -> SafeString:
    return badge(*BADGES[State(run.state)], run.get_state_display())


@register.filter
def took(run: JobRun) -> timedelta | None:
    """How long it ran, or has been running."""
    if run.started_at is None:
        return None
    return (run.finished_at or timezone.now()) - run.started_at


@register.filter
def may_retry(run: JobRun) -> bool:
    return may_be_retried(run)
