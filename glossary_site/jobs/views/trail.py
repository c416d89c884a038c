"""What people did to a row, as its page tells it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Model

from glossary_site.jobs.models import AuditEntry

# More than this is for the administration, which has pages.
MOST = 50


@dataclass(frozen=True)
class Change:
    key: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Deed:
    time: datetime
    actor: str
    action: str
    changes: list[Change]


def trail_of(row: Model) -> list[Deed]:
    """The newest first."""
    entries = AuditEntry.objects.filter(
        target_type=row._meta.label_lower, target_id=str(row.pk)
    ).order_by("-pk")
    return [_deed(entry) for entry in entries[:MOST]]


def _deed(entry: AuditEntry) -> Deed:
    """Only what changed; a fact that was the same before and after is no news."""
    changes = [
        Change(key, entry.before.get(key), value)
        for key, value in entry.after.items()
        if entry.before.get(key) != value
    ]
    return Deed(entry.time, entry.actor, entry.action, changes)
