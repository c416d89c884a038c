import pytest

from indexing.vectors import pgvector
from indexing.vectors.cache import cache


@pytest.fixture(autouse=True)
def nothing_at_hand():
    """What an earlier test left in this process: SQLite gives its numbers again."""
    cache.clear()
    pgvector.server.look_again()
    yield
    cache.clear()
    pgvector.server.look_again()
