"""How pages show LLM processes."""

from decimal import Decimal

from django import template
from django.utils.safestring import SafeString

from glossary_site.llm.choices import ProcessStatus
from glossary_site.llm.models import LLMProcess
from glossary_site.llm.services import budgets
from glossary_site.templatetags.site import badge

register = template.Library()

# An icon and words beside the colour: each is enough to tell a status.
BADGES = {
    ProcessStatus.PENDING: ("", "clock"),
    ProcessStatus.RUNNING: ("badge-info", "activity"),
    ProcessStatus.WAITING: ("badge-info", "clock"),
    ProcessStatus.CANCELLING: ("badge-warn", "clock"),
    ProcessStatus.COMPLETED: ("badge-ok", "check"),
    ProcessStatus.FAILED: ("badge-bad", "alert"),
    ProcessStatus.CANCELLED: ("", "close"),
}


@register.simple_tag
def process_badge(process: LLMProcess) -> SafeString:
    return badge(*BADGES[ProcessStatus(process.status)], process.get_status_display())


@register.filter
def money(amount: Decimal | None) -> str:
    return "–" if amount is None else budgets.money(amount)


@register.filter
def short_id(process: LLMProcess) -> str:
    """Enough to tell one from another by eye."""
    return str(process.pk)[:8]
