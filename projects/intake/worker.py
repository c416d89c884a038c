"""The parent's end of the converting child: one process for a whole upload, started when needed.

A file that hangs, crashes or bloats its reader costs that file alone. The child is killed and the
next file gets a new one.
"""

import json
import logging
import os
import selectors
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from projects.intake.convert.frames import LENGTH, pack
from projects.intake.limits import Limits
from projects.intake.reasons import refusal

logger = logging.getLogger(__name__)

ROOT = Path(__file__).resolve().parents[2]
MODULE = "projects.intake.convert.child"
# Starting Python and its libraries may take long on a busy machine, and is no file's fault.
START_SECONDS = 60.0
MAX_ANSWER_BYTES = 64 * 1024
# What Python needs to run. The rest of the environment holds the site's secrets.
ENVIRONMENT = (
    *("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR"),
    *("LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH"),
)


class Converter:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._seconds_left = limits.conversion_total_seconds
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child else None

    def convert(self, format: str, data: bytes, **options: int) -> str:
        """The file's text as Markdown, or `Refused`."""
        limits = self._limits
        if self._seconds_left <= 0:
            raise refusal("upload_timeout", limits)
        request = {"format": format, "options": options, "max_text_bytes": limits.max_file_bytes}
        began = time.monotonic()
        try:
            child = self._running()
            answer, text = self._exchange(child, request, data)
        except TimeoutError:
            self._stop()
            raise refusal("timeout", limits) from None
        except (EOFError, OSError, ValueError):
            code = self._stop()
            logger.warning("The converter ended with %s while it read a %s file", code, format)
            raise refusal("crashed", limits) from None
        finally:
            self._seconds_left -= time.monotonic() - began
        reason = answer.get("reason")
        if reason is None:
            return text.decode()
        if answer.get("detail"):
            logger.warning("A %s file was not converted: %s", format, answer["detail"])
        if reason in ("memory", "too_deep"):
            # Such a child may be short of memory for good.
            self._stop()
        raise refusal(reason, limits)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is not None and self._child.poll() is None:
            return self._child
        self._stop()
        limits = self._limits
        # Our own module with two numbers: nothing of a file gets into the command.
        child = subprocess.Popen(  # noqa: S603
            [
                *(sys.executable, "-B", "-m", MODULE),
                *(str(limits.conversion_memory_bytes), str(limits.conversion_seconds)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd=ROOT,
            env={name: os.environ[name] for name in ENVIRONMENT if name in os.environ},
        )
        self._child = child
        for pipe in (child.stdin, child.stdout):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
        return child

    def _exchange(
        self, child: subprocess.Popen[bytes], request: dict[str, Any], data: bytes
    ) -> tuple[dict[str, Any], bytes]:
        announced = _Dialogue(child, pack(json.dumps(request).encode()), START_SECONDS)
        announced.read_frame(MAX_ANSWER_BYTES)
        dialogue = _Dialogue(child, pack(data), self._limits.conversion_seconds)
        answer = json.loads(dialogue.read_frame(MAX_ANSWER_BYTES))
        return answer, dialogue.read_frame(self._limits.max_file_bytes)

    def _stop(self) -> int | None:
        child, self._child = self._child, None
        if child is None:
            return None
        child.kill()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()
        return child.wait()


class _Dialogue:
    """Writes and reads at once under one deadline: a child that does not read must not block."""

    def __init__(self, child: subprocess.Popen[bytes], frames: list[bytes], seconds: float) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        self._stdin, self._stdout = child.stdin.fileno(), child.stdout.fileno()
        self._outgoing = [memoryview(frame) for frame in frames if frame]
        self._incoming = bytearray()
        self._deadline = time.monotonic() + seconds

    def read_frame(self, longest: int) -> bytes:
        size: int = LENGTH.unpack(self._take(LENGTH.size))[0]
        if size > longest:
            raise ValueError("The answer is longer than the child may send")
        return self._take(size)

    def _take(self, size: int) -> bytes:
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            if self._outgoing:
                selector.register(self._stdin, selectors.EVENT_WRITE)
            while len(self._incoming) < size:
                left = self._deadline - time.monotonic()
                ready = selector.select(max(0.0, left)) if left > 0 else []
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    if key.fd == self._stdout:
                        self._read()
                    elif not self._write():
                        selector.unregister(self._stdin)
        taken = bytes(self._incoming[:size])
        del self._incoming[:size]
        return taken

    def _read(self) -> None:
        piece = os.read(self._stdout, 1 << 20)
        if not piece:
            raise EOFError
        self._incoming += piece

    def _write(self) -> bool:
        """Send a piece; whether there is more to send."""
        head = self._outgoing[0]
        rest = head[os.write(self._stdin, head[: 1 << 20]) :]
        self._outgoing[:1] = [rest] if rest else []
        return bool(self._outgoing)
