"""huey, on a SQLite file or on Redis."""

import os

from huey import RedisHuey, SqliteHuey

from benchmarks.jobs_marks import mark

REDIS_URL = os.environ.get("BENCH_REDIS_URL")
if REDIS_URL:
    huey = RedisHuey("bench", url=REDIS_URL)
else:
    huey = SqliteHuey("bench", filename=os.path.join(os.environ["BENCH_DIRECTORY"], "huey.sqlite3"))


@huey.task()
def no_op(number: int) -> None:
    mark(number)


def prepare() -> None:
    """Its tables are made when it is loaded."""


enqueue = no_op
