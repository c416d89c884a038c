from collections.abc import Iterator

import pytest

from tests.llm_peer import glossary
from tests.llm_server import Server, running_server
from tests.runs.working import make_harbour


@pytest.fixture
def harbour(project):
    """A project with two documents that define a handful of terms."""
    make_harbour(project)
    return project


@pytest.fixture
def glossary_server() -> Iterator[Server]:
    with running_server(answers=glossary.answer) as server:
        yield server


@pytest.fixture
def model(glossary_server, settings) -> Server:
    """The site's provider is a pretended model that knows the glossary's questions."""
    settings.LLM = {
        **settings.LLM,
        "base_url": glossary_server.base_url,
        "model": "peer-small",
        "concurrency": 4,
        "timeout": 5,
    }
    settings.LLM_BACKOFF_SECONDS = 0.01
    settings.LLM_BATCH_POLL_SECONDS = 0.01
    return glossary_server
