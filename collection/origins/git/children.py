"""A git process: started, read as it writes, watched, and ended with everything below it."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import IO

from collection.origins.git.leash import leash

# How often it is looked whether to go on.
TICK_SECONDS = 0.5
READ_BYTES = 256 * 1024
# What a process says about its troubles; the end of it is what counts.
ERROR_BYTES = 16 * 1024


class GitFailed(Exception):
    """A git process ended with an error, and said this."""

    def __init__(self, code: int, said: str) -> None:
        super().__init__(f"git ended with {code}: {said}")
        self.code = code
        self.said = said


class TookTooLong(Exception):
    """Beyond the time that it was given."""


class WroteTooMuch(Exception):
    """Beyond what anybody wants to read."""


class Child:
    """Read it to its end, or close it. `look` is called twice a second while it is waited for, and
    stops it by raising. `seconds` are for all of it or, where that `renews`, for each answer."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: str,
        stdin: IO[bytes] | None,
        seconds: float,
        renews: bool,
        look: Callable[[], None],
    ) -> None:
        self._look = look
        self._seconds_left = self._seconds = seconds
        self._renews = renews
        self._next_look = 0.0
        self._said = bytearray()
        self._closed = False
        self._process = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=folder,
            env=environment,
            # A group of its own, so that it can be killed with what it starts, and no terminal
            # at which anything could be asked.
            start_new_session=True,
        )
        leash.hold(self._process.pid)

    def output(self) -> Iterator[bytes]:
        """What it writes, piece by piece. A process that failed raises `GitFailed` at the end."""
        out, err = self._process.stdout, self._process.stderr
        assert out is not None
        assert err is not None
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(out, selectors.EVENT_READ)
                selector.register(err, selectors.EVENT_READ)
                while selector.get_map():
                    for key in self._wait(selector):
                        data = os.read(key.fd, READ_BYTES)
                        if not data:
                            selector.unregister(key.fileobj)
                        elif key.fileobj is out:
                            if self._renews:
                                self._seconds_left = self._seconds
                            yield data
                        else:
                            self._said += data
                            del self._said[:-ERROR_BYTES]
            code = self._end()
        finally:
            self.close()
        if code != 0:
            raise GitFailed(code, self._said.decode(errors="replace"))

    def close(self) -> None:
        """End it, if it has not ended, and whatever it has started."""
        if self._closed:
            return
        self._closed = True
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        leash.let_go(self._process.pid)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def _wait(self, selector: selectors.BaseSelector) -> list[selectors.SelectorKey]:
        # Only the time counts that we wait: what is done with the output is not its fault.
        began = time.monotonic()
        ready = [key for key, _events in selector.select(TICK_SECONDS)]
        self._spend(time.monotonic() - began)
        return ready

    def _end(self) -> int:
        while True:
            try:
                return self._process.wait(TICK_SECONDS)
            except subprocess.TimeoutExpired:
                self._spend(TICK_SECONDS)

    def _spend(self, seconds: float) -> None:
        self._seconds_left -= seconds
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + TICK_SECONDS
            self._look()
        if self._seconds_left <= 0:
            raise TookTooLong
