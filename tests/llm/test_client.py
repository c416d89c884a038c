"""The real client against a real server: what leaves this machine, and what never does."""

import asyncio
import time

import openai
import pytest

from glossary_site.llm.choices import ProviderKind
from glossary_site.llm.client import openai_client, openai_sync_client
from glossary_site.llm.providers import Origin, ProviderConfig
from glossary_site.outbound.allowed import parse_allowed
from glossary_site.outbound.errors import UrlRefused
from glossary_site.secrets import SecretUnreadable
from tests.outbound.listeners import listening

MESSAGES = [{"role": "user", "content": "hello"}]


def config_for(base_url, **changes) -> ProviderConfig:
    return ProviderConfig(
        **{
            "origin": Origin.ENVIRONMENT,
            "kind": ProviderKind.OPENAI,
            "base_url": base_url,
            "model": "peer-small",
            "timeout": 5,
            **changes,
        }
    )


async def ask(config):
    async with openai_client(config) as client:
        return await client.chat.completions.create(model=config.model, messages=MESSAGES)


def ask_sync(config):
    with openai_sync_client(config) as client:
        return client.chat.completions.create(model=config.model, messages=MESSAGES)


async def test_both_clients_get_an_answer(llm_server):
    llm_server.configure(api_key="sk-1")
    config = config_for(llm_server.base_url, api_key="sk-1")
    assert (await ask(config)).choices[0].message.content
    assert ask_sync(config).choices[0].message.content
    assert len(llm_server.requests) == 2


async def test_no_credentials_of_the_environment_leave_the_machine(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "from-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/")
    monkeypatch.setenv(
        "OPENAI_CUSTOM_HEADERS",
        "X-Gateway: from-the-environment\nAuthorization: Bearer from-the-environment",
    )
    with listening() as listener:
        for key in ("", "sk-mine"):
            for call in (ask, lambda config: asyncio.to_thread(ask_sync, config)):
                with pytest.raises((openai.OpenAIError, AttributeError, TypeError)):
                    (await call(config_for(listener.url(), api_key=key))).choices[0]
    assert len(listener.seen) == 4
    for number, (_method, _path, headers) in enumerate(listener.seen):
        assert "from-the-environment" not in repr(headers)
        assert not any(name.lower().startswith("x-stainless") for name in headers)
        assert headers.get("Authorization") == ("Bearer sk-mine" if number >= 2 else None)
        assert headers["User-Agent"] == "glossary-site"


async def test_azure_gets_its_query_and_its_header():
    with listening() as listener:
        base_url = listener.url() + "/openai/deployments/mine"
        config = config_for(base_url, query="api-version=2024-10-21", api_key="sk-1")
        with pytest.raises((openai.OpenAIError, AttributeError, TypeError)):
            (await ask(config)).choices[0]
    ((method, path, headers),) = listener.seen
    assert method == "POST"
    assert path == "/openai/deployments/mine/chat/completions?api-version=2024-10-21"
    assert headers["api-key"] == "sk-1"


async def test_it_never_tries_twice(llm_server):
    llm_server.faults.add("server_error")
    with pytest.raises(openai.InternalServerError):
        await ask(config_for(llm_server.base_url))
    with pytest.raises(openai.InternalServerError):
        ask_sync(config_for(llm_server.base_url))
    assert len(llm_server.requests) == 2


async def test_it_waits_as_long_as_it_is_told(llm_server):
    llm_server.faults.add("hang", delay=20)
    started = time.monotonic()
    with pytest.raises(openai.APITimeoutError):
        await ask(config_for(llm_server.base_url, timeout=1))
    assert time.monotonic() - started < 10


async def test_what_a_person_typed_passes_the_guard(llm_server, settings):
    config = config_for(llm_server.base_url, origin=Origin.SCOPE)
    for call in (ask, lambda config: asyncio.to_thread(ask_sync, config)):
        with pytest.raises(UrlRefused):
            await call(config)
    assert llm_server.requests == []
    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["127.0.0.1"])
    assert (await ask(config)).choices


async def test_a_redirect_takes_no_key_along(llm_server, settings):
    with listening("127.0.0.2") as elsewhere:
        llm_server.faults.add("redirect", location=elsewhere.url() + "/v1/chat/completions")
        with pytest.raises(openai.APIStatusError) as failed:
            await ask(config_for(llm_server.base_url, api_key="sk-1"))
        assert failed.value.status_code == 307
    assert elsewhere.seen == []


def test_a_key_that_cannot_be_read_is_not_left_out_in_silence(llm_server):
    config = config_for(llm_server.base_url, key_unreadable=True)
    with pytest.raises(SecretUnreadable):
        openai_client(config)
    with pytest.raises(SecretUnreadable):
        openai_sync_client(config)


async def test_as_many_requests_at_a_time_as_are_wanted(llm_server):
    llm_server.configure(delay=0.2)
    config = config_for(llm_server.base_url, concurrency=12)
    async with openai_client(config) as client:
        await asyncio.gather(
            *(
                client.chat.completions.create(
                    model="peer-small", messages=[{"role": "user", "content": str(number)}]
                )
                for number in range(12)
            )
        )
    assert llm_server.most_at_once == 12
