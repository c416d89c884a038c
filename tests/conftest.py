import gc

import pytest
from django.test import Client
from rest_framework.test import APIClient

from glossary_site.people.services import create_token
from indexing.lexical.keeping import keeper
from indexing.vectors import pgvector
from indexing.vectors.cache import cache
from projects.choices import Role
from projects.models import Project
from tests import factories


def pytest_collection_finish() -> None:
    """All that is loaded now stays: to look through it for garbage again and again takes long."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


@pytest.fixture(autouse=True)
def nothing_at_hand():
    """Vectors and words of the test before are of other projects that had the same numbers."""
    cache.clear()
    keeper.clear()
    pgvector.server.look_again()


@pytest.fixture
def owner(db):
    return factories.make_user("olive")


@pytest.fixture
def project(owner) -> Project:
    return factories.make_project("Harbour", owner=owner)


@pytest.fixture
def editor(project):
    return factories.make_member(project, Role.EDITOR, factories.make_user("edda"))


@pytest.fixture
def viewer(project):
    return factories.make_member(project, Role.VIEWER, factories.make_user("vera"))


@pytest.fixture
def outsider(db):
    return factories.make_user("otto")


@pytest.fixture
def superuser(db):
    return factories.make_superuser("root")


@pytest.fixture
def sign_in():
    """A browser-like client in which the given person has signed in."""

    def make(user) -> Client:
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return make


@pytest.fixture
def program():
    """A program with a token of the given person; it sends JSON unless told otherwise."""

    def make(user) -> APIClient:
        client = APIClient()
        client.default_format = "json"
        _token, secret = create_token(user=user, name="tests")
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
        return client

    return make


@pytest.fixture
def as_owner(program, owner) -> APIClient:
    return program(owner)


@pytest.fixture
def as_editor(program, editor) -> APIClient:
    return program(editor)


@pytest.fixture
def as_viewer(program, viewer) -> APIClient:
    return program(viewer)
