"""The statements of every job's life: take a row, and swap what it holds if it is still so.

Written out, because Django takes several times as long to build such a statement as a database
takes to run it, and each job needs three of them.
"""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Q

from glossary_site.jobs.clock import DatabaseTime, Moment
from glossary_site.jobs.models import JobRun
from glossary_site.processes.prepared import execute

TABLE = JobRun._meta.db_table
# Their names are their columns' names: no relation is ever swapped.
FIELDS = {field.name: field for field in JobRun._meta.concrete_fields}
# What it takes to run a job. Whoever asks for more reads it then.
NEEDED = {
    *("id", "kind", "lane", "payload", "scope", "state", "version", "attempt", "max_attempts"),
    *("definition_id", "assigned_worker", "timeout_seconds", "trace_id"),
    *("progress_current", "progress_total", "progress_message"),
}
# In the order of the model, which takes them in that order.
COLUMNS = [field.attname for field in JobRun._meta.concrete_fields if field.attname in NEEDED]
TAKE = f"""
    UPDATE {TABLE} SET
        attempt = attempt + CASE state WHEN 'ORPHANED' THEN 1 ELSE 0 END,
        max_attempts = max_attempts + CASE state WHEN 'ORPHANED' THEN 1 ELSE 0 END,
        state = 'ASSIGNED', version = version + 1,
        assigned_worker = %s, assigned_at = {{now}}, lease_until = {{lease}}
    WHERE id = %s AND state IN ('PENDING', 'ORPHANED')
        AND rung_at IS NOT NULL AND kind IN ({{kinds}})
    RETURNING {", ".join(COLUMNS)}, (SELECT epoch FROM jobs_leaderlease WHERE id = 1)
"""  # noqa: S608 (our own names)


def take(
    run_id: int, *, worker: str, kinds: Sequence[str], now: Moment, lease: Moment
) -> JobRun | None:
    """The run, if it waits and was sent, in the worker's hand now; with the leader's epoch as
    `epoch` (None: nobody has led yet)."""
    now_sql, now_value = _part("assigned_at", now)
    lease_sql, lease_value = _part("lease_until", lease)
    statement = _take(now_sql, lease_sql, tuple(kinds))
    with execute(statement, [worker, *now_value, *lease_value, run_id]) as cursor:
        found = cursor.fetchone()
    if found is None:
        return None
    *values, epoch = found
    run = JobRun.from_db(DEFAULT_DB_ALIAS, NEEDED, values)
    run.payload = json.loads(run.payload)
    run.epoch = epoch
    return run


def swap(expected: dict[str, Any], changes: dict[str, Any], *conditions: Q) -> bool:
    """Make the changes in the one row that is as expected (its `id` among that). Whether it was."""
    if conditions:
        return JobRun.objects.filter(*conditions, **expected).update(**changes) == 1
    parts: list[tuple[str, str]] = []
    values: list[Any] = []
    for name, value in changes.items():
        sql, given = _part(name, value)
        parts.append((name, sql))
        values += given
    values += [_prepared(name, value) for name, value in expected.items()]
    with execute(_swap(tuple(parts), tuple(expected)), values) as cursor:
        return bool(cursor.rowcount == 1)


@cache
def _take(now: str, lease: str, kinds: tuple[str, ...]) -> str:
    # Written into it: they are names in our own code, always the same, and a value for each of them
    # would cost more than all others together.
    names = ", ".join(f"'{kind}'" for kind in kinds)
    return TAKE.format(now=now, lease=lease, kinds=names)


@cache
def _swap(parts: tuple[tuple[str, str], ...], expected: tuple[str, ...]) -> str:
    changes = ", ".join(f"{name} = {sql}" for name, sql in parts)
    still = " AND ".join(f"{name} = %s" for name in expected)
    return f"UPDATE {TABLE} SET {changes} WHERE {still}"  # noqa: S608 (our own names)


def _part(name: str, value: Any) -> tuple[str, list[Any]]:
    """A new value as a part of a statement, and what goes with it."""
    if value is None:
        return "NULL", []
    if isinstance(value, DatabaseTime):
        return value.sql, []
    return "%s", [_prepared(name, value)]


def _prepared(name: str, value: Any) -> Any:
    if isinstance(value, str):
        # A state is a word like others: its class means nothing to a database.
        return str(value)
    if isinstance(value, int):
        return value
    return FIELDS[name].get_db_prep_save(value, connection)
