"""The table and the indexes of pgvector: made, filled and repaired by `ensure`, which can be called
at any time and as often as one likes. Not a migration, because the extension may come later."""

import logging
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import Any

from django.db import DatabaseError, connection, transaction

from indexing.vectors import pgvector
from indexing.vectors.pgvector import (
    FEWEST_ROWS,
    INDEX_PREFIX,
    MOST_DIMENSIONS,
    condition,
    copy_in,
    has_table,
    index_name,
)

logger = logging.getLogger(__name__)

# Filters need `hnsw.iterative_scan`, which came with this.
OLDEST_VERSION = (0, 8)
BACKFILL_ROWS = 5000
# A graph that does not fit in here is built many times slower.
BUILD_MEMORY = "512MB"
# The rows that are put into an index at a time, and how long one call goes on with it.
SETTLE_ROWS = 50
SETTLE_SECONDS = 60.0
# By which PostgreSQL knows our lock: any number, but always the same.
_LOCK = 440417

# What is removed from SectionVector goes here too. By triggers, not by a foreign key: Django
# empties tables in one statement (`flush`), which a key from a table it does not know forbids.
_TABLE = """
    CREATE TABLE IF NOT EXISTS indexing_pgvector (
        section_id bigint NOT NULL,
        embedder varchar(200) NOT NULL,
        project_id bigint NOT NULL,
        document_id bigint NOT NULL,
        dimensions integer NOT NULL,
        embedding halfvec NOT NULL,
        -- Whether it is in the index of its embedder, if there is one.
        settled boolean NOT NULL DEFAULT FALSE,
        PRIMARY KEY (section_id, embedder)
    );
    -- For searches within few documents, which need no neighbours.
    CREATE INDEX IF NOT EXISTS indexing_pgvector_document ON indexing_pgvector (document_id);
    -- For those that are scanned, and for settling them.
    CREATE INDEX IF NOT EXISTS indexing_pgvector_recent
        ON indexing_pgvector (project_id, embedder) WHERE NOT settled;

    CREATE OR REPLACE FUNCTION indexing_pgvector_follow() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF to_regclass('indexing_pgvector') IS NULL THEN
            RETURN NULL;
        ELSIF TG_OP = 'TRUNCATE' THEN
            TRUNCATE indexing_pgvector;
        ELSE
            DELETE FROM indexing_pgvector p USING gone
            WHERE p.section_id = gone.section_id AND p.embedder = gone.embedder;
        END IF;
        RETURN NULL;
    END $$;
    CREATE OR REPLACE TRIGGER indexing_pgvector_deleted
        AFTER DELETE ON indexing_sectionvector REFERENCING OLD TABLE AS gone
        FOR EACH STATEMENT EXECUTE FUNCTION indexing_pgvector_follow();
    CREATE OR REPLACE TRIGGER indexing_pgvector_truncated
        AFTER TRUNCATE ON indexing_sectionvector
        FOR EACH STATEMENT EXECUTE FUNCTION indexing_pgvector_follow();
"""
# Where the next so many rows end.
_BORDER = """
    SELECT MAX(id) FROM (
        SELECT id FROM indexing_sectionvector WHERE id > %s ORDER BY id LIMIT %s
    ) AS next_rows
"""
# Rows that somebody is writing or removing at this moment are theirs to take along.
_MISSING = """
    SELECT v.embedder, v.section_id, section.project_id, section.document_id, v.vector
    FROM indexing_sectionvector v
    JOIN indexing_section section ON section.id = v.section_id
    WHERE v.id > %s AND v.id <= %s AND octet_length(v.vector) BETWEEN 2 AND %s
      AND NOT EXISTS (
        SELECT 1 FROM indexing_pgvector p
        WHERE p.section_id = v.section_id AND p.embedder = v.embedder
    )
    ORDER BY v.embedder
    FOR SHARE OF v SKIP LOCKED
"""
# Whether any was passed by that its owner then left as it was.
_ANY_MISSING = """
    SELECT EXISTS (
        SELECT 1 FROM indexing_sectionvector v
        WHERE octet_length(v.vector) BETWEEN 2 AND %s AND NOT EXISTS (
            SELECT 1 FROM indexing_pgvector p
            WHERE p.section_id = v.section_id AND p.embedder = v.embedder
        )
    )
"""
_LARGEST = """
    SELECT embedder, dimensions, MAX(number)
    FROM (
        SELECT embedder, dimensions, COUNT(*) AS number
        FROM indexing_pgvector GROUP BY embedder, dimensions, project_id
    ) AS of_projects
    GROUP BY embedder, dimensions
"""
_SETTLE_ALL = "UPDATE indexing_pgvector SET settled = TRUE WHERE NOT settled AND {condition}"
_SETTLE = """
    UPDATE indexing_pgvector SET settled = TRUE
    WHERE (section_id, embedder) IN (
        SELECT section_id, embedder FROM indexing_pgvector
        WHERE NOT settled AND {condition} LIMIT {limit} FOR UPDATE SKIP LOCKED
    )
"""


def ensure() -> bool:
    """Have everything that pgvector needs, as far as the server has the extension and lets us.
    Whether it does; no fault of it is an error of the caller's."""
    if connection.vendor != "postgresql":
        return False
    try:
        if not _extension():
            return False
        with _alone() as alone:
            if alone:
                _make_table()
                filled, complete = _fill()
                recent = _recent()
                if complete:
                    _settle(_make_indexes(), until=time.monotonic() + SETTLE_SECONDS)
                if filled or _recent() != recent:
                    _analyze()
    except DatabaseError:
        logger.warning("pgvector could not be set up; searches scan", exc_info=True)
        return False
    finally:
        pgvector.server.look_again()
    return True


