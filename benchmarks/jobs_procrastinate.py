"""procrastinate on PostgreSQL."""

import os
from functools import cache

from procrastinate import App, PsycopgConnector

from benchmarks.jobs_marks import mark

app = App(connector=PsycopgConnector(conninfo=os.environ["BENCH_DATABASE_URL"]))


@app.task(name="no_op")
def no_op(number: int) -> None:
    mark(number)


@cache
def opened() -> App:
    return app.open()


def prepare() -> None:
    opened().schema_manager.apply_schema()


def enqueue(number: int) -> None:
    opened()
    no_op.defer(number=number)
