"""Moves logs and is killed, at every instant there is: `python -m tests.jobs.moving`.

A program of its own, because a process with threads (a test runner has some) must not fork.
"""

import os
import signal
import sys
from datetime import timedelta
from types import FrameType
from typing import Any

import django
from django.db import connections
from django.utils import timezone

django.setup()

from glossary_site.jobs import logs as reading  # noqa: E402
from glossary_site.jobs.choices import State  # noqa: E402
from glossary_site.jobs.logs import log_lines  # noqa: E402
from glossary_site.jobs.models import JobLog, JobRun  # noqa: E402
from glossary_site.jobs.services import logs  # noqa: E402

FILES = (reading.__file__, logs.__file__)
# Every line of the program is an instant; one in seven of them is enough to meet each of its steps.
STRIDE = 7


def run_with_log(*messages: str) -> JobRun:
    long_ago = timezone.now() - timedelta(days=100)
    run = JobRun.objects.create(
        kind="work.note",
        lane="short",
        timeout_seconds=1,
        state=State.CANCELED,
        created_at=long_ago,
        finished_at=long_ago,
    )
    for message in messages:
        JobLog.objects.create(run=run, message=message)
    return run


def killed_at(instant: int) -> bool:
    """Move the logs in a process that dies at this instant. False: it came to the end before."""
    connections.close_all()
    pid = os.fork()
    if pid == 0:
        left = instant

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal left
            if frame.f_code.co_filename not in FILES:
                return None
            if event == "line":
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return trace

        sys.settrace(trace)
        logs.move_old_logs()
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        return True
    assert status == 0, "moving failed"
    return False


def messages(run: JobRun) -> list[str]:
    """Page by page, as a reader gets them."""
    found, last = [], 0
    while page := log_lines(run, after=last, limit=2):
        found += [line.message for line in page]
        last = page[-1].id
    return found


def main() -> None:
    # A kill loses nothing that the system has been given; only a power cut would. And it is slow.
    os.fsync = lambda fd: None
    expected = ["one", "two", "three"]
    kills = 0
    while True:
        # One that was moved before, to which a line was added, and one that was not.
        late = run_with_log("one", "two")
        logs.move_old_logs()
        JobLog.objects.create(run=late, message="three")
        runs = [late, run_with_log(*expected)]
        killed = killed_at(STRIDE * (kills + 1))
        for run in runs:
            assert messages(run) == expected, f"after {kills} kills: {messages(run)}"
        logs.move_old_logs()
        assert not JobLog.objects.exists()
        for run in runs:
            assert messages(run) == expected, f"after {kills} kills: {messages(run)}"
        if not killed:
            break
        kills += 1
    logs.FORGOTTEN_AFTER_SECONDS = -60
    logs.remove_forgotten_files()
    kept = [path for path in reading.directory().rglob("*") if path.is_file()]
    assert len(kept) == JobRun.objects.exclude(log_ref="").count()
    sys.stdout.write(f"{kills} kills\n")


if __name__ == "__main__":
    main()
