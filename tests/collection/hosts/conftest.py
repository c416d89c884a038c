import pytest

from collection.choices import Kind
from collection.models import Repository
from collection.origins.github import GitHubOrigin
from collection.origins.gitlab import GitLabOrigin
from collection.origins.hosts import http
from glossary_site.outbound.allowed import parse_allowed
from glossary_site.secrets import encrypt
from tests.collection.hosts.git import GitRepository
from tests.collection.hosts.server import github_server, gitlab_server

SERVERS = {Kind.GITLAB: gitlab_server, Kind.GITHUB: github_server}
ORIGINS = {Kind.GITLAB: GitLabOrigin, Kind.GITHUB: GitHubOrigin}
TOKEN = "glpat-MARKER-0123456789"


@pytest.fixture(autouse=True)
def loopback_is_open(settings):
    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["127.0.0.1"])


@pytest.fixture(autouse=True)
def no_backoff(monkeypatch):
    monkeypatch.setattr(http, "BACKOFF", 0.01)


@pytest.fixture
def repository(tmp_path) -> GitRepository:
    return GitRepository.create(tmp_path / "repository")


@pytest.fixture
def opened():
    """An origin of the given kind; nothing of it is in the database."""
    made = []

    def make(kind, address, *, token="", stopped=lambda: False):
        row = Repository(kind=kind, address=str(address), secret=encrypt(token) if token else "")
        origin = ORIGINS[kind](row, stopped=stopped)
        made.append(origin)
        return origin

    yield make
    for origin in made:
        origin.close()


@pytest.fixture(params=[Kind.GITLAB, Kind.GITHUB], ids=str)
def kind(request):
    return request.param


@pytest.fixture
def url(kind, repository):
    """Where a server has the repository for whoever shows the token."""
    with SERVERS[kind](repository, token=TOKEN) as url:
        yield url


@pytest.fixture
def server(url):
    return url.server


@pytest.fixture
def origin(kind, url, opened):
    return opened(kind, url, token=TOKEN)
