"""Work in a child process that is killed at an instant chosen before."""

import os
import signal
import traceback
from collections.abc import Callable

from django.db import connections

from glossary_site.management.commands.worker import load_before_forking


def in_child(work: Callable[[], object], seconds: float | None) -> bool:
    """Do it in a child, killed after so long. True: it was killed."""
    load_before_forking()
    connections.close_all()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            if seconds is not None:
                # By the system, wherever it is: a handler of Python's would wait for a good moment.
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.setitimer(signal.ITIMER_REAL, seconds)
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        return True
    assert status == 0, "the execution failed"
    return False
