"""Many rows at once, past the ORM: where rows come in a stream, `bulk_create` takes several times
as long to put its statement together as a database takes to run it."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db import connection, models

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
Columns = list[list[Any]]


def insert(rows: Sequence[models.Model], *, on_conflict: str = "") -> None:
    """Rows of one table. A key that the database gives is not read back."""
    if not rows:
        return
    beginning, fields = _table(type(rows[0]))
    write = _as_columns if connection.vendor == "postgresql" else _as_rows
    write(beginning, fields, [_values(field, rows) for field in fields], on_conflict)


def copy(rows: models.QuerySet[Any], **changes: Any) -> None:
    """The same rows once more, with these values in some columns. No row comes here for it."""
    model: type[models.Model] = rows.model
    _beginning, fields = _table(model)
    table, column_of = model._meta.db_table, {each.attname: each.column for each in fields}
    kept = [name for name in column_of if name not in changes]
    query, values = rows.order_by().values_list(*kept).query.sql_with_params()
    columns = ", ".join(
        f'"{rows.model._meta.get_field(name).column}"' for name in (*changes, *kept)
    )
    given = ", ".join(["%s"] * len(changes))
    with connection.cursor() as cursor:
        cursor.execute(
            f'INSERT INTO "{table}" ({columns}) '  # noqa: S608
            f"SELECT {given}, copied.* FROM ({query}) AS copied",
            [*changes.values(), *values],
        )


def replacing(*, unique: Sequence[str], columns: Sequence[str]) -> str:
    """For `on_conflict`: a row that has the same values in the unique columns gets these ones."""
    changes = ", ".join(f"{name} = excluded.{name}" for name in columns)
    return f"ON CONFLICT ({', '.join(unique)}) DO UPDATE SET {changes}"


def _as_columns(beginning: str, fields: Fields, columns: Columns, on_conflict: str) -> None:
    """An array for each column: the statement is as short for a thousand rows as for one."""
    # Without the length that a type may have: to cast to one would cut what is too long.
    types = [str(field.db_type(connection)).split("(")[0] for field in fields]
    arrays = ", ".join(f"%s::{type}[]" for type in types)
    with connection.cursor() as cursor:
        statement = f"{beginning} SELECT * FROM UNNEST({arrays}) {on_conflict}"  # noqa: S608
        cursor.execute(statement, columns)


def _as_rows(beginning: str, fields: Fields, columns: Columns, on_conflict: str) -> None:
    one = f"({', '.join(['%s'] * len(fields))})"
    rows = list(zip(*columns, strict=True))
    most = connection.ops.bulk_batch_size(fields, rows)
    with connection.cursor() as cursor:
        for first in range(0, len(rows), most):
            some = rows[first : first + most]
            values = [value for row in some for value in row]
            cursor.execute(
                f"{beginning} VALUES {', '.join([one] * len(some))} {on_conflict}", values
            )


@cache
def _table(model: type[models.Model]) -> tuple[str, Fields]:
    meta = model._meta
    fields = [field for field in meta.concrete_fields if not isinstance(field, models.AutoField)]
    names = ", ".join(f'"{field.column}"' for field in fields)
    return f'INSERT INTO "{meta.db_table}" ({names})', fields


def _values(field: "models.Field[Any, Any]", rows: Sequence[models.Model]) -> list[Any]:
    if isinstance(field, PLAIN):
        return [getattr(row, field.attname) for row in rows]
    return [field.get_db_prep_save(field.pre_save(row, add=True), connection) for row in rows]
