"""Definitions for tests."""

from datetime import datetime, timedelta

from django.utils import timezone

from glossary_site.jobs.models import JobDefinition
from glossary_site.jobs.services.definitions import (
    create_definition,
)

NIGHTLY = "17 3 * * *"


def make(name: str = "nightly", **fields) -> JobDefinition:
    values = {"kind": "work.note", "cron": NIGHTLY, **fields}
    return create_definition(actor="olive", name=name, **values)


def since_yesterday(definition: JobDefinition) -> JobDefinition:
    definition.enabled_at = timezone.now() - timedelta(days=1)
    definition.save(update_fields=["enabled_at"])
    return definition


def last_minute() -> datetime:
    """A slot of “every minute” that was due a minute ago at least."""
    return timezone.now().replace(second=0, microsecond=0) - timedelta(minutes=1)
