"""How near a row comes to what was searched for: a search leaves it with the rows, and lists begin
with the nearest unless somebody asks for another order."""

from typing import Any

from django.db.models import QuerySet

NEARNESS = "nearness"


def nearest_first(rows: QuerySet[Any]) -> list[str]:
    """What such a list is sorted by before all else; nothing where nobody searched."""
    return [NEARNESS] if NEARNESS in rows.query.annotations else []
