"""Locks on files: the kernel lets go of them when their holder ends, however it ends."""

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

LOCK_NAME = "lock"


def try_lock(path: Path) -> IO[str] | None:
    """Take the lock and keep it as long as the file is open; None if somebody else holds it."""
    file = path.open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


@contextmanager
def own_directory(parent: Path, prefix: str) -> Iterator[Path]:
    """A directory of this process alone. Those of processes that were killed are swept away."""
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # One at a time: a directory that is just being made must not look abandoned.
    with (parent / LOCK_NAME).open("a") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        for abandoned in parent.glob(f"{prefix}*"):
            # Its owner may be taking it away in this moment.
            with suppress(FileNotFoundError):
                if lock := try_lock(abandoned / LOCK_NAME):
                    lock.close()
                    shutil.rmtree(abandoned, ignore_errors=True)
        directory = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        lock = try_lock(directory / LOCK_NAME)
        assert lock is not None
    with lock:
        yield directory
        shutil.rmtree(directory, ignore_errors=True)
