"""Statements of a search that are written out: putting one together takes the ORM several times as
long as the database needs to answer it."""

from collections.abc import Iterable
from typing import Any

from django.db import connection


def rows_of(select: str, ids: Iterable[int]) -> list[tuple[Any, ...]]:
    """`select` has {ids} where the numbers come."""
    wanted = list(ids)
    if not wanted:
        return []
    places = ", ".join(["%s"] * len(wanted))
    with connection.cursor() as cursor:
        cursor.execute(select.format(ids=f"({places})"), wanted)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
