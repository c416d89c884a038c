import pytest

from tests.collection.factories import make_repository
from tests.collection.made import MemoryOrigin
from tests.collection.working import answering


@pytest.fixture(autouse=True)
def at_once(settings):
    settings.COLLECTION_BACKOFF_SECONDS = 0.01


@pytest.fixture
def origins():
    """Who answers for which repository."""
    found: dict[int, MemoryOrigin] = {}
    with answering(found):
        yield found


@pytest.fixture
def made(project, origins):
    """Makes a repository with some commits."""

    def make(name="", *, commits=3, branch="main", **fields):
        repository = make_repository(project, name, default_branch="", state="new", **fields)
        origin = origins[repository.pk] = MemoryOrigin(branch)
        for number in range(commits):
            origin.commit({"a.md": f"text {number}\n"})
        return repository, origin

    return make
