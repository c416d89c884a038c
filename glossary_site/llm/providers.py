"""Which provider answers for a scope.

Its own row, else the site's row, else the environment, else the built-in engine. A row that is
switched off is passed over. A command may have another one answer while it runs.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from django.conf import settings

from glossary_site.llm.choices import ProviderKind, Strategy
from glossary_site.llm.models import Provider
from glossary_site.secrets import SecretUnreadable, decrypt

SITE = "site"


class Origin(StrEnum):
    """Who chose the provider."""

    SCOPE = "scope"
    SITE = "site"
    ENVIRONMENT = "environment"
    DEFAULT = "default"


@dataclass(frozen=True)
class ProviderConfig:
    """Everything it takes to ask a provider, as plain data."""

    origin: Origin
    kind: ProviderKind = ProviderKind.BUILTIN
    base_url: str = ""
    query: str = ""
    model: str = ""
    api_key: str = field(default="", repr=False)
    # There is a key, but not for us: the site's own key has changed since it was stored.
    key_unreadable: bool = False
    strategy: Strategy = Strategy.SYNC
    concurrency: int = 8
    timeout: int = 120
    # Of a million tokens; None where nobody said.
    input_price: Decimal | None = None
    output_price: Decimal | None = None
    context_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def allow_private(self) -> bool:
        """Who writes the environment of this machine may name any host of its network."""
        return self.origin is Origin.ENVIRONMENT


# Of this process, and so of all its threads: whoever names another one has the process to himself.
_instead: ProviderConfig | None = None


@contextmanager
def overriding(config: ProviderConfig) -> Iterator[None]:
    """Within it, this process asks that provider, whatever is chosen for a scope. Not for the web
    process or a worker, which answer for many at once."""
    global _instead
    before, _instead = _instead, config
    try:
        yield
    finally:
        _instead = before


def overridden() -> bool:
    """Whether this process asks a provider that nobody else knows of."""
    return _instead is not None


def models_are_asked() -> bool:
    """Whether anybody here asks more than the built-in engine."""
    rows = Provider.objects.filter(enabled=True).exclude(kind=ProviderKind.BUILTIN)
    return from_environment().kind != ProviderKind.BUILTIN or rows.exists()


def provider_for(scope: str) -> ProviderConfig:
    if _instead is not None:
        return _instead
    rows = {
        row.scope: row for row in Provider.objects.filter(scope__in={scope, SITE}, enabled=True)
    }
    if scope in rows:
        return config_of(rows[scope])
    if SITE in rows:
        return config_of(rows[SITE])
    return from_environment()


def key_state(row: Provider | None) -> str:
    """All that is ever told of a key: none, stored, or unreadable."""
    if row is None or not row.encrypted_key:
        return "none"
    return "unreadable" if config_of(row).key_unreadable else "stored"


def config_of(row: Provider) -> ProviderConfig:
    """The provider of one row, whether it is switched on or not."""
    api_key, unreadable = "", False
    if row.encrypted_key:
        try:
            api_key = decrypt(row.encrypted_key)
        except SecretUnreadable:
            unreadable = True
    return ProviderConfig(
        origin=Origin.SITE if row.scope == SITE else Origin.SCOPE,
        kind=ProviderKind(row.kind),
        base_url=row.base_url,
        query=row.query,
        model=row.model,
        api_key=api_key,
        key_unreadable=unreadable,
        strategy=Strategy(row.bulk_strategy),
        concurrency=row.concurrency,
        timeout=row.request_timeout,
        input_price=row.input_price,
        output_price=row.output_price,
        context_tokens=row.context_tokens,
        output_tokens=row.output_tokens,
    )


def from_environment() -> ProviderConfig:
    chosen = settings.LLM
    if not chosen["base_url"]:
        return ProviderConfig(origin=Origin.DEFAULT)
    return ProviderConfig(
        origin=Origin.ENVIRONMENT,
        kind=ProviderKind.OPENAI,
        base_url=chosen["base_url"].rstrip("/"),
        query=chosen["query"],
        model=chosen["model"],
        api_key=chosen["api_key"],
        strategy=Strategy(chosen["strategy"]),
        concurrency=chosen["concurrency"],
        timeout=chosen["timeout"],
        input_price=chosen["input_price"],
        output_price=chosen["output_price"],
        context_tokens=chosen["context_tokens"],
        output_tokens=chosen["output_tokens"],
    )
