"""The child's loop: a request, then a file in; an answer, then a text out.

Run as `python -m projects.intake.convert.child MEMORY_BYTES SECONDS`. It ends when its parent
does, even in the middle of a file that would never finish.
"""

import json
import os
import resource
import select
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

from projects.intake.convert.errors import Unconvertible
from projects.intake.convert.frames import read_frame, write_frame
from projects.intake.convert.text import scrub

# How often an idle child looks whether it still has a parent, should the pipe not tell.
IDLE_SECONDS = 5.0
# The parent kills at the limit; past it by this much the child is alone and ends itself.
GRACE_SECONDS = 1.0
MAX_RECURSION = 6_000

CONVERTERS = {
    "html": "projects.intake.convert.html",
    "rst": "projects.intake.convert.rst",
    "docx": "projects.intake.convert.docx",
    "pdf": "projects.intake.convert.pdf",
}


def main(memory_bytes: int, seconds: float) -> None:
    parent = os.getppid()
    answers = os.dup(1)
    # Whatever a library prints must not get among the frames.
    os.dup2(2, 1)
    # Ctrl-C is for the parent, which then closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _restrict(memory_bytes)
    # Pages may nest deeper than Python's default allows; no memory is set aside for it.
    sys.setrecursionlimit(MAX_RECURSION)
    while _wait_for_request(parent):
        head = read_frame(0)
        if head is None:
            return
        request = json.loads(head)
        # The time to load a library is no fault of the file: its clock starts after this.
        converter = import_module(CONVERTERS[request["format"]]).convert
        write_frame(answers, b"ready")
        data = read_frame(0)
        if data is None:
            return
        # The default action of this signal ends the process, wherever it hangs.
        signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS)
        answer, text = _convert(converter, request, data)
        signal.setitimer(signal.ITIMER_REAL, 0)
        write_frame(answers, json.dumps(answer).encode())
        write_frame(answers, text)


def _restrict(memory_bytes: int) -> None:
    """What a hostile file could still use up: the memory and the disk of the machine."""
    for kind, value in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
    ):
        # Not every system knows every limit, and none lets one be raised.
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (value, value))


def _wait_for_request(parent: int) -> bool:
    while not select.select([0], [], [], IDLE_SECONDS)[0]:
        if os.getppid() != parent:
            return False
    return True


def _convert(
    converter: Callable[..., str], request: dict[str, Any], data: bytes
) -> tuple[dict[str, str], bytes]:
    try:
        text = scrub(converter(data, **request["options"])).encode()
    except Unconvertible as error:
        return {"reason": error.reason}, b""
    except MemoryError:
        return {"reason": "memory"}, b""
    except RecursionError:
        return {"reason": "too_deep"}, b""
    except Exception as error:
        return {"reason": "failed", "detail": f"{type(error).__name__}: {error}"[:500]}, b""
    if len(text) > request["max_text_bytes"]:
        return {"reason": "text_too_large"}, b""
    return {}, text


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
