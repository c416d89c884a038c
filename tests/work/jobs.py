"""Kinds of work for tests. What they do to the world is a line in a file, which any process can
append to and any process can count."""

import os
import time
from pathlib import Path
from typing import Any

from glossary_site.jobs.choices import Lane
from glossary_site.jobs.errors import PermanentFailure
from glossary_site.jobs.registry import job
from glossary_site.jobs.session import Session


def note(path: str, line: object) -> None:
    """One write, one line: lines of several processes do not mix."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)


@job("work.note", lane=Lane.SHORT, timeout=60, retries=2, schedulable=True)
def write_note(session: Session, *, path: str = "", line: str = "") -> dict[str, Any]:
    if path:
        note(path, line or session.run.pk)
    return {"line": line}


@job("work.fail", lane=Lane.SHORT, timeout=60, retries=2)
def fail(session: Session, *, permanent: bool = False) -> None:
    if permanent:
        raise PermanentFailure("The file is empty.")
    raise ValueError("no luck")


@job("work.nap", lane=Lane.SHORT, timeout=60, retries=1)
def nap(session: Session, *, seconds: float, path: str = "") -> None:
    """Sleeps as a job should: it can be woken."""
    if path:
        note(path, f"begin {os.getpid()}")
    session.wait(seconds)
    if path:
        note(path, f"end {os.getpid()}")


@job("work.slog", lane=Lane.LONG, timeout=600, retries=1)
def slog(session: Session, *, seconds: float, path: str = "") -> None:
    """The same, in the other lane."""
    nap(session, seconds=seconds, path=path)


@job("work.deaf", lane=Lane.SHORT, timeout=60, retries=0)
def deaf(session: Session, *, seconds: float, path: str) -> None:
    """Never looks up."""
    note(path, f"begin {os.getpid()}")
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.05)
    note(path, f"end {os.getpid()}")


@job("work.steps", lane=Lane.LONG, timeout=600, retries=20)
def steps(session: Session, *, path: str, total: int, pause: float = 0.0) -> dict[str, Any]:
    """Goes on where the last attempt stopped: what is done is in the file."""
    done = len(Path(path).read_text().splitlines()) if Path(path).exists() else 0
    for step in range(done, total):
        session.progress(step, total, f"step {step}")
        note(path, step)
        session.wait(pause)
    return {"steps": total}


@job("work.die", lane=Lane.SHORT, timeout=60, retries=2)
def die(session: Session, *, path: str) -> None:
    """Takes its process with it, as one does that the kernel ends for its memory."""
    note(path, os.getpid())
    os.kill(os.getpid(), 9)
