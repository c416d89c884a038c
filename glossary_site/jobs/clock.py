"""Whose clock decides: the database's, because workers on several hosts disagree by seconds.

On SQLite there is one machine, whose clock is at hand without asking.
"""

from datetime import datetime, timedelta
from functools import cache

from django.db import connection
from django.db.models import DateTimeField, Func
from django.utils import timezone


class DatabaseTime(Func):
    """So many seconds from the statement it is part of."""

    output_field = DateTimeField()

    def __init__(self, seconds: float) -> None:
        # A number of our own, never a person's: it becomes a part of the statement.
        self.sql = f"(STATEMENT_TIMESTAMP() + INTERVAL '{float(seconds)} seconds')"
        super().__init__(template=self.sql)


Moment = datetime | DatabaseTime


def now() -> Moment:
    return after(0)


def after(seconds: float) -> Moment:
    if _here():
        return timezone.now() + timedelta(seconds=seconds)
    return _database_time(seconds)


@cache
def _here() -> bool:
    # Kept: every job asks several times, and Django looks the connection up each time.
    return connection.vendor == "sqlite"


# The same few again and again, and to make one takes its time.
_database_time = cache(DatabaseTime)


def read() -> datetime:
    """The database's time as a value, for arithmetic on rows already read."""
    if _here():
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT STATEMENT_TIMESTAMP()")
        moment: datetime = cursor.fetchone()[0]
    return moment
