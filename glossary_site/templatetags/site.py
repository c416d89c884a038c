"""Tags every template may use without loading them."""

from datetime import datetime, timedelta
from typing import Any

from django import template
from django.forms import BoundField
from django.templatetags.static import static
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

register = template.Library()

MINUTE, HOUR, DAY = 60, 3600, 86400
# Older than this, a date says more than a count of days.
RELATIVE_DAYS = 30


def since(value: datetime, now: datetime) -> str:
    """How long ago, in the reader's language: “3 minutes ago”; a date when it is long ago."""
    seconds = max(0, int((now - value).total_seconds()))
    if seconds < MINUTE:
        return gettext("just now")
    if seconds < HOUR:
        n = seconds // MINUTE
        return ngettext("%(n)d minute ago", "%(n)d minutes ago", n) % {"n": n}
    if seconds < DAY:
        n = seconds // HOUR
        return ngettext("%(n)d hour ago", "%(n)d hours ago", n) % {"n": n}
    if seconds < RELATIVE_DAYS * DAY:
        n = seconds // DAY
        return ngettext("%(n)d day ago", "%(n)d days ago", n) % {"n": n}
    return date_format(timezone.localtime(value), "DATE_FORMAT")


@register.simple_tag
def ago(value: datetime | None) -> SafeString | str:
    """`{% ago document.updated_at %}`; site.js keeps the words fresh while the page is open."""
    if value is None:
        return "–"
    now = timezone.now()
    recent = now - value < timedelta(days=RELATIVE_DAYS)
    return in_time(value, since(value, now), " data-ago" if recent else "")


def in_time(moment: datetime, words: str, attribute: str = "") -> SafeString:
    """Words for a moment, with the exact one on hover."""
    local = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{} {}"{}>{}</time>',
        moment.isoformat(timespec="seconds"),
        date_format(local, "DATETIME_FORMAT"),
        local.tzname(),
        attribute,
        words,
    )


def badge(style: str, drawing: str, words: str) -> SafeString:
    return format_html('<span class="badge {}">{}{}</span>', style, icon(drawing), words)


@register.filter
def number(value: Any) -> str:
    """12345 → 12,345"""
    return number_format(value, force_grouping=True)


@register.simple_tag
def icon(name: str) -> SafeString:
    """A drawing from static/icons.svg. It is an ornament: words beside it carry the meaning."""
    return format_html(
        '<svg class="icon" aria-hidden="true" focusable="false"><use href="{}#{}"></use></svg>',
        static("icons.svg"),
        name,
    )


@register.inclusion_tag("partials/field.html")
def field(bound: BoundField) -> dict[str, BoundField]:
    """A form field with its label, help and errors, tied together for screen readers."""
    return {"field": bound}
