"""Statements that every task needs, which PostgreSQL parses and plans once for a connection.

Django sends each statement as a new text with its values inside, and for a small one PostgreSQL
takes longer to understand it than to run it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.db import DEFAULT_DB_ALIAS, connections

from glossary_site.lazily import Lazily

if TYPE_CHECKING:
    import psycopg
else:
    psycopg = Lazily("psycopg")


def execute(sql: str, values: Sequence[Any], *, using: str = DEFAULT_DB_ALIAS) -> Any:
    """A cursor with the statement's answer. Values go as they are: no field has adapted them."""
    connection = connections[using]
    if connection.vendor == "postgresql":
        connection.ensure_connection()
        server = connection.connection
        if server.prepare_threshold is None:
            # At first sight. It concerns cursors of this sort only: Django's send no values apart.
            server.prepare_threshold = 0
        plain: Any = psycopg.Cursor(server)
        cursor = connection.make_cursor(plain)
    else:
        cursor = connection.cursor()
    cursor.execute(sql, values)
    return cursor
