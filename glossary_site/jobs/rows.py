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
    now_sql, now_value = _moment(now)
    lease_sql, lease_value = _moment(lease)
    names = ", ".join(["%s"] * len(kinds))
    statement = TAKE.format(now=now_sql, lease=lease_sql, kinds=names)
    with execute(statement, [worker, *now_value, *lease_value, run_id, *kinds]) as cursor:
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
    times = tuple(
        (name, value.sql) for name, value in changes.items() if isinstance(value, DatabaseTime)
    )
    plain = {name: value for name, value in changes.items() if not isinstance(value, DatabaseTime)}
    values = [_prepared(name, value) for name, value in (*plain.items(), *expected.items())]
    with execute(_statement(tuple(plain), times, tuple(expected)), values) as cursor:
        return bool(cursor.rowcount == 1)


@cache
def _statement(
    plain: tuple[str, ...], times: tuple[tuple[str, str], ...], expected: tuple[str, ...]
) -> str:
    changes = [f"{name} = %s" for name in plain] + [f"{name} = {sql}" for name, sql in times]
    still = " AND ".join(f"{name} = %s" for name in expected)
    return f"UPDATE {TABLE} SET {', '.join(changes)} WHERE {still}"  # noqa: S608 (our own names)


def _moment(moment: Moment) -> tuple[str, list[Any]]:
    """A time as a part of a statement, and the value that goes with it."""
    if isinstance(moment, DatabaseTime):
        return moment.sql, []
    return "%s", [_prepared("due_at", moment)]


def _prepared(name: str, value: Any) -> Any:
    if isinstance(value, str):
        # A state is a word like others: its class means nothing to a database.
        return str(value)
    if value is None or isinstance(value, int):
        return value
    return FIELDS[name].get_db_prep_save(value, connection)
