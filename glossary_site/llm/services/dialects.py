"""What was learned about a server, so that the next process need not learn it again."""

from datetime import timedelta

from django.utils import timezone

from glossary_site.llm.choices import JsonMode
from glossary_site.llm.models import Dialect
from glossary_site.llm.providers import ProviderConfig
from glossary_site.llm.speech import Speech

# Servers are updated: after this it is tried again.
REMEMBERED = timedelta(days=1)
FORGOTTEN = {
    "json_mode": JsonMode.SCHEMA,
    "newer_limit": False,
    "no_temperature": False,
    "no_batches": False,
}


def speech_for(config: ProviderConfig) -> Speech:
    known = _known(config)
    if known is None:
        return Speech()
    return Speech(JsonMode(known.json_mode), known.newer_limit, known.no_temperature)


def has_no_batches(config: ProviderConfig) -> bool:
    known = _known(config)
    return known is not None and known.no_batches


def learn(config: ProviderConfig, **learned: object) -> None:
    """No more than what is new: others may have learned something else meanwhile."""
    Dialect.objects.update_or_create(
        base_url=config.base_url,
        model=config.model,
        defaults={
            **({} if _known(config) else FORGOTTEN),
            **learned,
            "learned_at": timezone.now(),
        },
    )


def _known(config: ProviderConfig) -> Dialect | None:
    return Dialect.objects.filter(
        base_url=config.base_url,
        model=config.model,
        learned_at__gte=timezone.now() - REMEMBERED,
    ).first()
