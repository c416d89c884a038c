"""From a file on the disk to the texts in it, without ever taking a half for the whole."""

import hashlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

from indexing.folders.opening import open_file
from indexing.folders.tree import Seen
from projects.intake.files import Draft, Incoming, Rejected
from projects.intake.formats import ARCHIVE, ending_of
from projects.intake.limits import Limits
from projects.intake.reader import read

PIECE = 2**20

# A file that was written to so recently is likely to be written to again at once.
QUIET_SECONDS = 0.1
# Many programs empty a file before they write it.
EMPTY_QUIET_SECONDS = 1.0
# One that never comes to rest is read as it is, and again after each change.
LONGEST_WAIT_SECONDS = 10.0
# Some disks tell time in steps of two seconds: within them a file can change and look the same.
COARSE_SECONDS = 2.0
FAR_SECONDS = 3600.0


class Changing(Exception):
    """Somebody is writing to the file just now."""


@dataclass(frozen=True)
class Snapshot:
    """The bytes of a file at one moment, told by their hash; none for one that is too large."""

    seen: Seen
    digest: str
    # Whether a later change would show in size or time.
    settled: bool
    incoming: Incoming

    def discard(self) -> None:
        """Let go of the bytes. The reader does so, too, if it gets as far as to open them."""
        if self.digest:
            self.incoming.open().close()

    @property
    def seconds_to_settle(self) -> float:
        age = time.time() - self.seen.modified_ns / 1e9
        return min(max(COARSE_SECONDS - age, 0.0), FAR_SECONDS) + QUIET_SECONDS


def snapshot(top: int, path: str, *, limits: Limits, patient: bool = True) -> Snapshot:
    """Read a file as a whole. OSError if that is not possible, Changing if it is being written;
    who is not `patient` takes it as it is."""
    limit = limits.max_archive_bytes if ending_of(path) == ARCHIVE else limits.max_file_bytes
    began = time.time()
    with open_file(top, path) as file:
        before = _status(file, path)
        if before.size > limit:
            # The reader says so, and reads no more of it than it must.
            incoming = Incoming(path=path, open=partial(open_file, top, path))
            return Snapshot(before, "", _is_settled(before, began), incoming)
        copy = SpooledTemporaryFile(max_size=limits.max_file_bytes)  # noqa: SIM115 (the reader's)
        digest = hashlib.sha256()
        # No further than it went when it was opened: one that grows would never end.
        left = before.size
        while left > 0 and (piece := file.read(min(left, PIECE))):
            digest.update(piece)
            copy.write(piece)
            left -= len(piece)
        after = _status(file, path)
    if after != before and patient:
        copy.close()
        raise Changing
    copy.seek(0)
    return Snapshot(
        after,
        digest.hexdigest(),
        after == before and _is_settled(after, began),
        Incoming(path=path, open=lambda: cast(BinaryIO, copy)),
    )


def _status(file: BinaryIO, path: str) -> Seen:
    return Seen.of(path, os.fstat(file.fileno()))


def _is_settled(seen: Seen, now: float) -> bool:
    age = now - seen.modified_ns / 1e9
    # A time in the far future says nothing about when the file was written.
    return age > COARSE_SECONDS or age < -FAR_SECONDS


def texts_of(
    snapshots: Iterable[Snapshot], limits: Limits
) -> Iterator[tuple[Snapshot, list[Draft | Rejected]]]:
    """Each with what is in it: one text, or those of an archive. One at a time is in memory."""
    taken: deque[Snapshot] = deque()

    def incoming() -> Iterator[Incoming]:
        for one in snapshots:
            taken.append(one)
            yield one.incoming

    # The reader takes a file only after it gave all of the one before: whatever it gives is of
    # the last one it took.
    results: list[Draft | Rejected] = []
    for result in read(incoming(), limits):
        while len(taken) > 1:
            yield _emptied(taken), results
            results = []
        results.append(result)
    while taken:
        yield _emptied(taken), results
        results = []


def _emptied(taken: deque[Snapshot]) -> Snapshot:
    first = taken.popleft()
    first.discard()
    return first


class Patience:
    """How long to wait before a file is read: until nobody has written to it for a moment."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # The file when it was first seen like this, and when it was first not at rest.
        self._like_this: dict[str, tuple[Seen, float]] = {}
        self._restless: dict[str, float] = {}

    def seconds_left(self, seen: Seen) -> float:
        """0 when it can be read."""
        now = self._clock()
        quiet = QUIET_SECONDS if seen.size else EMPTY_QUIET_SECONDS
        age = time.time() - seen.modified_ns / 1e9
        before, since = self._like_this.get(seen.path, (None, now))
        if before != seen:
            since = now
            self._like_this[seen.path] = (seen, now)
        # Its time may come from another machine's clock: then our own waiting has to do.
        rested = max(age, now - since)
        if rested >= quiet or self.is_over(seen.path):
            return 0.0
        self._restless.setdefault(seen.path, now)
        return quiet - max(rested, 0.0)

    def disturbed(self, path: str) -> float:
        """It changed while it was read; how long to wait."""
        self._restless.setdefault(path, self._clock())
        self._like_this.pop(path, None)
        return QUIET_SECONDS

    def is_over(self, path: str) -> bool:
        now = self._clock()
        return now - self._restless.get(path, now) > LONGEST_WAIT_SECONDS

    def done(self, path: str) -> None:
        self._like_this.pop(path, None)
        self._restless.pop(path, None)
