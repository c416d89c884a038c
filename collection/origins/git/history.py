"""A history read fast: which commits, in an order of parents first, then what each of them changed.

The order comes from one quick walk and lies in a file, so that memory does not grow with it. What
takes time is comparing trees, and commits are compared independently: a process for each core takes
every other portion of the order, and their answers are put back into it.
"""

import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryFile

from collection.models.commit import PERSON_LENGTH, SUBJECT_LENGTH
from collection.origins.data import Batch, CommitData, Stopped, Stored
from collection.origins.git.children import TICK_SECONDS, GitFailed
from collection.origins.git.running import Git

# Commits of a batch: a transaction and a step of the progress bar.
PORTION = 250
# Portions that one process compares: enough for what it keeps in mind to be of use.
PORTIONS_EACH = 8
# Batches that a process may be ahead of whoever takes them.
AHEAD = 4
# A line beyond this is cut: only a subject or a path can be so long, and both end the line.
LONGEST_LINE = 64 * 1024

# Every commit begins with a line that begins with NUL, which no other line does. What follows is
# what `git log --numstat` shows: no diff for merges, renames found, nothing of attributes.
COMPARE = (
    *("diff-tree", "--stdin", "--always", "-r", "--root", "-M", "--numstat"),
    *("--no-ext-diff", "--no-textconv", "--encoding=UTF-8"),
    # What can be of any length is last: a line that is cut loses the end of what it says.
    "--format=%x00%H%x00%ct%x00%P%x00%ae%x00%an%x00%s",
)
FIELDS = 7

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# A day before the last one, so that it is a date in every time zone.
LAST = datetime(9999, 12, 30, tzinfo=UTC)
LAST_SECOND = int((LAST - EPOCH).total_seconds())


