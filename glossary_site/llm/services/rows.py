"""Writing many requests of the queue at once, by the owner of their process."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.utils import timezone

from glossary_site.llm.choices import JobStatus
from glossary_site.llm.models import LLMJob

# By hand: the ORM would spend more time on the statement than the database does.
UPDATE = """
    UPDATE llm_llmjob
    SET status = %s, response_json = %s, error_message = %s, updated_at = %s
    WHERE id = %s
"""


@dataclass(frozen=True)
class Row:
    """What becomes of one request: the columns that go with a status, and no others."""

    id: UUID
    status: JobStatus
    response: str | None = None
    error: str | None = None


def write(rows: Iterable[Row]) -> None:
    key = LLMJob._meta.pk
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    values = [
        (row.status.value, row.response, row.error, now, key.get_db_prep_value(row.id, connection))
        for row in rows
    ]
    if values:
        with connection.cursor() as cursor:
            cursor.executemany(UPDATE, values)
