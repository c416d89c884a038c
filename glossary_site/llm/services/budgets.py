"""What a month may cost: kept back when requests are enqueued, entered when they have ended.

Nothing is looked up first and written later: one UPDATE names the limit in its condition, so two
that want the last of a budget at the same moment cannot both have it.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.jobs.services import audit
from glossary_site.jobs.services.audit import Actor
from glossary_site.llm.choices import ProviderKind
from glossary_site.llm.models import Budget, LLMProcess, Spending
from glossary_site.llm.models.process import SITE
from glossary_site.llm.tokens import cost_of_nano, nano_of_cost


@dataclass(frozen=True)
class Caps:
    """What a scope may use in a month; None where there is no limit."""

    tokens: int | None = None
    cost: Decimal | None = None


@dataclass(frozen=True)
class Glance:
    """A scope's month: for pages, and for the sentence of a refusal."""

    scope: str
    month: date
    caps: Caps
    used_tokens: int = 0
    reserved_tokens: int = 0
    used_cost: Decimal = Decimal(0)
    reserved_cost: Decimal = Decimal(0)


def this_month() -> date:
    return timezone.localdate().replace(day=1)


def caps_of(scope: str) -> Caps:
    row = Budget.objects.filter(scope=scope).first()
    if row is not None:
        return Caps(row.monthly_tokens, row.monthly_cost)
    if scope == SITE:
        return Caps(settings.LLM_MONTHLY_TOKENS or None, settings.LLM_MONTHLY_COST or None)
    return Caps()


def glance(scope: str, month: date | None = None) -> Glance:
    month = month or this_month()
    spent = Spending.objects.filter(scope=scope, month=month).first()
    if spent is None:
        return Glance(scope, month, caps_of(scope))
    return Glance(
        scope,
        month,
        caps_of(scope),
        spent.used_tokens,
        spent.reserved_tokens,
        spent.used_cost,
        spent.reserved_cost,
    )


def reserve(process: LLMProcess, *, tokens: int, nano: int) -> None:
    """Keep this back for a process, or refuse. Call it late in a transaction: it locks the site's
    month. The process must be saved by the caller."""
    if process.provider_kind == ProviderKind.BUILTIN:
        return
    for scope in scopes_of(process.scope):
        caps = caps_of(scope)
        if caps.cost is not None and not process.priced:
            raise Refusal(
                "price_unknown",
                _(
                    "There is a limit on costs, but the prices of the provider are not known. "
                    "Enter the prices of the provider, or remove the limit."
                ),
                scope=scope,
            )
        if not _reserve(scope, process.month, caps, tokens=tokens, nano=nano):
            raise _exceeded(process, scope, tokens=tokens, nano=nano)
    process.reserved_tokens += tokens
    process.reserved_nano += nano


def keep_back(process: LLMProcess, *, tokens: int, nano: int) -> None:
    """More for a process that nothing limited when it began. Call it late in a transaction: it
    locks the site's month."""
    for scope in scopes_of(process.scope):
        _reserve(scope, process.month, Caps(), tokens=tokens, nano=nano)


def is_limited(scope: str) -> bool:
    return any(caps_of(each) != Caps() for each in scopes_of(scope))


def settle(process: LLMProcess) -> None:
    """Give back what was kept for it, and enter what it used. The process must be locked, and saved
    by the caller."""
    tokens = process.tokens - process.booked_tokens
    nano = process.cost_nano - process.booked_nano
    if process.reserved_tokens or process.reserved_nano or tokens or nano:
        enter(
            scope=process.scope,
            month=process.month,
            freed_tokens=process.reserved_tokens,
            freed_nano=process.reserved_nano,
            tokens=tokens,
            nano=nano,
        )
    process.reserved_tokens = process.reserved_nano = 0
    process.booked_tokens, process.booked_nano = process.tokens, process.cost_nano


