"""The tables and triggers of the lexical index: what the database keeps in step by itself.

Not models: Django knows nothing of them, and no code of ours writes to them.
"""

from types import ModuleType

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from indexing.lexical import postgres_schema, sqlite_schema


def create(connection: BaseDatabaseWrapper) -> None:
    """Make what is missing, and put in the sections that are there already."""
    with transaction.atomic(using=connection.alias):
        _of(connection).create(connection)
        _of(connection).fill(connection)


def drop(connection: BaseDatabaseWrapper) -> None:
    with transaction.atomic(using=connection.alias):
        _of(connection).drop(connection)


def rebuild(connection: BaseDatabaseWrapper) -> None:
    """From nothing, whatever was there. Meanwhile searches see the old index on SQLite, and wait
    on PostgreSQL."""
    with transaction.atomic(using=connection.alias):
        _of(connection).drop(connection)
        _of(connection).create(connection)
        _of(connection).fill(connection)


def is_in_step(connection: BaseDatabaseWrapper) -> bool:
    """Whether the triggers are there and the index has the sections that are, with their lengths.
    Reads all sections: for operators and after migrations, not for each search."""
    return bool(_of(connection).is_in_step(connection))


def ensure(connection: BaseDatabaseWrapper) -> None:
    """As it should be, whatever happened: after a migration that made the table of sections anew,
    SQLite has lost the triggers, and what was written meanwhile is not in the index."""
    if not is_in_step(connection):
        rebuild(connection)
        return
    with transaction.atomic(using=connection.alias):
        # The triggers may be those of an earlier version.
        _of(connection).create(connection)


def _of(connection: BaseDatabaseWrapper) -> ModuleType:
    return sqlite_schema if connection.vendor == "sqlite" else postgres_schema
