"""How the pages about background work show times and states."""

from datetime import datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from glossary_site.durations import in_words
from glossary_site.jobs.choices import State
from glossary_site.jobs.lists import may_be_retried
from glossary_site.jobs.models import JobRun
from glossary_site.templatetags.site import icon

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
    return "–" if moment is None else _time(moment, in_words(abs(now - moment)))


@register.simple_tag
def until(moment: datetime | None, now: datetime) -> SafeString | str:
    """“in 40 s”; what should have happened already is “due”."""
    if moment is None:
        return "–"
    if moment <= now:
        return _time(moment, _("due"))
    return _time(moment, _("in %(time)s") % {"time": in_words(moment - now)})


def _time(moment: datetime, words: str) -> SafeString:
    local = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{} {}">{}</time>',
        moment.isoformat(timespec="seconds"),
        date_format(local, "DATETIME_FORMAT"),
        local.tzname(),
        words,
    )


@register.simple_tag
def state_badge(run: JobRun) -> SafeString:
    style, drawing = BADGES[State(run.state)]
    return format_html(
        '<span class="badge {}">{}{}</span>', style, icon(drawing), run.get_state_display()
    )


@register.filter
def took(run: JobRun) -> timedelta | None:
    """How long it ran, or has been running."""
    if run.started_at is None:
        return None
    return (run.finished_at or timezone.now()) - run.started_at


@register.filter
def may_retry(run: JobRun) -> bool:
    return may_be_retried(run)
