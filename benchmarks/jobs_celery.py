"""celery on Redis. Its results are kept nowhere, as ours are kept in rows that we write anyway."""

import os

from celery import Celery

from benchmarks.jobs_marks import mark

app = Celery("bench", broker=os.environ["BENCH_REDIS_URL"])


@app.task
def no_op(number: int) -> None:
    mark(number)


def prepare() -> None:
    """A queue is made when it is first used."""


def enqueue(number: int) -> None:
    no_op.delay(number)
