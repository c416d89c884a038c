import pytest

from collection.models import Repository
from tests.collection.factories import make_repository
from tests.collection.made import MemoryOrigin


@pytest.fixture
def origin() -> MemoryOrigin:
    return MemoryOrigin()


@pytest.fixture
def repository(project) -> Repository:
    return make_repository(project, "handbook", document_patterns=["docs/**/*.md"])
