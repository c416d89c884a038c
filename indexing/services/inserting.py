"""Rows of sections, straight into the table.

There are many of them and they have much in them: to make an object of each and a value for every
placeholder of a long statement took longer than what the database does.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db import connection

from indexing.services.building import Built

COLUMNS = (
    "id",
    "project_id",
    "document_id",
    "parent_id",
    '"order"',
    "depth",
    "number",
    "part",
    "heading",
    "heading_path",
    "line_start",
    "line_end",
    "content",
    "token_count",
    "document_hash",
    "text_hash",
    "heading_words",
    "words",
    "created_at",
)
_COPY = f"COPY indexing_section ({', '.join(COLUMNS)}) FROM STDIN"
_INSERT = (
    f"INSERT INTO indexing_section ({', '.join(COLUMNS)})"  # noqa: S608 (names of ours only)
    f" VALUES ({', '.join(['%s'] * len(COLUMNS))})"
)

Row = tuple[int | str | datetime | None, ...]


def rows_of(built: Built, ids: list[int], now: datetime) -> Iterator[Row]:
    """In the order of the columns. `ids` are the numbers of its sections, in their order."""
    created_at = connection.ops.adapt_datetimefield_value(now)
    claim = built.claim
    for pk, draft in zip(ids, built.drafts, strict=True):
        piece = draft.piece
        yield (
            pk,
            built.project_id,
            claim.document_id,
            None if piece.parent is None else ids[piece.parent],
            piece.order,
            piece.depth,
            piece.number,
            piece.part,
            piece.heading,
            json.dumps(piece.heading_path),
            piece.line_start,
            piece.line_end,
            piece.content,
            piece.token_count,
            claim.document_hash,
            draft.text_hash,
            draft.heading_words,
            draft.words,
            created_at,
        )


def insert(rows: Sequence[Row]) -> None:
    """One statement on PostgreSQL, whose triggers enter the words of all its rows at once."""
    with connection.cursor() as cursor:
        if connection.vendor != "postgresql":
            cursor.executemany(_INSERT, rows)
            return
        # Django does not know `copy`, and would not make its own errors of those in it.
        with connection.wrap_database_errors, cursor.copy(_COPY) as copy:
            for row in rows:
                copy.write_row(row)
