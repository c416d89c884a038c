"""Who did what to which row, written in the transaction of the deed."""

import json
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model

from glossary_site.jobs.models import AuditEntry
from glossary_site.observe.trace import current_trace_id

# A person (anything with a name), or what acts where there is none: a command, the site itself.
Actor = object
SITE = "the site"


def record(
    actor: Actor,
    action: str,
    target: Model,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> AuditEntry:
    """Values are kept as JSON; secrets must not be among them."""
    return AuditEntry.objects.create(
        actor=str(actor)[:150],
        action=action,
        target_type=target._meta.label_lower,
        target_id=str(target.pk),
        before=_plain(before),
        after=_plain(after),
        trace_id=current_trace_id(),
    )


def _plain(values: dict[str, Any] | None) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(values or {}, cls=DjangoJSONEncoder))
    return plain
