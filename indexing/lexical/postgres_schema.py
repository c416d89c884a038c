"""The lexical index in PostgreSQL: a row for each word of each section, filled by triggers.

The triggers run once a statement, over all the rows it added or removed. What was added is found
again by the words themselves when a section is removed, so that the primary key, which holds all
that a search reads, is the only index. It begins with the project: when the last of its sections
go, all that it has goes in one stretch.

How many sections and words a project has is the sum of small changes, one for each statement: a
single counter would make writers of a project wait for each other until they commit. Every so
often the statement that writes one adds up those that nobody else is adding up just then.
"""

from django.db.backends.base.base import BaseDatabaseWrapper

from indexing.lexical.lengths import HEADING_WEIGHT, LONGEST

POSTING = "indexing_posting"
TALLY = "indexing_tally"
FUNCTIONS = (
    "indexing_section_added",
    "indexing_section_removed",
    "indexing_section_changed",
    "indexing_section_emptied",
)
# One change in so many adds up the others.
_FOLD_EVERY = 64

_COUNTED = f"""
    SELECT section.id, section.project_id, in_heading, in_text,
           least(cardinality(in_heading) + cardinality(in_text), {LONGEST})::smallint AS length
    FROM {{rows}} section,
         LATERAL string_to_array(section.heading_words, ' ') in_heading,
         LATERAL string_to_array(section.words, ' ') in_text
"""  # noqa: S608 (names and numbers of ours only, here and below)
_POSTINGS = f"""
    SELECT counted.project_id, word.term, counted.id AS section_id,
           least(sum(word.weight), {LONGEST})::smallint AS hits, counted.length
    FROM ({_COUNTED}) counted, LATERAL (
        SELECT unnest(counted.in_heading) COLLATE "C" AS term, {HEADING_WEIGHT} AS weight
        UNION ALL SELECT unnest(counted.in_text) COLLATE "C", 1
    ) word
    GROUP BY counted.project_id, word.term, counted.id, counted.length
"""  # noqa: S608


def _add(rows: str) -> str:
    # In the order of the key: neighbours go to the same pages.
    return f"""
    INSERT INTO {POSTING} (project_id, term, section_id, hits, length)
    {_POSTINGS.format(rows=rows)}
    ORDER BY 1, 2, 3;
    """


def _remove(rows: str) -> str:
    """By the words of each section; where a project has no section left, all it has at once."""
    return f"""
    DECLARE project bigint;
    BEGIN
        FOR project IN SELECT DISTINCT project_id FROM {rows} section LOOP
            -- One statement: whoever adds sections meanwhile is seen with them or not at all.
            DELETE FROM {POSTING} WHERE project_id = project AND NOT EXISTS (
                SELECT FROM indexing_section section WHERE section.project_id = project
            );
            CONTINUE WHEN FOUND;
            DELETE FROM {POSTING} posting USING (
                SELECT DISTINCT counted.id,
                       unnest(counted.in_heading || counted.in_text) COLLATE "C" AS term
                FROM ({_COUNTED.format(rows=rows)} WHERE section.project_id = project) counted
            ) gone
            WHERE posting.project_id = project
                AND posting.term = gone.term AND posting.section_id = gone.id;
        END LOOP;
    END;
    """  # noqa: S608


def _tally(rows: str, sign: str) -> str:
    return f"""
    INSERT INTO {TALLY} (project_id, sections, words)
    SELECT project_id, {sign}count(*), {sign}sum(length)
    FROM ({_COUNTED.format(rows=rows)}) counted GROUP BY project_id;
    """  # noqa: S608


def _changed(rows: str, others: str) -> str:
    """Those of an update whose words are others now."""
    return f"""(
        SELECT {rows}.* FROM {rows} JOIN {others} USING (id)
        WHERE ({rows}.project_id, {rows}.heading_words, {rows}.words)
            <> ({others}.project_id, {others}.heading_words, {others}.words)
    )"""  # noqa: S608


# Rows that another transaction is adding up are passed over, and one that is not committed is not
# seen: nobody waits, and each reader sees either the many or their sum.
_FOLD = f"""
    IF nextval('{TALLY}_turn') % {_FOLD_EVERY} = 0 THEN
        WITH folded AS (
            DELETE FROM {TALLY} WHERE id IN (SELECT id FROM {TALLY} FOR UPDATE SKIP LOCKED)
            RETURNING project_id, sections, words
        )
        INSERT INTO {TALLY} (project_id, sections, words)
        SELECT project_id, sum(sections), sum(words) FROM folded
        GROUP BY project_id HAVING sum(sections) <> 0 OR sum(words) <> 0;
    END IF;
"""  # noqa: S608

# The planner knows nothing of the rows of a statement: left alone it may read the whole table for
# a handful of words.
_BY_KEY = "SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off"


