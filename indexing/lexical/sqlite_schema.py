"""The lexical index in SQLite: an FTS5 table that keeps no text, filled by triggers.

A term is a word with its project before it ("7:harbour"): a search then reads what its project
has, and nothing of the others. FTS5's ascii tokenizer takes every character beyond ASCII, and the
signs that words may have, as part of a word: what analysis.py cut is not cut or folded again.

The rowid is the section's number and, in its last ten bits, how many words the section has: BM25
needs the length with each posting, and looking it up for each took most of the time.

FTS5's own bm25() is not used. Reading the postings (fts5vocab) and counting in numpy took a sixth
of its time, ranks as PostgreSQL does, and counts words by project.
"""

from django.db.backends.base.base import BaseDatabaseWrapper

from indexing.lexical.lengths import LENGTH_BITS, LONGEST

TABLE = "indexing_word"
# Which sections have a term, and each place where it is.
FREQUENCY = "indexing_word_frequency"
PLACE = "indexing_word_place"
TALLY = "indexing_tally"
TRIGGERS = ("indexing_section_added", "indexing_section_removed", "indexing_section_changed")

# The signs inside words (analysis.py), and the colon after the project.
_SIGNS = "-_.+#:''"


def _length(row: str) -> str:
    """How many words: one more than there are spaces, or none."""

    def of(column: str) -> str:
        text = f"{row}.{column}"
        return f"(length({text}) - length(replace({text}, ' ', '')) + ({text} <> ''))"

    return f"min({of('heading_words')} + {of('words')}, {LONGEST})"


def rowid(row: str) -> str:
    return f"({row}.id << {LENGTH_BITS} | {_length(row)})"


def _terms(row: str, column: str) -> str:
    text, project = f"{row}.{column}", f"{row}.project_id || ':'"
    return f"iif({text} = '', '', {project} || replace({text}, ' ', ' ' || {project}))"


def _values(row: str) -> str:
    return f"{rowid(row)}, {_terms(row, 'heading_words')}, {_terms(row, 'words')}"


_ADD = f"""
    INSERT INTO {TABLE} (rowid, heading_words, words) VALUES ({_values("new")});
    INSERT INTO {TALLY} (project_id, sections, words) VALUES (new.project_id, 1, {_length("new")})
    ON CONFLICT (project_id) DO UPDATE
    SET sections = sections + 1, words = words + excluded.words;
"""  # noqa: S608 (names and numbers of ours only, here and below)
# A table without text has to be told what it forgets.
_REMOVE = f"""
    INSERT INTO {TABLE} ({TABLE}, rowid, heading_words, words) VALUES ('delete', {_values("old")});
    UPDATE {TALLY} SET sections = sections - 1, words = words - {_length("old")}
    WHERE project_id = old.project_id;
"""  # noqa: S608

TABLES = (
    f"""
    CREATE VIRTUAL TABLE IF NOT EXISTS {TABLE} USING fts5(
        heading_words, words, content='', tokenize="ascii tokenchars '{_SIGNS}'"
    )
    """,
    f"CREATE VIRTUAL TABLE IF NOT EXISTS {FREQUENCY} USING fts5vocab('{TABLE}', 'row')",
    f"CREATE VIRTUAL TABLE IF NOT EXISTS {PLACE} USING fts5vocab('{TABLE}', 'instance')",
    f"""
    CREATE TABLE IF NOT EXISTS {TALLY} (
        project_id integer PRIMARY KEY, sections integer NOT NULL, words integer NOT NULL
    )
    """,
)
_TRIGGERS = (
    f"CREATE TRIGGER indexing_section_added AFTER INSERT ON indexing_section BEGIN {_ADD} END",
    f"CREATE TRIGGER indexing_section_removed AFTER DELETE ON indexing_section BEGIN {_REMOVE} END",
    f"""
    CREATE TRIGGER indexing_section_changed
    AFTER UPDATE OF id, project_id, heading_words, words ON indexing_section
    WHEN (old.id, old.project_id, old.heading_words, old.words)
        <> (new.id, new.project_id, new.heading_words, new.words)
    BEGIN {_REMOVE} {_ADD} END
    """,
)


def create(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        for statement in TABLES:
            cursor.execute(statement)
        for name, statement in zip(TRIGGERS, _TRIGGERS, strict=True):
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            cursor.execute(statement)


def drop(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        for name in TRIGGERS:
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
        for name in (PLACE, FREQUENCY, TABLE, TALLY):
            cursor.execute(f"DROP TABLE IF EXISTS {name}")


def fill(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {TABLE} ({TABLE}) VALUES ('delete-all')")  # noqa: S608
        cursor.execute(f"DELETE FROM {TALLY}")  # noqa: S608
        cursor.execute(
            f"""
            INSERT INTO {TABLE} (rowid, heading_words, words)
            SELECT {_values("section")} FROM indexing_section section
            """  # noqa: S608
        )
        cursor.execute(
            f"""
            INSERT INTO {TALLY} (project_id, sections, words)
            SELECT project_id, count(*), sum({_length("section")})
            FROM indexing_section section GROUP BY project_id
            """  # noqa: S608
        )


def is_in_step(connection: BaseDatabaseWrapper) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name IN (%s, %s, %s)",
            TRIGGERS,
        )
        if cursor.fetchone() != (len(TRIGGERS),):
            return False
        cursor.execute(
            f"""
            WITH wanted AS (SELECT {rowid("section")} AS id FROM indexing_section section)
            SELECT EXISTS (SELECT id FROM wanted EXCEPT SELECT id FROM {TABLE}_docsize)
                OR EXISTS (SELECT id FROM {TABLE}_docsize EXCEPT SELECT id FROM wanted)
            """  # noqa: S608
        )
        if cursor.fetchone() != (0,):
            return False
        cursor.execute(
            f"""
            WITH wanted AS (
                SELECT project_id, count(*), sum({_length("section")})
                FROM indexing_section section GROUP BY project_id
            ), counted AS (SELECT project_id, sections, words FROM {TALLY} WHERE sections > 0)
            SELECT EXISTS (SELECT * FROM wanted EXCEPT SELECT * FROM counted)
                OR EXISTS (SELECT * FROM counted EXCEPT SELECT * FROM wanted)
            """  # noqa: S608
        )
        return bool(cursor.fetchone() == (0,))
