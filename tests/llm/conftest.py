from collections.abc import Iterator

import pytest

from tests.llm_server import Server, running_server


@pytest.fixture
def llm_server() -> Iterator[Server]:
    """An OpenAI-compatible server on loopback, with nothing in it and nothing wrong with it."""
    with running_server() as server:
        yield server


@pytest.fixture
def provider(llm_server, settings) -> Server:
    """The site's provider is that server, impatient where tests would have to wait."""
    settings.LLM = {
        **settings.LLM,
        "base_url": llm_server.base_url,
        "model": "peer-small",
        "concurrency": 4,
        "timeout": 5,
    }
    settings.LLM_BACKOFF_SECONDS = 0.01
    settings.LLM_BATCH_POLL_SECONDS = 0.01
    return llm_server