def _function(name: str, body: str, settings: str = "") -> str:
    return f"""
    CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql {settings} AS $$
    BEGIN
    {body}
    RETURN NULL;
    END
    $$
    """


_FUNCTIONS = (
    _function("indexing_section_added", _add("added") + _tally("added", "+") + _FOLD),
    _function(
        "indexing_section_removed", _remove("removed") + _tally("removed", "-") + _FOLD, _BY_KEY
    ),
    _function(
        "indexing_section_changed",
        _remove(_changed("before", "after"))
        + _tally(_changed("before", "after"), "-")
        + _add(_changed("after", "before"))
        + _tally(_changed("after", "before"), "+"),
        _BY_KEY,
    ),
    # Deletes of a whole table have no rows to name.
    _function("indexing_section_emptied", f"TRUNCATE {POSTING}, {TALLY};"),
)
_TRIGGERS = (
    """AFTER INSERT ON indexing_section REFERENCING NEW TABLE AS added""",
    """AFTER DELETE ON indexing_section REFERENCING OLD TABLE AS removed""",
    """AFTER UPDATE ON indexing_section REFERENCING OLD TABLE AS before NEW TABLE AS after""",
    """AFTER TRUNCATE ON indexing_section""",
)
TABLES = (
    f"""
    CREATE TABLE IF NOT EXISTS {POSTING} (
        section_id bigint NOT NULL,
        project_id integer NOT NULL,
        -- Of all the times the word is there, those in headings more than once.
        hits smallint NOT NULL,
        -- Of the section, in words.
        length smallint NOT NULL,
        term text COLLATE "C" NOT NULL,
        PRIMARY KEY (project_id, term, section_id) INCLUDE (hits, length)
    ) WITH (
        -- A search reads the index alone, where the table's pages are known to be visible to all.
        autovacuum_vacuum_insert_scale_factor = 0.02,
        autovacuum_vacuum_scale_factor = 0.02,
        autovacuum_analyze_scale_factor = 0.02
    )
    """,
    f"""
    CREATE TABLE IF NOT EXISTS {TALLY} (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        project_id integer NOT NULL,
        sections bigint NOT NULL,
        words bigint NOT NULL
    )
    """,
    f"CREATE INDEX IF NOT EXISTS {TALLY}_of_project ON {TALLY} (project_id)",
    f"CREATE SEQUENCE IF NOT EXISTS {TALLY}_turn",
)


def create(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        for statement in (*TABLES, *_FUNCTIONS):
            cursor.execute(statement)
        for name, event in zip(FUNCTIONS, _TRIGGERS, strict=True):
            cursor.execute(
                f"CREATE OR REPLACE TRIGGER {name} {event} FOR EACH STATEMENT"
                f" EXECUTE FUNCTION {name}()"
            )


def drop(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        for name in FUNCTIONS:
            cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON indexing_section")
            cursor.execute(f"DROP FUNCTION IF EXISTS {name}()")
        cursor.execute(f"DROP TABLE IF EXISTS {POSTING}, {TALLY}")
        cursor.execute(f"DROP SEQUENCE IF EXISTS {TALLY}_turn")


def fill(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        # Nobody writes sections meanwhile.
        cursor.execute("LOCK TABLE indexing_section IN SHARE ROW EXCLUSIVE MODE")
        cursor.execute(f"TRUNCATE {POSTING}, {TALLY}")
        cursor.execute(_add("indexing_section"))
        cursor.execute(_tally("indexing_section", "+"))


def is_in_step(connection: BaseDatabaseWrapper) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT count(*) FROM pg_trigger
            WHERE tgrelid = 'indexing_section'::regclass AND tgname = ANY(%s)
            """,
            [list(FUNCTIONS)],
        )
        if cursor.fetchone() != (len(FUNCTIONS),):
            return False
        cursor.execute(
            f"""
            SELECT EXISTS (
                SELECT project_id, sum(sections), sum(words) FROM {TALLY} GROUP BY project_id
                HAVING sum(sections) <> 0
                EXCEPT
                SELECT project_id, count(*), sum(length)
                FROM ({_COUNTED.format(rows="indexing_section")}) counted GROUP BY project_id
            ), EXISTS (
                SELECT id FROM indexing_section
                WHERE (words <> '' OR heading_words <> '') AND NOT EXISTS (
                    SELECT FROM {POSTING} posting
                    WHERE posting.project_id = indexing_section.project_id
                        AND posting.section_id = indexing_section.id
                        AND posting.term = split_part(
                            coalesce(nullif(words, ''), heading_words), ' ', 1
                        ) COLLATE "C"
                )
            )
            """  # noqa: S608
        )
        return bool(cursor.fetchone() == (False, False))
