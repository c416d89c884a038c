import pytest

from tests.collection.factories import make_branch, make_repository


@pytest.fixture
def repository(project):
    return make_repository(project, "harbour")


@pytest.fixture
def main(repository):
    return make_branch(repository, "main")


@pytest.fixture
def reading(sign_in, viewer):
    return sign_in(viewer)


@pytest.fixture
def editing(sign_in, editor):
    return sign_in(editor)
