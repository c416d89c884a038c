"""Vectors in PostgreSQL's own index, where the server has the pgvector extension.

`SectionVector` stays the truth; the table `indexing_pgvector` holds the same vectors in the type
that can be indexed (pgvector_schema.py makes both). An index stands for one embedder, because it
has to know the number of dimensions; that it is there is the sign that every vector is in the
table. A new row is not in the index at once, because putting it there takes many times as long as
writing it: it is scanned until `ensure` has done that.

Without the extension, or where anything about it is not as it should be, nothing here happens and
the exact scan answers. It does for small projects too: it is quicker there, and exact.
"""

import hashlib
import logging
import time
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import DatabaseError, connection, transaction

from glossary_site.lazily import Lazily
from indexing.vectors import reading
from indexing.vectors.cache import Newer
from indexing.vectors.packing import PACKED, unpack_rows

if TYPE_CHECKING:
    from psycopg import sql
else:
    sql = Lazily("psycopg.sql")

logger = logging.getLogger(__name__)

# A project with fewer sections is scanned.
FEWEST_ROWS = 20_000
# More cannot be indexed.
MOST_DIMENSIONS = 4000
# How many neighbours a search keeps in mind; more find more, and take longer.
EF_SEARCH = 200
MOST_EF_SEARCH = 1000
# How long a process believes what it saw of the server.
LOOK_AGAIN_SECONDS = 60.0
INDEX_PREFIX = "indexing_pgvector_near_"

_HAS_TABLE = """
    SELECT EXISTS (
        SELECT 1 FROM pg_attribute
        WHERE attrelid = to_regclass('indexing_pgvector')
          -- which goes with the extension, when somebody drops that
          AND attname = 'embedding' AND NOT attisdropped
    )
"""
_INDEXES = """
    SELECT class.relname
    FROM pg_index i JOIN pg_class class ON class.oid = i.indexrelid
    WHERE i.indrelid = to_regclass('indexing_pgvector') AND i.indisvalid
"""
# One statement, so that what it finds is of the generation that it names.
_NEAR = """
    WITH settled AS MATERIALIZED (
        SELECT section_id, {distance} AS distance FROM indexing_pgvector
        WHERE {ours} AND settled AND {within}
        ORDER BY {order} LIMIT {limit}
    ), recent AS MATERIALIZED (
        SELECT section_id, {distance} AS distance FROM indexing_pgvector
        WHERE {ours} AND NOT settled AND {within}
        ORDER BY ({distance}) + 0 LIMIT {limit}
    )
    SELECT (SELECT generation FROM indexing_projectindex WHERE project_id = {project}),
           found.section_id, found.distance, found.part
    FROM (VALUES (1)) AS always (there) LEFT JOIN (
        SELECT section_id, distance, {settled} AS part FROM settled
        UNION ALL
        SELECT section_id, distance, {recent} FROM recent
        UNION ALL
        SELECT section_id, {distance}, {asked} FROM indexing_pgvector
        WHERE {ours} AND section_id = ANY ({also})
    ) AS found ON TRUE
"""
SETTLED, RECENT, ASKED = range(3)


class Server:
    """What this process has seen of the server."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._looked_at: float | None = None
        self._indexes: frozenset[str] = frozenset()
        self._large: dict[int, bool] = {}

    def serves(self, *, project_id: int, embedder: str, dimensions: int) -> bool:
        """Whether the project's neighbours are better looked for there."""
        if connection.vendor != "postgresql":
            return False
        with self._lock:
            now = time.monotonic()
            if self._looked_at is None or now - self._looked_at > LOOK_AGAIN_SECONDS:
                self._indexes = frozenset(_indexes())
                self._large = {}
                self._looked_at = now
            if index_name(embedder, dimensions) not in self._indexes:
                return False
            if project_id not in self._large:
                # Many that are not in the index yet are scanned more quickly in memory.
                sections, recent = reading.section_count(project_id), _recent(project_id)
                self._large[project_id] = sections >= FEWEST_ROWS and recent < FEWEST_ROWS
            return self._large[project_id]

    def distrust(self) -> None:
        """It did not do what it should: leave it alone until it is time to look again."""
        with self._lock:
            self._indexes = frozenset()

    def look_again(self) -> None:
        with self._lock:
            self._looked_at = None


