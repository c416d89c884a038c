"""Vectors in the database: one for each section and embedder, and the quick ways in and out.

They are kept in `SectionVector`, as 16-bit floats: half the room, and what is lost is far below
what tells two texts apart. Where the server has pgvector they are kept there too (pgvector.py).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
from django.db import connection, transaction

from indexing.models import Section, SectionVector
from indexing.vectors import pgvector
from indexing.vectors.packing import pack

WRITE_ROWS = 1000
REMOVE_DOCUMENTS = 200

# A section that is gone gets no vector: what is embedded afterwards may come too late. The rows
# are locked, or one could go before the transaction ends.
_INSERT_MANY = """
    INSERT INTO indexing_sectionvector (section_id, embedder, vector)
    SELECT section.id, %s, given.vector
    FROM unnest(%s::bigint[], %s::bytea[]) AS given (section_id, vector)
    JOIN indexing_section section ON section.id = given.section_id AND section.project_id = %s
    FOR KEY SHARE OF section
    ON CONFLICT (section_id, embedder) DO UPDATE SET vector = excluded.vector
"""
_INSERT_ONE = """
    INSERT INTO indexing_sectionvector (section_id, embedder, vector)
    SELECT %s, %s, %s
    WHERE EXISTS (SELECT 1 FROM indexing_section WHERE id = %s AND project_id = %s)
    ON CONFLICT (section_id, embedder) DO UPDATE SET vector = excluded.vector
"""


def write(rows: Iterable[tuple[int, np.ndarray | bytes]], *, embedder: str, project_id: int) -> int:
    """Keep the vectors of sections, new or instead of older ones; packed ones as they are.

    All or none, in the caller's transaction if there is one. Says how many were written: those of
    sections that are gone are left out. Searches see them when the generation of their documents
    rises.
    """
    written = 0
    with transaction.atomic():
        for batch in _batches(rows):
            packed = [
                (section_id, vector if isinstance(vector, bytes) else pack(vector))
                for section_id, vector in batch
            ]
            written += _insert(packed, embedder, project_id)
            pgvector.mirror(packed, embedder=embedder, project_id=project_id)
    return written


def _batches(
    rows: Iterable[tuple[int, np.ndarray | bytes]],
) -> Iterator[Sequence[tuple[int, np.ndarray | bytes]]]:
    iterator = iter(rows)
    while batch := list(islice(iterator, WRITE_ROWS)):
        yield batch


def _insert(rows: Sequence[tuple[int, bytes]], embedder: str, project_id: int) -> int:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # The same section twice in one statement would be refused; the last one counts.
            last = dict(rows)
            cursor.execute(_INSERT_MANY, [embedder, list(last), list(last.values()), project_id])
        else:
            cursor.executemany(
                _INSERT_ONE,
                [
                    (section_id, embedder, vector, section_id, project_id)
                    for section_id, vector in rows
                ],
            )
        return int(cursor.rowcount)


def vectors_by_text(*, document_id: int, embedder: str) -> dict[str, bytes]:
    """The packed vectors that a document has, by the hash of the text they stand for: whoever
    replaces its sections need not embed the same text again."""
    rows = SectionVector.objects.filter(section__document_id=document_id, embedder=embedder)
    return {
        text_hash: bytes(vector)
        for text_hash, vector in rows.values_list("section__text_hash", "vector")
    }


def remove_other_vectors(*, project_id: int, keep: Collection[str]) -> int:
    """Remove the vectors of all embedders but these, in transactions so short that nobody waits.
    Says how many there were."""
    removed = 0
    after = 0
    while documents := list(
        Section.objects.filter(project_id=project_id, document_id__gt=after)
        .order_by("document_id")
        .values_list("document_id", flat=True)
        .distinct()[:REMOVE_DOCUMENTS]
    ):
        with transaction.atomic():
            others = SectionVector.objects.filter(section__document_id__in=documents)
            removed += others.exclude(embedder__in=keep).delete()[0]
        after = documents[-1]
    return removed
