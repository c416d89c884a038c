"""The name under which `ps` and `top` show a process. All are the same program, and an operator
wants to know which of them is at 100 %."""

import ctypes
import sys

PR_SET_NAME = 15

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def show_as(name: str) -> None:
    """Also of every process forked from this one. The kernel keeps the first fifteen letters."""
    if _libc is not None:
        _libc.prctl(PR_SET_NAME, name.encode(), 0, 0, 0)
