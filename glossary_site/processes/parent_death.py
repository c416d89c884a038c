"""A process that must not outlive the one that started it.

Linux can send a signal to a process when its parent ends, however it ends. Elsewhere these
functions do nothing, and only an orderly stop takes the children along.
"""

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable

PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
# Who is about to fork; 0 when the new process shall be left alone.
_forking = 0


def die_with(parent: int) -> None:
    """Ask the kernel to kill this process when its parent ends."""
    if _libc is None:
        return
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        # The parent was gone before the kernel was told: nobody will send the signal.
        os._exit(1)


def dying_with_me() -> Callable[[], None]:
    """What a new process has to call before it becomes another program (`preexec_fn`)."""
    me = os.getpid()
    return lambda: die_with(me)


def bind_every_fork() -> None:
    """From here on, every process forked by this one or by its descendants dies with its parent."""
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork_in_child)


def _before_fork() -> None:
    global _forking
    # To the kernel the parent is the forking thread, not the process: bound to a thread that ends
    # early, the new process would be killed in the middle of its work.
    _forking = os.getpid() if threading.current_thread() is threading.main_thread() else 0


def _after_fork_in_child() -> None:
    if _forking:
        die_with(_forking)