def enter(
    *,
    scope: str,
    month: date,
    freed_tokens: int = 0,
    freed_nano: int = 0,
    tokens: int = 0,
    nano: int = 0,
) -> None:
    """What is not kept back any more, and what was used. Call it late in a transaction: it locks
    the site's month."""
    for each in scopes_of(scope):
        _update(
            Spending.objects.filter(scope=each, month=month),
            Spending(scope=each, month=month),
            reserved_tokens=F("reserved_tokens") - freed_tokens,
            reserved_nano=F("reserved_nano") - freed_nano,
            used_tokens=F("used_tokens") + tokens,
            used_nano=F("used_nano") + nano,
        )


def set_caps(*, scope: str, caps: Caps, actor: Actor) -> Budget:
    with transaction.atomic():
        before = caps_of(scope)
        row, _made = Budget.objects.update_or_create(
            scope=scope, defaults={"monthly_tokens": caps.tokens, "monthly_cost": caps.cost}
        )
        audit.record(actor, "set budget", row, before=vars(before), after=vars(caps))
    return row


def remove_caps(*, scope: str, actor: Actor) -> None:
    with transaction.atomic():
        for row in Budget.objects.filter(scope=scope):
            audit.record(actor, "remove budget", row, before=vars(caps_of(scope)))
            row.delete()


def scopes_of(scope: str) -> tuple[str, ...]:
    """Whose month it counts for. The site's comes last, always: two that wait for each other's row
    would wait for ever."""
    return (SITE,) if scope == SITE else (scope, SITE)


def _reserve(scope: str, month: date, caps: Caps, *, tokens: int, nano: int) -> bool:
    row = Spending.objects.filter(scope=scope, month=month)
    if caps.tokens is not None:
        row = row.filter(used_tokens__lte=caps.tokens - tokens - F("reserved_tokens"))
    if caps.cost is not None:
        row = row.filter(used_nano__lte=nano_of_cost(caps.cost) - nano - F("reserved_nano"))
    return _update(
        row,
        Spending(scope=scope, month=month),
        reserved_tokens=F("reserved_tokens") + tokens,
        reserved_nano=F("reserved_nano") + nano,
    )


def _update(row: QuerySet[Spending], made: Spending, **changes: Any) -> bool:
    """Change a row. It is made where there is none yet, which happens once a month."""
    if row.update(**changes):
        return True
    Spending.objects.bulk_create([made], ignore_conflicts=True)
    return row.update(**changes) == 1


def _exceeded(process: LLMProcess, scope: str, *, tokens: int, nano: int) -> Refusal:
    seen = glance(scope, process.month)
    details: dict[str, Any] = {
        "scope": scope,
        "month": f"{process.month:%Y-%m}",
        "needed_tokens": tokens,
        "used_tokens": seen.used_tokens,
        "reserved_tokens": seen.reserved_tokens,
        "cap_tokens": seen.caps.tokens,
    }
    if process.priced:
        details |= {
            "needed_cost": str(cost_of_nano(nano)),
            "used_cost": str(seen.used_cost),
            "reserved_cost": str(seen.reserved_cost),
            "cap_cost": None if seen.caps.cost is None else str(seen.caps.cost),
        }
    free = (
        None
        if seen.caps.tokens is None
        else (seen.caps.tokens - seen.used_tokens - seen.reserved_tokens)
    )
    whose = _("the whole site") if scope == SITE else scope
    if free is not None and tokens > free:
        message = _(
            "This needs about %(needed)s tokens, and of this month's budget for %(whose)s "
            "(%(cap)s tokens) only %(free)s are left. Nothing was sent."
        ) % {"needed": tokens, "cap": seen.caps.tokens, "free": max(0, free), "whose": whose}
    else:
        left = (seen.caps.cost or Decimal(0)) - seen.used_cost - seen.reserved_cost
        message = _(
            "This would cost about %(needed)s, and of this month's budget for %(whose)s "
            "(%(cap)s) only %(free)s are left. Nothing was sent."
        ) % {
            "needed": money(cost_of_nano(nano)),
            "cap": money(seen.caps.cost or Decimal(0)),
            "free": money(max(Decimal(0), left)),
            "whose": whose,
        }
    return Refusal("budget_exceeded", message, **details)


def money(amount: Decimal) -> str:
    """Two digits, or as many as a small amount needs to be seen."""
    return f"{amount:.2f}" if amount >= 1 or not amount else f"{amount.normalize():f}"
