import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from rest_framework.test import APIClient

from glossary_site.live.hub import hub
from glossary_site.people.services import create_token


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


@pytest.fixture
async def committed(transactional_db):
    """For requests under ASGI, which run in threads with connections of their own: what a test
    writes is committed, and those connections are closed after it."""
    yield
    await hub().read(connections.close_all)
    await sync_to_async(connections.close_all)()
