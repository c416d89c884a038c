import pytest

from collection.choices import Kind
from collection.models import Repository
from collection.origins.git.origin import GitOrigin
from tests.collection.git.building import Source, make_source


@pytest.fixture(autouse=True)
def own_folders(tmp_path, settings):
    settings.DATA_DIR = tmp_path / "data"
    settings.GIT_ROOTS = [tmp_path / "sources"]


@pytest.fixture
def source(tmp_path) -> Source:
    return make_source(tmp_path / "sources" / "one.git")


@pytest.fixture
def repository(source) -> Repository:
    return Repository(pk=1, kind=Kind.LOCAL, address=str(source.path))


@pytest.fixture
def origin(repository):
    with GitOrigin(repository) as opened:
        yield opened


@pytest.fixture
def brought(origin):
    """Bring everything that is there now; gives the head of a branch."""

    def bring(branch: str = "main") -> str:
        heads = origin.heads()
        origin.bring(heads.branches)
        return heads.branches[branch]

    return bring
