"""Many rows at once, past the ORM: where rows come in a stream, `bulk_create` takes several times
as long to put its statement together as a database takes to run it."""

import json
from collections.abc import Sequence
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import connection, models

from glossary_site.lazily import Lazily
from glossary_site.processes.prepared import execute

if TYPE_CHECKING:
    import psycopg.types.json
else:
    psycopg = Lazily("psycopg")

# What goes to a database as it is. All other fields adapt their values.
PLAIN = (
    models.BooleanField,
    models.CharField,
    models.FloatField,
    models.ForeignKey,
    models.IntegerField,
    models.TextField,
)
NOTHING = "ON CONFLICT DO NOTHING"

Fields = Sequence["models.Field[Any, Any]"]
Rows = list[tuple[Any, ...]]


def insert(rows: Sequence[models.Model], *, on_conflict: str = "") -> None:
    """Rows of one table. A key that the database gives is not read back."""
    if not rows:
        return
    model = type(rows[0])
    columns = [_values(field, rows) for field in _fields(model)]
    write = _as_text if connection.vendor == "postgresql" else _as_values
    write(model, list(zip(*columns, strict=True)), on_conflict)


def copy(rows: models.QuerySet[Any], **changes: Any) -> None:
    """The same rows once more, with these values in some columns. No row comes here for it."""
    model: type[models.Model] = rows.model
    column_of = {field.attname: field.column for field in _fields(model)}
    kept = [name for name in column_of if name not in changes]
    query, values = rows.order_by().values_list(*kept).query.sql_with_params()
    columns = ", ".join(f'"{column_of[name]}"' for name in (*changes, *kept))
    given = ", ".join(["%s"] * len(changes))
    with connection.cursor() as cursor:
        cursor.execute(
            f'INSERT INTO "{model._meta.db_table}" ({columns}) '  # noqa: S608 (our own names)
            f"SELECT {given}, copied.* FROM ({query}) AS copied",
            [*changes.values(), *values],
        )


def replacing(*, unique: Sequence[str], columns: Sequence[str]) -> str:
    """For `on_conflict`: a row that has the same values in the unique columns gets these ones."""
    changes = ", ".join(f"{name} = excluded.{name}" for name in columns)
    return f"ON CONFLICT ({', '.join(unique)}) DO UPDATE SET {changes}"


def _as_text(model: type[models.Model], rows: Rows, on_conflict: str) -> None:
    """One value, a JSON text of all rows: the statement is the same for any number of them and is
    planned once. Over arrays or single values psycopg spends several times as long."""
    names = [field.column for field in _fields(model)]
    text = json.dumps(
        [dict(zip(names, map(_in_json, row), strict=True)) for row in rows], ensure_ascii=False
    )
    execute(f"{_out_of_text(model)} {on_conflict}", [text]).close()


def _as_values(model: type[models.Model], rows: Rows, on_conflict: str) -> None:
    fields = _fields(model)
    one = f"({', '.join(['%s'] * len(fields))})"
    most = connection.ops.bulk_batch_size(fields, rows)
    with connection.cursor() as cursor:
        for first in range(0, len(rows), most):
            some = rows[first : first + most]
            values = [value for row in some for value in row]
            cursor.execute(
                f"{_into(model)} VALUES {', '.join([one] * len(some))} {on_conflict}", values
            )


@cache
def _fields(model: type[models.Model]) -> Fields:
    fields = model._meta.concrete_fields
    return [field for field in fields if not isinstance(field, models.AutoField)]


@cache
def _into(model: type[models.Model]) -> str:
    names = ", ".join(f'"{field.column}"' for field in _fields(model))
    return f'INSERT INTO "{model._meta.db_table}" ({names})'


@cache
def _out_of_text(model: type[models.Model]) -> str:
    # Without the length that a type may have: to cast to one would cut what is too long.
    types = ", ".join(
        f'"{field.column}" {str(field.db_type(connection)).split("(")[0]}'
        for field in _fields(model)
    )
    chosen = f"SELECT * FROM json_to_recordset(%s) AS given ({types})"  # noqa: S608 (our own names)
    return f"{_into(model)} {chosen}"


def _values(field: "models.Field[Any, Any]", rows: Sequence[models.Model]) -> list[Any]:
    if isinstance(field, PLAIN):
        return [getattr(row, field.attname) for row in rows]
    return [field.get_db_prep_save(field.pre_save(row, add=True), connection) for row in rows]


def _in_json(value: Any) -> Any:
    """As PostgreSQL reads it from a JSON text into a column of its type."""
    if isinstance(value, date | UUID):
        return str(value)
    # What goes into a column of JSON comes wrapped.
    return value.obj if isinstance(value, psycopg.types.json.Jsonb) else value
