"""What the database itself is told to write down: every change of a run and of the leader's lease.

Triggers, so nothing that was committed can be missed, and nothing that was rolled back is there.
Read with plain SQL: whoever judges the site must not use its code.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any

import psycopg

TABLES = """
CREATE TABLE chaos_effect (
    id {serial}, key text NOT NULL, step integer NOT NULL, run_id bigint NOT NULL
);
CREATE INDEX chaos_effect_key ON chaos_effect (key);
CREATE TABLE chaos_change (
    id {serial}, run_id bigint NOT NULL, retry_of_id bigint,
    old_state text, new_state text, old_version integer, new_version integer, worker text
);
CREATE TABLE chaos_reign (id {serial}, epoch integer, holder text);
"""
# The columns of `chaos_change` after an insert, an update and a delete of a run.
CHANGES = {
    "INSERT": "NEW.id, NEW.retry_of_id, NULL, NEW.state, NULL, NEW.version, NEW.assigned_worker",
    "UPDATE": "NEW.id, NEW.retry_of_id, OLD.state, NEW.state, OLD.version, NEW.version, "
    "NEW.assigned_worker",
    "DELETE": "OLD.id, OLD.retry_of_id, OLD.state, NULL, OLD.version, NULL, OLD.assigned_worker",
}
INTO_CHANGE = (
    "INSERT INTO chaos_change "
    "(run_id, retry_of_id, old_state, new_state, old_version, new_version, worker) VALUES"
)
INTO_REIGN = "INSERT INTO chaos_reign (epoch, holder) VALUES (NEW.epoch, NEW.holder)"


class Database:
    """The site's database, SQLite or PostgreSQL, looked at from outside."""

    def __init__(self, *, url: str = "", path: str = "") -> None:
        self._url, self._path = url, path

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        if self._url:
            with psycopg.connect(self._url) as connection:
                return connection.execute(sql).fetchall()
        with sqlite3.connect(self._path, timeout=60) as file:
            found = file.execute(sql).fetchall()
        file.close()
        return found

    def value(self, sql: str) -> Any:
        return self.rows(sql)[0][0]

    def cut_connections(self, share: float) -> int:
        """Of the connections of others, as a network would; how many. SQLite has none."""
        if not self._url:
            return 0
        return len(
            self.rows(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid() "
                f"AND random() < {share}"
            )
        )

    def prepare(self) -> None:
        if self._url:
            with psycopg.connect(self._url) as connection:
                for statement in _for_postgresql():
                    connection.execute(statement)
            return
        file = sqlite3.connect(self._path)
        file.executescript(TABLES.format(serial="INTEGER PRIMARY KEY AUTOINCREMENT"))
        for statement in _for_sqlite():
            file.execute(statement)
        file.commit()
        file.close()


def _for_sqlite() -> Sequence[str]:
    runs = [
        f"CREATE TRIGGER chaos_{when} AFTER {when} ON jobs_jobrun "
        f"BEGIN {INTO_CHANGE} ({columns}); END"
        for when, columns in CHANGES.items()
    ]
    reigns = [
        f"CREATE TRIGGER chaos_reign_{when} AFTER {when} ON jobs_leaderlease "
        f"BEGIN {INTO_REIGN}; END"
        for when in ("INSERT", "UPDATE")
    ]
    return [*runs, *reigns]


def _for_postgresql() -> Sequence[str]:
    branches = "\n".join(
        f"IF TG_OP = '{when}' THEN {INTO_CHANGE} ({columns}); END IF;"
        for when, columns in CHANGES.items()
    )
    return [
        TABLES.format(serial="bigserial PRIMARY KEY"),
        f"CREATE FUNCTION chaos_note_run() RETURNS trigger LANGUAGE plpgsql AS $$ "
        f"BEGIN {branches} RETURN NULL; END $$",
        f"CREATE FUNCTION chaos_note_reign() RETURNS trigger LANGUAGE plpgsql AS $$ "
        f"BEGIN {INTO_REIGN}; RETURN NULL; END $$",
        "CREATE TRIGGER chaos_run AFTER INSERT OR UPDATE OR DELETE ON jobs_jobrun "
        "FOR EACH ROW EXECUTE FUNCTION chaos_note_run()",
        "CREATE TRIGGER chaos_reign AFTER INSERT OR UPDATE ON jobs_leaderlease "
        "FOR EACH ROW EXECUTE FUNCTION chaos_note_reign()",
    ]
