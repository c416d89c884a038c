"""The moment in which a document's new sections take the place of the old: one transaction.

A search sees the one version or the other, never both and never none.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from django.db import connection, transaction
from django.utils import timezone

from indexing.models import IndexedDocument, ProjectIndex, Section
from indexing.services.building import Built
from indexing.services.deleting import delete_sections
from indexing.services.holding import hold
from indexing.services.inserting import Row, insert, rows_of
from indexing.services.requests import complete_all, tell
from indexing.vectors.store import write

# One statement on both databases, as the numbers of the live feed. The row stays locked to the end
# of the transaction: generations become visible in order.
NEXT_GENERATION = """
    INSERT INTO indexing_projectindex (project_id, generation, chosen_embedder, serving_embedder)
    VALUES (%s, 1, '', %s)
    ON CONFLICT (project_id) DO UPDATE SET
        generation = indexing_projectindex.generation + 1,
        serving_embedder = CASE indexing_projectindex.serving_embedder
            WHEN '' THEN excluded.serving_embedder ELSE indexing_projectindex.serving_embedder END
    RETURNING generation
"""


@transaction.atomic
def replace_all(builds: Sequence[Built], *, serving: str) -> list[Built]:
    """Write these documents of one project; those whose request was taken away meanwhile are left
    out. `serving` is the key of the embedder that serves from now on, if none does yet."""
    if not builds:
        return []
    hold(builds[0].project_id, [built.claim.document_id for built in builds])
    held = set(complete_all([built.claim for built in builds]))
    kept = _newer([built for built in builds if built.claim in held])
    if not kept:
        return []
    delete_sections(
        Section.objects.filter(document__in=[built.claim.document_id for built in kept])
    )
    ids = _new_ids(sum(len(built.drafts) for built in kept))
    now = timezone.now()
    sections: list[Row] = []
    vectors: dict[str, list[tuple[int, bytes]]] = {}
    for built in kept:
        mine = list(islice(ids, len(built.drafts)))
        sections.extend(rows_of(built, mine, now))
        for embedder, by_text in built.vectors.items():
            vectors.setdefault(embedder, []).extend(
                (pk, by_text[draft.text_hash])
                for pk, draft in zip(mine, built.drafts, strict=True)
                if draft.text_hash in by_text
            )
    insert(sections)
    for embedder, rows in vectors.items():
        write(rows, embedder=embedder, project_id=kept[0].project_id)
    generation = next_generation(kept[0].project_id, serving=serving)
    IndexedDocument.objects.bulk_create(
        [_indexed(built, generation) for built in kept],
        update_conflicts=True,
        unique_fields=["document"],
        update_fields=[
            "document_hash",
            "document_version",
            "section_count",
            "token_count",
            "generation",
            "indexed_at",
        ],
    )
    tell(kept[0].project_id, [built.claim.document_id for built in kept])
    return kept


def next_generation(project_id: int, *, serving: str = "") -> int:
    """Call it late in a transaction: it locks the project's index."""
    with connection.cursor() as cursor:
        cursor.execute(NEXT_GENERATION, [project_id, serving])
        generation: int = cursor.fetchone()[0]
    return generation


def project_index(project_id: int) -> ProjectIndex:
    return ProjectIndex.objects.get_or_create(project_id=project_id)[0]


def _newer(builds: Sequence[Built]) -> list[Built]:
    """The claim keeps others away; this keeps an older text from following a newer one."""
    there = IndexedDocument.objects.filter(pk__in=[built.claim.document_id for built in builds])
    versions = dict(there.values_list("pk", "document_version"))
    return [
        built
        for built in builds
        if versions.get(built.claim.document_id, 0) <= built.claim.document_version
    ]


def _indexed(built: Built, generation: int) -> IndexedDocument:
    return IndexedDocument(
        document_id=built.claim.document_id,
        project_id=built.project_id,
        document_hash=built.claim.document_hash,
        document_version=built.claim.document_version,
        section_count=len(built.drafts),
        token_count=sum(draft.piece.token_count for draft in built.drafts),
        generation=generation,
        indexed_at=timezone.now(),
    )


def _new_ids(count: int) -> Iterator[int]:
    """Numbers for rows before they are there, so that children can name their parents. Never one
    that was used before: readers know sections by their number."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence('indexing_section', 'id'))"
                " FROM generate_series(1, %s)",
                [count],
            )
            return iter([row[0] for row in cursor.fetchall()])
        # Nobody else writes now. AUTOINCREMENT remembers the highest number ever given.
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = 'indexing_section'")
        row = cursor.fetchone()
        first = (row[0] if row else 0) + 1
        return iter(range(first, first + count))
