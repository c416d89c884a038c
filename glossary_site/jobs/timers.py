"""What django-q2 calls when a definition's time has come. It may call twice, late or never."""

from datetime import datetime

from glossary_site.jobs.services import definitions


def fire(definition_id: int, *, scheduled_for: str) -> None:
    definitions.fire(definition_id, scheduled_for=datetime.fromisoformat(scheduled_for))
