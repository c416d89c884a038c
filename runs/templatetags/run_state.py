"""How pages show runs."""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django import template
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import ngettext

from glossary_site.llm.services.budgets import money
from glossary_site.llm.tokens import cost_of_nano
from glossary_site.templatetags.site import badge
from projects.rendering.plain import plain_quote
from runs.choices import IssueKind, Status
from runs.models import Run, RunStep

register = template.Library()
register.filter(plain_quote)

# An icon and words beside the colour: each is enough to tell a status.
BADGES = {
    Status.PENDING: ("", "clock"),
    Status.RUNNING: ("badge-info", "activity"),
    Status.COMPLETED: ("badge-ok", "check"),
    Status.CANCELLED: ("", "close"),
    Status.FAILED: ("badge-bad", "alert"),
}
KINDS = {
    IssueKind.CONTRADICTION: "badge-bad",
    IssueKind.UNSUPPORTED: "badge-bad",
    IssueKind.DUPLICATE: "badge-warn",
    IssueKind.UNCLEAR: "badge-warn",
}
# The beginning of a hash that finds the version a quote was read in.
HASH_LENGTH = 12
# Below this a definition is a guess.
SURE, UNSURE = 0.7, 0.4


@register.simple_tag
def run_badge(run: Run) -> SafeString:
    style, drawing = BADGES[Status(run.status)]
    if run.status == Status.COMPLETED and run.failure_count:
        words = ngettext(
            "Completed with %(n)d failure", "Completed with %(n)d failures", run.failure_count
        )
        return badge("badge-warn", "alert", words % {"n": run.failure_count})
    return badge(style, drawing, run.get_status_display())


@register.simple_tag
def kind_badge(kind: str) -> SafeString:
    style = KINDS.get(IssueKind(kind), "")
    return format_html('<span class="badge {}">{}</span>', style, IssueKind(kind).label)


@register.filter
def took(row: Run | RunStep) -> timedelta | None:
    """How long it went on, or has been going on."""
    if row.started_at is None:
        return None
    return (row.finished_at or timezone.now()) - row.started_at


@register.filter
def cost(run: Run) -> str:
    """What has no price, as the answers of the built-in engine, cost nothing worth a figure."""
    return about(cost_of_nano(run.cost_nano)) if run.cost_nano else "–"


@register.filter
def about(amount: Decimal) -> str:
    """An amount of money that is for comparing, not for booking: two digits tell enough."""
    return money(amount if amount >= 1 else Decimal(f"{amount:.2g}"))


@register.filter
def percent(share: float) -> str:
    return f"{round(100 * share)}%"


@register.filter
def sureness(share: float) -> str:
    """The class of a confidence; the figure beside it says the same."""
    return "sure" if share >= SURE else "unsure" if share < UNSURE else ""


@register.filter
def at(values: Mapping[str, Any], key: str) -> Any:
    return values.get(key, key)


@register.simple_tag
def passage_url(project_id: int, place: Mapping[str, Any]) -> str:
    """The lines of a document that a quote is from."""
    first, last = place["line_start"], place["line_end"]
    query = urlencode({"lines": f"{first}-{last}", "hash": place["file_hash"][:HASH_LENGTH]})
    return f"{reverse('document', args=[project_id, place['document_id']])}?{query}#L{first}"