class Order:
    """The commits of a history in a file, parents first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115 - until close()
        self._width = 0
        self.count = 0

    def close(self) -> None:
        self._file.close()

    def write(self, lines: Iterable[bytes], *, since: int | None) -> None:
        """Lines of `rev-list --timestamp`."""
        for line in lines:
            when, _blank, sha = line.partition(b" ")
            if since is None or int(when) >= since:
                self._file.write(sha + b"\n")
                self._width = len(sha) + 1
                self.count += 1
        self._file.flush()

    def without(self, stored: Stored) -> "Order":
        """A new one that has only what is not stored, in the place of this one."""
        rest = Order(self._folder)
        try:
            for number in range(self.portions):
                shas = self.portion(number).decode().split()
                there = stored(shas)
                rest.write((f"0 {sha}".encode() for sha in shas if sha not in there), since=None)
        except BaseException:
            rest.close()
            raise
        self.close()
        return rest

    def portion(self, number: int) -> bytes:
        """Several threads read at once: none of them moves the file's own place."""
        size = PORTION * self._width
        return os.pread(self._file.fileno(), size, number * size)

    @property
    def portions(self) -> int:
        return -(-self.count // PORTION)


def take_order(
    git: Git, repository: Path, head: str, known: Sequence[str], since: datetime | None
) -> Order:
    order = Order(git.folder)
    try:
        with git.lines_in([head, *(f"^{sha}" for sha in known)]) as stdin:
            walk = git.stream(
                ["rev-list", "--reverse", "--topo-order", "--timestamp", "--stdin"],
                repository=repository,
                stdin=stdin,
            )
            order.write(lines_of(walk), since=_seconds(since))
    except BaseException:
        order.close()
        raise
    return order


def usable_cores() -> int:
    """Those that this process may use, where the system tells."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def read_portions(git: Git, repository: Path, order: Order) -> Iterator[list[CommitData]]:
    """The commits in their order, a portion at a time."""
    cores = min(usable_cores(), order.portions)
    if cores <= 1:
        for first in range(0, order.portions, PORTIONS_EACH):
            some = range(order.portions)[first : first + PORTIONS_EACH]
            yield from compared(git, repository, order, some)
        return
    with ExitStack() as running:
        comparers = [
            running.enter_context(
                Comparer(git, repository, order, range(core, order.portions, cores))
            )
            for core in range(cores)
        ]
        for number in range(order.portions):
            yield comparers[number % cores].next()


def compared(
    git: Git,
    repository: Path,
    order: Order,
    numbers: Sequence[int],
    look: Callable[[], None] | None = None,
) -> Iterator[list[CommitData]]:
    """Some portions, by one process. Not by one for all: it keeps what it has read, and would grow
    with the history."""
    with TemporaryFile(dir=git.folder) as stdin:
        for number in numbers:
            stdin.write(order.portion(number))
        stdin.seek(0)
        streamed = git.stream(COMPARE, repository=repository, stdin=stdin, look=look)
        yield from in_portions(commits_of(streamed))


class Comparer:
    """Processes that compare, one after the other, and a thread that reads them some way ahead."""

    def __init__(self, git: Git, repository: Path, order: Order, numbers: Sequence[int]) -> None:
        self._git = git
        self._repository = repository
        self._order = order
        self._numbers = numbers
        self._read: queue.Queue[list[CommitData] | Exception] = queue.Queue(AHEAD)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Comparer":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._closed.set()
        with suppress(queue.Empty):
            while True:
                self._read.get_nowait()
        self._thread.join()

    def next(self) -> list[CommitData]:
        while True:
            # Whoever is to be asked about stopping expects the question from this thread.
            self._git.check()
            with suppress(queue.Empty):
                answer = self._read.get(timeout=TICK_SECONDS)
                if isinstance(answer, Exception):
                    raise answer
                return answer

    def _run(self) -> None:
        try:
            for first in range(0, len(self._numbers), PORTIONS_EACH):
                some = self._numbers[first : first + PORTIONS_EACH]
                for portion in compared(self._git, self._repository, self._order, some, self._look):
                    self._put(portion)
            # Nobody waits for more than was asked for; should git leave some out, it is said.
            self._put(GitFailed(0, "error: commits are missing in the answer"))
        except Exception as error:
            self._put(error)

    def _put(self, answer: list[CommitData] | Exception) -> None:
        while not self._closed.is_set():
            with suppress(queue.Full):
                self._read.put(answer, timeout=TICK_SECONDS)
                return

    def _look(self) -> None:
        if self._closed.is_set():
            raise Stopped


def batches(
    git: Git,
    repository: Path,
    head: str,
    *,
    known: Sequence[str],
    since: datetime | None,
    stored: Stored | None,
    covers: Callable[[str], bool],
) -> Iterator[Batch]:
    """`covers` says of a commit whether beginning behind it would lose sight of what is known."""
    order = take_order(git, repository, head, known, since)
    try:
        if stored is not None:
            order = order.without(stored)
        number = 0
        for number, portion in enumerate(read_portions(git, repository, order), 1):
            last = number == order.portions
            position = portion[-1].sha
            if last:
                position = head
            elif not covers(position):
                position = ""
            yield Batch(portion, position=position, expected=order.count)
        if number == 0:
            yield Batch([], position=head)
    finally:
        order.close()


def in_portions(commits: Iterable[CommitData]) -> Iterator[list[CommitData]]:
    portion: list[CommitData] = []
    for commit in commits:
        portion.append(commit)
        if len(portion) == PORTION:
            yield portion
            portion = []
    if portion:
        yield portion


def commits_of(pieces: Iterable[bytes]) -> Iterator[CommitData]:
    head = b""
    additions = deletions = 0
    for line in lines_of(pieces):
        if line[:1] == b"\0":
            if head:
                yield _commit(head, additions, deletions)
            head = line
            additions = deletions = 0
        elif line:
            added, deleted, _path = line.split(b"\t", 2)
            if added != b"-":  # a binary file has no lines
                additions += int(added)
                deletions += int(deleted)
    if head:
        yield _commit(head, additions, deletions)


def lines_of(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        lines = (rest + piece).split(b"\n")
        rest = lines.pop()[:LONGEST_LINE]
        yield from lines
    if rest:
        yield rest


def _commit(head: bytes, additions: int, deletions: int) -> CommitData:
    said = head.decode(errors="replace").split("\0")
    missing = [""] * (FIELDS - len(said))
    _nothing, sha, when, parents, email, name, subject = [*said, *missing]
    return CommitData(
        sha=sha,
        parents=tuple(parents.split()),
        author_name=name[:PERSON_LENGTH],
        author_email=email[:PERSON_LENGTH],
        committed_date=_date(when),
        additions=additions,
        deletions=deletions,
        subject=subject[:SUBJECT_LENGTH],
    )


def _date(when: str) -> datetime:
    """Git writes none where it cannot read it; nobody committed before or after these."""
    seconds = int(when) if when.isascii() and when.isdigit() else 0
    return EPOCH + timedelta(seconds=seconds) if seconds < LAST_SECOND else LAST


def _seconds(since: datetime | None) -> int | None:
    """The first whole second that counts."""
    return None if since is None else -int((EPOCH - since).total_seconds() // 1)