server = Server()


def index_name(embedder: str, dimensions: int) -> str:
    digest = hashlib.sha256(f"{embedder} {dimensions}".encode()).hexdigest()
    return f"{INDEX_PREFIX}{digest[:16]}"


def has_table() -> bool:
    """Asked of the database each time: a writer that believes what it saw a minute ago would
    leave vectors out."""
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute(_HAS_TABLE)
        return bool(cursor.fetchone()[0])


def mirror(rows: Sequence[tuple[int, bytes]], *, embedder: str, project_id: int) -> None:
    """Write there too what has just been written to SectionVector, in the same transaction.

    Just been: `ensure` waits for transactions that wrote without having seen the table.
    """
    if not rows or not has_table():
        return
    vectors = dict(rows)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT section_id, project_id, document_id FROM indexing_sectionvector v"
            " JOIN indexing_section section ON section.id = v.section_id"
            " WHERE v.embedder = %s AND section.project_id = %s AND v.section_id = ANY (%s)",
            [embedder, project_id, list(vectors)],
        )
        places = cursor.fetchall()
        cursor.execute(
            "DELETE FROM indexing_pgvector WHERE embedder = %s AND section_id = ANY (%s)",
            [embedder, list(vectors)],
        )
    copy_in([(*place, vectors[place[0]]) for place in places], embedder=embedder)


