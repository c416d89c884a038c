import pytest
from asgiref.sync import sync_to_async
from django.db import connections

from glossary_site.live.hub import hub


@pytest.fixture
async def committed(transactional_db):
    """For requests under ASGI, which run in threads with connections of their own: what a test
    writes is committed, and those connections are closed after it."""
    yield
    await hub().read(connections.close_all)
    await sync_to_async(connections.close_all)()
