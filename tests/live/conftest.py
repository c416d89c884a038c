import pytest
from asgiref.sync import sync_to_async
from django.db import connections


@pytest.fixture(autouse=True)
async def no_connection_left_in_threads():
    """Django's helper thread outlives the test; its connection would keep the database busy."""
    yield
    await sync_to_async(connections.close_all)()
