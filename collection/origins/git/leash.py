"""What git does must not go on when the worker is gone.

The kernel could kill a process with its parent, but not those that the process has started itself:
one that waits for a silent host would wait on, another would go on filling the disk. And to the
kernel the parent is a thread, while our threads come and go. So a small process watches: it knows
the groups that are at work, and when the worker's end of the pipe closes, however the worker ended,
it kills them.
"""

import atexit
import os
import sys
import threading
from contextlib import suppress

WATCHER = """
import os, signal, sys
groups = set()
for line in sys.stdin:
    group = int(line)
    groups.add(group) if group > 0 else groups.discard(-group)
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass
"""


class Leash:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pid = 0
        self._pipe = -1
        os.register_at_fork(after_in_child=self._forget)
        atexit.register(self._end)

    def hold(self, group: int) -> None:
        self._tell(group)

    def let_go(self, group: int) -> None:
        self._tell(-group)

    def _tell(self, number: int) -> None:
        line = b"%d\n" % number
        with self._lock:
            if self._pid:
                with suppress(BrokenPipeError):
                    os.write(self._pipe, line)
                    return
                # Somebody has killed it; those that it knew are looked after by us alone.
                self._end()
            self._start()
            os.write(self._pipe, line)

    def _start(self) -> None:
        reading, self._pipe = os.pipe()
        try:
            self._pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", "-c", WATCHER],
                {},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, reading, 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_DUP2, 1, 2),
                ],
                # What is meant for the worker's group shall not end it too early.
                setpgroup=0,
            )
        finally:
            os.close(reading)

    def _end(self) -> None:
        if self._pid:
            os.close(self._pipe)
            with suppress(ChildProcessError):
                os.waitpid(self._pid, 0)
            self._pid = 0

    def _forget(self) -> None:
        """In a process that was forked from ours: it is not its leash, and a lock might be held
        for ever."""
        self._lock = threading.Lock()
        if self._pid:
            os.close(self._pipe)
            self._pid = 0


leash = Leash()
