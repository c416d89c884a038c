"""What was learned about a server, so that the next process need not learn it again."""

from datetime import timedelta

from django.utils import timezone

from glossary_site.llm.choices import JsonMode
from glossary_site.llm.models import Dialect
from glossary_site.llm.providers import ProviderConfig
from glossary_site.llm.structured import Speech

# Servers are updated: after this it is tried again.
REMEMBERED = timedelta(days=1)


def speech_for(config: ProviderConfig) -> Speech:
    known = _known(config)
    if known is None:
        return Speech()
    return Speech(JsonMode(known.json_mode), known.newer_limit, known.no_temperature)


def has_no_batches(config: ProviderConfig) -> bool:
    known = _known(config)
    return known is not None and known.no_batches


def learn(config: ProviderConfig, speech: Speech) -> None:
    _remember(
        config,
        json_mode=speech.json_mode,
        newer_limit=speech.newer_limit,
        no_temperature=speech.no_temperature,
    )


def learn_no_batches(config: ProviderConfig) -> None:
    _remember(config, no_batches=True)


def _known(config: ProviderConfig) -> Dialect | None:
    return Dialect.objects.filter(
        base_url=config.base_url,
        model=config.model,
        learned_at__gte=timezone.now() - REMEMBERED,
    ).first()


def _remember(config: ProviderConfig, **learned: object) -> None:
    known = _known(config)
    kept = {"json_mode": JsonMode.SCHEMA, "newer_limit": False, "no_temperature": False}
    if known is not None:
        kept = {name: getattr(known, name) for name in (*kept, "no_batches")}
    Dialect.objects.update_or_create(
        base_url=config.base_url,
        model=config.model,
        defaults={"no_batches": False, **kept, **learned, "learned_at": timezone.now()},
    )
