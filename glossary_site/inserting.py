"""Many rows at once, past the ORM: where rows come in a stream, `bulk_create` takes several times
as long to put its statement together as a database takes to run it."""

from collections.abc import Iterator, Sequence
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


def insert(rows: Sequence[models.Model], *, on_conflict: str = "") -> None:
    """Rows of one table. A key that the database gives is not read back."""
    if not rows:
        return
    statement, fields = _statement(type(rows[0]))
    one = f"({', '.join(['%s'] * len(fields))})"
    most = connection.ops.bulk_batch_size(fields, rows)
    with connection.cursor() as cursor:
        for first in range(0, len(rows), most):
            some = rows[first : first + most]
            values = [value for row in some for value in _values(row, fields)]
            cursor.execute(f"{statement} {', '.join([one] * len(some))} {on_conflict}", values)


def replacing(*, unique: Sequence[str], columns: Sequence[str]) -> str:
    """For `on_conflict`: a row that has the same values in the unique columns gets these ones."""
    changes = ", ".join(f"{name} = excluded.{name}" for name in columns)
    return f"ON CONFLICT ({', '.join(unique)}) DO UPDATE SET {changes}"


@cache
def _statement(model: type[models.Model]) -> tuple[str, Fields]:
    meta = model._meta
    fields = [field for field in meta.concrete_fields if not isinstance(field, models.AutoField)]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    return f'INSERT INTO "{meta.db_table}" ({columns}) VALUES', fields


def _values(row: models.Model, fields: Fields) -> Iterator[Any]:
    for field in fields:
        if isinstance(field, PLAIN):
            yield getattr(row, field.attname)
        else:
            yield field.get_db_prep_save(field.pre_save(row, add=True), connection)