def copy_in(rows: Sequence[tuple[int, int, int, bytes]], *, embedder: str) -> None:
    """Section, project, document, vector. In PostgreSQL's binary form, made in one go: as text,
    each number of each vector would be written out and parsed."""
    by_length: dict[int, list[tuple[int, int, int, bytes]]] = {}
    for row in rows:
        by_length.setdefault(len(row[3]) // PACKED.itemsize, []).append(row)
    for dimensions, group in by_length.items():
        if 0 < dimensions <= MOST_DIMENSIONS:
            _copy(_binary_rows(group, dimensions, embedder.encode()))


def _binary_rows(
    rows: Sequence[tuple[int, int, int, bytes]], dimensions: int, embedder: bytes
) -> bytes:
    layout: list[Any] = [("fields", ">i2")]
    # Before each field its length in bytes.
    for name, kind in (
        ("section", ">i8"),
        ("embedder", f"S{len(embedder)}"),
        ("project", ">i8"),
        ("document", ">i8"),
        ("dimensions", ">i4"),
    ):
        layout += [(f"{name}_length", ">i4"), (name, kind)]
    # A vector begins with the number of its dimensions, and with two bytes for later.
    layout += [("vector_length", ">i4"), ("vector_head", ">i2"), ("unused", ">i2")]
    layout += [("vector", ">f2", (dimensions,))]
    table = np.zeros(len(rows), dtype=layout)
    sections, projects, documents, packed = zip(*rows, strict=True)
    table["fields"] = 6
    table["section_length"] = table["project_length"] = table["document_length"] = 8
    table["section"], table["project"], table["document"] = sections, projects, documents
    table["embedder_length"], table["embedder"] = len(embedder), embedder
    table["dimensions_length"], table["dimensions"] = 4, dimensions
    table["vector_length"], table["vector_head"] = 4 + 2 * dimensions, dimensions
    # The type knows no such thing as "not a number".
    table["vector"] = np.nan_to_num(unpack_rows(packed, dimensions), posinf=0, neginf=0)
    return table.tobytes()


def _copy(rows: bytes) -> None:
    beginning = b"PGCOPY\n\xff\r\n\0" + bytes(8)
    end = b"\xff\xff"
    statement = (
        "COPY indexing_pgvector"
        " (section_id, embedder, project_id, document_id, dimensions, embedding)"
        " FROM STDIN (FORMAT BINARY)"
    )
    with (
        connection.cursor() as cursor,
        # Django does not know `copy`, and would not make its own errors of those in it.
        connection.wrap_database_errors,
        cursor.copy(statement) as copy,
    ):
        copy.write(beginning + rows + end)


def near(
    query: np.ndarray,
    *,
    project_id: int,
    embedder: str,
    generation: int,
    documents: np.ndarray | None,
    limit: int,
    also: np.ndarray,
) -> dict[int, float] | None:
    """As search.near; None where the exact scan has to answer."""
    dimensions = len(query)
    if not server.serves(project_id=project_id, embedder=embedder, dimensions=dimensions):
        return None
    vector = sql.SQL("{}::halfvec({})").format(
        sql.Literal("[" + ",".join(f"{number:.6g}" for number in query.tolist()) + "]"),
        sql.SQL(str(dimensions)),
    )
    distance = sql.SQL("embedding::halfvec({}) <=> {}").format(sql.SQL(str(dimensions)), vector)
    parts: dict[str, sql.Composable] = {
        "distance": distance,
        "order": distance,
        # In the words of the index, or it is not used.
        "ours": sql.SQL("{} AND project_id = {}").format(
            sql.SQL(condition(embedder, dimensions)), sql.Literal(project_id)
        ),
        "within": sql.SQL("TRUE")
        if documents is None
        else sql.SQL("document_id = ANY ({})").format(sql.Literal(documents.tolist())),
        "limit": sql.Literal(max(limit, 0)),
        "project": sql.Literal(project_id),
        "also": sql.Literal(also.tolist()),
        "settled": sql.Literal(SETTLED),
        "recent": sql.Literal(RECENT),
        "asked": sql.Literal(ASKED),
    }
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', TRUE),"
                " set_config('hnsw.ef_search', %s, TRUE)",
                [str(min(max(EF_SEARCH, limit), MOST_EF_SEARCH))],
            )
            rows = _fetch(cursor, parts)
            if sum(1 for row in rows if row[3] == SETTLED) < limit:
                # A filter dropped nearly everything that is near, and the search gave up; or there
                # are no more. Ordered by something that the index does not know, all are seen.
                parts["order"] = sql.SQL("({}) + 0").format(distance)
                rows = _fetch(cursor, parts)
    except DatabaseError:
        logger.warning("pgvector failed; scanning instead", exc_info=True)
        server.distrust()
        return None
    if (rows[0][0] or 0) > generation:
        raise Newer
    return _answer([row[1:] for row in rows if row[1] is not None], limit)


def _answer(rows: list[tuple[int, float, int]], limit: int) -> dict[int, float]:
    # Nothing has no angle to anything: PostgreSQL says that it is not a number.
    cosines = [(0.0 if np.isnan(gap) else 1.0 - gap, section, part) for section, gap, part in rows]
    cosines.sort(key=lambda row: (-row[0], row[1]))
    nearest = [(section, cosine) for cosine, section, part in cosines if part != ASKED][:limit]
    answer = dict(nearest)
    for cosine, section, part in cosines:
        if part == ASKED:
            answer.setdefault(section, cosine)
    return answer


def _fetch(cursor: Any, parts: "dict[str, sql.Composable]") -> list[Any]:
    cursor.execute(sql.SQL(_NEAR).format(**parts))
    rows: list[Any] = cursor.fetchall()
    return rows


def condition(embedder: str, dimensions: int) -> str:
    """Which rows are those of an embedder: also when one changed its length under its old key."""
    quoted = embedder.replace("'", "''")
    return f"embedder = '{quoted}' AND dimensions = {dimensions}"


def _indexes() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(_INDEXES)
        return [name for (name,) in cursor.fetchall()]


def _recent(project_id: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT COUNT(*) FROM indexing_pgvector WHERE project_id = %s AND NOT settled",
            [project_id],
        )
        return int(cursor.fetchone()[0])
