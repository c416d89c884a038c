"""Telling one process from another, also from a later one that was given the same number."""

import hashlib
import os
import socket
from contextlib import suppress
from functools import cache
from pathlib import Path

# In /proc/<pid>/stat, counted after the name, which may hold anything but ends with a bracket.
STATE_FIELD = 0
START_FIELD = 19


@cache
def host() -> str:
    """Where a process number means something: this machine since it was started, or this container
    of it. Containers may share a name, and then not their numbers."""
    here = hashlib.sha256()
    with suppress(OSError):
        here.update(Path("/proc/sys/kernel/random/boot_id").read_bytes())
        here.update(str(os.stat("/proc/self/ns/pid").st_ino).encode())
    return f"{socket.gethostname()[:60]}#{here.hexdigest()[:8]}"


def started(pid: int) -> int | None:
    """When a process of this machine began, in the kernel's ticks; None when there is none (a dead
    one that nobody has buried yet counts as none), 0 where the system has no /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0 if _exists_without_proc(pid) else None
    return None if fields[STATE_FIELD] in "ZX" else int(fields[START_FIELD])


def _exists_without_proc(pid: int) -> bool:
    if Path("/proc/self").exists():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
