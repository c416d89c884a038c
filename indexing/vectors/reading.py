"""What the exact scan reads from the database. Raw cursors: 100,000 rows are read at once.

Each function is one statement, so each sees one state of the database, also outside of
a transaction; `state` tells whether two of them saw the same one.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import Sum

from indexing.models import IndexedDocument
from indexing.vectors.packing import fits, unpack_rows

BLOCK_ROWS = 8192
# As many as both databases take in a list with ease.
DOCUMENTS_AT_ONCE = 500

_STATE = """
    SELECT (SELECT generation FROM indexing_projectindex WHERE project_id = %s),
           (SELECT COUNT(*) FROM indexing_indexeddocument WHERE project_id = %s)
"""
_VECTORS = """
    SELECT section.id, section.document_id, v.vector
    FROM indexing_section section
    JOIN indexing_sectionvector v ON v.section_id = section.id AND v.embedder = %s
    WHERE section.project_id = %s
"""


@dataclass(frozen=True)
class State:
    """Of a project's index, as the connection sees it. Every change but a deletion raises the
    generation; a deletion lowers the number of documents."""

    generation: int
    documents: int


@dataclass(frozen=True)
class Block:
    """Some sections with their vectors, a row each."""

    section_ids: np.ndarray
    document_ids: np.ndarray
    vectors: np.ndarray


def state(project_id: int) -> State:
    with connection.cursor() as cursor:
        cursor.execute(_STATE, [project_id, project_id])
        generation, documents = cursor.fetchone()
    return State(generation or 0, documents)


def section_count(project_id: int) -> int:
    rows = IndexedDocument.objects.filter(project_id=project_id)
    return rows.aggregate(total=Sum("section_count"))["total"] or 0


def documents_since(project_id: int, generation: int) -> list[int]:
    """Those that changed after a generation."""
    rows = IndexedDocument.objects.filter(project_id=project_id, generation__gt=generation)
    return list(rows.values_list("document_id", flat=True))


def blocks(
    project_id: int, embedder: str, dimensions: int, documents: Iterable[int] | None = None
) -> Iterator[Block]:
    """The vectors of a project, or of some of its documents, a block at a time."""
    if documents is None:
        yield from _read(_VECTORS, [embedder, project_id], dimensions)
        return
    wanted = list(documents)
    for start in range(0, len(wanted), DOCUMENTS_AT_ONCE):
        some = wanted[start : start + DOCUMENTS_AT_ONCE]
        places = ", ".join(["%s"] * len(some))
        statement = f"{_VECTORS} AND section.document_id IN ({places})"
        yield from _read(statement, [embedder, project_id, *some], dimensions)


def _read(statement: str, values: list[Any], dimensions: int) -> Iterator[Block]:
    # The kind of cursor that holds no more than a block in memory, on PostgreSQL too.
    with connection.chunked_cursor() as cursor:
        cursor.execute(statement, values)
        while rows := cursor.fetchmany(BLOCK_ROWS):
            if block := _block(rows, dimensions):
                yield block


def _block(rows: Sequence[tuple[int, int, Any]], dimensions: int) -> Block | None:
    # A vector of another length cannot be compared; it must not break the search either.
    rows = [row for row in rows if fits(row[2], dimensions)]
    if not rows:
        return None
    section_ids, document_ids, packed = zip(*rows, strict=True)
    return Block(
        np.array(section_ids, dtype=np.int64),
        np.array(document_ids, dtype=np.int64),
        unpack_rows(packed, dimensions),
    )
