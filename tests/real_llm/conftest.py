"""These tests run only when they are asked for by their path, as `make test-real-llm` does."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from glossary_site.llm.providers import ProviderConfig, from_environment
from tests.real_llm import peers

HERE = Path(__file__).parent


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    asked = (Path(argument.partition("::")[0]).resolve() for argument in config.args)
    return None if any(path.is_relative_to(HERE) for path in asked) else True


@pytest.fixture(scope="session")
def small_model() -> Iterator[str]:
    try:
        with peers.small_model() as address:
            yield f"{address}/v1"
    except peers.Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def aimock_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[peers.Aimock]:
    try:
        with peers.aimock(tmp_path_factory.mktemp("aimock")) as server:
            yield server
    except peers.Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture
def aimock(aimock_server: peers.Aimock) -> Iterator[peers.Aimock]:
    """Healthy at the beginning of each test."""
    aimock_server.heal()
    aimock_server.forget()
    yield aimock_server
    aimock_server.heal()


@pytest.fixture
def site_uses(settings):
    """Makes a server the site's provider, as the operator's environment would."""

    def use(base_url: str, **options) -> ProviderConfig:
        settings.LLM = {**settings.LLM, "base_url": base_url, "model": "small", **options}
        settings.LLM_BACKOFF_SECONDS = settings.LLM_BATCH_POLL_SECONDS = 0.01
        return from_environment()

    return use
