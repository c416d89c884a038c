"""People at their pages, and assistants that read in a thread."""

import pytest
from asgiref.sync import sync_to_async
from django.db import connections


@pytest.fixture
def reading(sign_in, viewer):
    return sign_in(viewer)


@pytest.fixture
def editing(sign_in, editor):
    return sign_in(editor)


@pytest.fixture
def owning(sign_in, owner):
    return sign_in(owner)


@pytest.fixture
async def threads_close(transactional_db):
    """The server for assistants reads in a thread with a connection of its own."""
    yield
    await sync_to_async(connections.close_all)()
