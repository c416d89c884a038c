"""What a job did, written beside the database: a line for each begin, step and end.

Rows can only tell what was committed. These lines also tell of a process that went on working after
its job had been given to another, which the rows alone would never show. The clock is the
machine's monotonic one, the same for all its processes.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from glossary_site.jobs.session import Session

VARIABLE = "CHAOS_DIARY"


@contextmanager
def written(session: Session, key: str) -> Iterator[None]:
    note("begin", session, key)
    try:
        yield
    finally:
        note("end", session, key)


def note(what: str, session: Session, key: str) -> None:
    line = {
        "what": what,
        "key": key,
        "run": session.run.pk,
        "pid": os.getpid(),
        "time": time.monotonic(),
    }
    os.write(_file(), f"{json.dumps(line)}\n".encode())


@cache
def _file() -> int:
    return os.open(os.environ[VARIABLE], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
