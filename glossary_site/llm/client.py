"""The real `openai` client, speaking through the guard.

It works with every server that speaks this language: OpenAI, Azure, Ollama, llama.cpp, vLLM, LM
Studio. It never tries twice by itself: the queue decides about that, and keeps the account.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

import httpx2

from glossary_site.llm.providers import ProviderConfig
from glossary_site.llm.sdk import openai
from glossary_site.outbound.transport import guarded_async_client, guarded_client
from glossary_site.secrets import SecretUnreadable

CONNECT_SECONDS = 10.0
# Besides the answers under way: an upload, a poll.
SPARE_CONNECTIONS = 4
# What leaves this machine. The library would add the headers of its own environment variables,
# credentials for another host among them, and tell every server what this machine is.
HEADERS = frozenset(
    {
        b"accept",
        b"accept-encoding",
        b"connection",
        b"content-length",
        b"content-type",
        b"host",
        b"idempotency-key",
        b"openai-beta",
        b"traceparent",
        b"transfer-encoding",
        b"x-client-request-id",
    }
)
# The library insists on a key, and would else take one from the environment.
NO_KEY = "none"


def openai_client(config: ProviderConfig) -> openai.AsyncOpenAI:
    """Besides the errors of `openai`, its calls raise `UrlRefused` where the guard says no: asking
    again would not help."""

    async def dress(request: httpx2.Request) -> None:
        dress_request(config, request)

    client = guarded_async_client(
        **_guarded(config, dress), connections=config.concurrency + SPARE_CONNECTIONS
    )
    return openai.AsyncOpenAI(http_client=client, **_options(config))


def openai_sync_client(config: ProviderConfig) -> openai.OpenAI:
    def dress(request: httpx2.Request) -> None:
        dress_request(config, request)

    return openai.OpenAI(http_client=guarded_client(**_guarded(config, dress)), **_options(config))


def _guarded(config: ProviderConfig, dress: Callable[[httpx2.Request], Any]) -> dict[str, Any]:
    if config.key_unreadable:
        raise SecretUnreadable
    return {
        "url": config.base_url,
        "allow_private": config.allow_private,
        "timeout": timeout_of(config.timeout),
        "event_hooks": {"request": [dress]},
    }


def timeout_of(seconds: float) -> httpx2.Timeout:
    return httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))


def _options(config: ProviderConfig) -> dict[str, Any]:
    return {
        "base_url": config.base_url,
        "api_key": NO_KEY,
        "timeout": timeout_of(config.timeout),
        "max_retries": 0,
        "default_query": dict(parse_qsl(config.query)),
    }


def dress_request(config: ProviderConfig, request: httpx2.Request) -> None:
    """The last word on what is sent: the headers above, and the key of this provider."""
    kept = [(name, value) for name, value in request.headers.raw if name.lower() in HEADERS]
    request.headers = httpx2.Headers([*kept, (b"User-Agent", b"glossary-site")])
    if config.api_key:
        request.headers["Authorization"] = f"Bearer {config.api_key}"
        if "api-version" in config.query:
            # Azure's older addresses look for the key here.
            request.headers["api-key"] = config.api_key