def _extension() -> bool:
    if (version := _version()) is None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
            if cursor.fetchone() is None:
                return False
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except DatabaseError as error:
            # Forbidden to us; or another process was quicker, which the next look shows.
            logger.info("pgvector is installed but could not be switched on: %s", error)
        version = _version()
    return version is not None and version >= OLDEST_VERSION


def _version() -> tuple[int, ...] | None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extversion FROM pg_extension"
            # In a schema that is not on our path its types have no names.
            " WHERE extname = 'vector' AND to_regtype('halfvec') IS NOT NULL"
        )
        row = cursor.fetchone()
    return tuple(int(part) for part in row[0].split(".")[:2]) if row else None


@contextmanager
def _alone() -> Iterator[bool]:
    """Whether nobody else is at it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [_LOCK])
        locked = bool(cursor.fetchone()[0])
        try:
            yield locked
        finally:
            if locked:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])


def _make_table() -> None:
    if has_table():
        return
    with transaction.atomic(), connection.cursor() as cursor:
        # One that lost its vectors with the extension is of no use.
        cursor.execute("DROP TABLE IF EXISTS indexing_pgvector")
        cursor.execute(_TABLE)
    with transaction.atomic(), connection.cursor() as cursor:
        # Wait for all who wrote before they could see the table; whoever writes later sees it.
        cursor.execute("LOCK TABLE indexing_sectionvector IN SHARE MODE")


def _fill() -> tuple[bool, bool]:
    """Take in the vectors that were written before the table was there. Whether there were any,
    and whether all are in now."""
    if not _any_missing():
        return False, True
    after = 0
    while border := _one(_BORDER, [after, BACKFILL_ROWS]):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_MISSING, [after, border, 2 * MOST_DIMENSIONS])
            for embedder, rows in groupby(cursor.fetchall(), key=lambda row: row[0]):
                copy_in([(*row[1:4], bytes(row[4])) for row in rows], embedder=embedder)
        after = border
    return True, not _any_missing()


def _recent() -> int:
    return int(_one("SELECT COUNT(*) FROM indexing_pgvector WHERE NOT settled", []))


def _analyze() -> None:
    """The planner has to know how few are not settled, or it reads everything to find them."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE indexing_pgvector")


def _any_missing() -> bool:
    return bool(_one(_ANY_MISSING, [2 * MOST_DIMENSIONS]))


def _one(statement: str, values: list[int]) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()[0]


def _make_indexes() -> Collection[tuple[str, int]]:
    """Says whose there are: embedders and dimensions."""
    with connection.cursor() as cursor:
        cursor.execute(_LARGEST)
        largest = cursor.fetchall()
        wanted = {
            index_name(embedder, dimensions): (embedder, dimensions)
            for embedder, dimensions, number in largest
            if number >= FEWEST_ROWS
        }
        # A project at the border must not have its index dropped and built again and again.
        kept = {
            index_name(embedder, dimensions)
            for embedder, dimensions, number in largest
            if number >= FEWEST_ROWS // 2
        }
        cursor.execute(
            "SELECT class.relname, i.indisvalid FROM pg_index i"
            " JOIN pg_class class ON class.oid = i.indexrelid"
            " WHERE i.indrelid = to_regclass('indexing_pgvector') AND class.relname LIKE %s",
            [INDEX_PREFIX + "%"],
        )
        present = dict(cursor.fetchall())
        for name, valid in present.items():
            # Of an embedder that is not used any more; or left behind by a build that was stopped.
            if name not in kept or not valid:
                cursor.execute(f"DROP INDEX IF EXISTS {name}")
        for name, (embedder, dimensions) in wanted.items():
            if not present.get(name):
                _make_index(name, embedder, dimensions)
    return wanted.values()


def _make_index(name: str, embedder: str, dimensions: int) -> None:
    # Writers go on meanwhile; within a transaction that cannot be had.
    concurrently = "" if connection.in_atomic_block else "CONCURRENTLY"
    with connection.cursor() as cursor:
        # Built over what is there, the index costs a fraction of putting in row by row.
        cursor.execute(_SETTLE_ALL.format(condition=condition(embedder, dimensions)))
        cursor.execute(f"SET maintenance_work_mem = '{BUILD_MEMORY}'")
        try:
            cursor.execute(
                f"CREATE INDEX {concurrently} {name} ON indexing_pgvector"
                f" USING hnsw ((embedding::halfvec({dimensions})) halfvec_cosine_ops)"
                f" WHERE {condition(embedder, dimensions)} AND settled"
            )
        finally:
            cursor.execute("RESET maintenance_work_mem")


def _settle(embedders: Collection[tuple[str, int]], *, until: float) -> None:
    """Put into the indexes what was written since: a few rows at a time, because whoever wants to
    remove one of them has to wait."""
    for embedder, dimensions in embedders:
        statement = _SETTLE.format(condition=condition(embedder, dimensions), limit=SETTLE_ROWS)
        settled = SETTLE_ROWS
        while settled == SETTLE_ROWS and time.monotonic() < until:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(statement)
                settled = cursor.rowcount
