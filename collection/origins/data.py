"""What a repository can be asked, wherever it is, and what it answers: plain data.

A collection speaks with an `Origin` and does not know whether git or the API of a host answers.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Protocol, Self

from collection.choices import State


@dataclass(frozen=True, slots=True)
class CommitData:
    sha: str
    parents: tuple[str, ...]
    author_name: str
    author_email: str
    committed_date: datetime  # aware, UTC
    additions: int
    deletions: int
    subject: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Some commits of a history, in order."""

    commits: Sequence[CommitData]
    # A commit of which everything that can be reached has come by now: with this batch stored, the
    # next collection may begin behind it. Empty: not yet.
    position: str = ""
    # How many commits there are in all, once that is known.
    expected: int = 0


@dataclass(frozen=True)
class Heads:
    """What is there now."""

    branches: Mapping[str, str]
    # Empty where the repository says none, or one that it does not have.
    default: str
    # Where it answers now, if under another address than it was asked at.
    moved_to: str = ""
    shallow: bool = False


@dataclass(frozen=True, slots=True)
class FileData:
    path: str
    blob: str
    size: int


@dataclass(frozen=True, slots=True)
class Touch:
    """A commit touched a path."""

    sha: str
    path: str


# Of some commits, those that are stored.
Stored = Callable[[Sequence[str]], Collection[str]]


class OriginProblem(Exception):
    """Why a repository does not give what it was asked for, in words for people: no secret, no
    path of the server beyond what the person typed."""

    def __init__(
        self,
        state: State,
        message: str,
        *,
        again: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.state = state
        self.message = message
        # Whether another try may go better, and when the far side wants it, in seconds.
        self.again = again
        self.retry_after = retry_after

    def __str__(self) -> str:
        return self.message


class Stopped(Exception):
    """`stopped()` said so in the middle of it."""


class Closing:
    """Used with `with`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        raise NotImplementedError


class Origin(Protocol):
    """A repository that is spoken with. Used by one thread at a time; close it, or use `with`."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def heads(self) -> Heads:
        """Ask what is there now: cheap, nothing is brought over. An empty repository has no
        branches."""
        ...

    def bring(self, branches: Mapping[str, str]) -> None:
        """Have these branches (name → head) at hand for what follows."""
        ...

    def history(
        self,
        head: str,
        *,
        known: Sequence[str] = (),
        since: datetime | None = None,
        stored: Stored | None = None,
    ) -> Iterator[Batch]:
        """The commits that can be reached from `head` and from none of `known` (those that are
        still there), parents before children where the origin can; committed at `since` or later.
        `stored` is asked for commits that need not come because another branch has them; an origin
        to which that spares nothing does not ask. The last batch has `head` as its position."""
        ...

    def contains(self, head: str, sha: str) -> bool:
        """Can `sha` be reached from `head`? False also when there is no such commit any more."""
        ...

    def left_behind(self, head: str, old: str) -> Iterator[str]:
        """What can be reached from `old` and not from `head`; nothing where `old` is gone."""
        ...

    def files(self, head: str) -> Iterator[FileData]:
        """The regular files of a commit, by path; no links, no submodules."""
        ...

    def renames(self, old: str, new: str) -> Mapping[str, str]:
        """Files that have another path (and perhaps another text) since: old path → new path."""
        ...

    def contents(self, head: str, files: Iterable[FileData]) -> Iterator[tuple[FileData, bytes]]:
        """Their bytes, in the order of `files`."""
        ...

    def touches(
        self, head: str, *, known: Sequence[str] = (), wanted: Callable[[str], bool]
    ) -> Iterator[Touch]:
        """Which commits (as in `history`) touched the paths that are wanted."""
        ...

    def mailmap(self, head: str) -> str:
        """The text of its mail map; empty where it has none."""
        ...

    def close(self) -> None: ...
