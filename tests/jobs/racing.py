"""Many processes that do the same thing at once: `python -m tests.jobs.racing 200 FILE`.

A program of its own, because a process with threads (a test runner has some) must not fork.
"""

import os
import sys

import django
from django.db import connections

django.setup()

from glossary_site.jobs.services.enqueue import enqueue  # noqa: E402
from glossary_site.jobs.session import job_session  # noqa: E402
from glossary_site.management.commands.worker import load_before_forking  # noqa: E402

COMMON_KEY = "the race"


def race(count: int, path: str) -> None:
    load_before_forking()
    connections.close_all()
    gate, starter = os.pipe()
    racers = []
    for _ in range(count):
        pid = os.fork()
        if pid == 0:
            os.close(starter)
            # Returns when the starter's end is closed: for all at once.
            os.read(gate, 1)
            os._exit(_run(path))
        racers.append(pid)
    os.close(starter)
    failures = [code for pid in racers if (code := os.waitpid(pid, 0)[1])]
    sys.exit(f"{len(failures)} racers failed" if failures else 0)


def _run(path: str) -> int:
    try:
        run = enqueue("work.note", {"path": path, "line": "once"}, idempotency_key=COMMON_KEY)
        # Whoever gets there also tries to execute it, as if it had been delivered to each.
        with job_session(run.pk, worker=f"racer:short:{os.getpid()}") as session:
            if session is not None:
                session.perform()
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    race(int(sys.argv[1]), sys.argv[2])
