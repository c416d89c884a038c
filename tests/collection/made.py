"""A repository made of plain data, which answers as an `Origin` does."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from collection.origins.data import Batch, Closing, CommitData, FileData, Heads, Stored, Touch

FIRST = datetime(2026, 1, 5, 9, tzinfo=UTC)
BATCH = 100


@dataclass(frozen=True)
class Made:
    data: CommitData
    # The whole tree at this commit; and what is another text, or gone, since its first parent.
    files: Mapping[str, bytes]
    touched: frozenset[str]
    moves: Mapping[str, str]


class MemoryOrigin(Closing):
    """Commits are made one after the other with `commit`, and can then be asked for."""

    def __init__(self, branch: str = "main") -> None:
        self.commits: dict[str, Made] = {}
        self.branches: dict[str, str] = {}
        self.default = branch
        self.moved_to = ""
        self.shallow = False
        # What was asked for, by name; and what is to be raised when it is asked for.
        self.asked: list[str] = []
        self.problems: dict[str, Exception] = {}
        # Commits that were told in full; files whose contents were read.
        self.compared: list[str] = []
        self.read: list[str] = []
        self.closed = False

    def commit(
        self,
        files: Mapping[str, str | bytes | None] | None = None,
        *,
        moves: Mapping[str, str] | None = None,
        subject: str = "",
        branch: str = "",
        parents: Sequence[str] | None = None,
        author: tuple[str, str] = ("Ada Lovelace", "ada@example.com"),
        when: datetime | None = None,
    ) -> str:
        """The files that are other than in the parent (None: deleted), after some have moved."""
        branch = branch or self.default
        if parents is None:
            parents = [self.branches[branch]] if branch in self.branches else []
        before = dict(self.commits[parents[0]].files) if parents else {}
        now = dict(before)
        for old, new in (moves or {}).items():
            now[new] = now.pop(old)
        for path, text in (files or {}).items():
            if text is None:
                del now[path]
            else:
                now[path] = text.encode() if isinstance(text, str) else text
        touched = {path for path in {*before, *now} if before.get(path) != now.get(path)}
        number = len(self.commits)
        subject = subject or f"Commit {number + 1}"
        told = f"{parents}{subject}{number}{sorted(now)}{branch}"
        data = CommitData(
            sha=hashlib.sha1(told.encode()).hexdigest(),
            parents=tuple(parents),
            author_name=author[0],
            author_email=author[1],
            committed_date=when or FIRST + timedelta(hours=number),
            additions=sum(_lines(now.get(path)) for path in touched),
            deletions=sum(_lines(before.get(path)) for path in touched),
            subject=subject,
        )
        self.commits[data.sha] = Made(data, now, frozenset(touched), dict(moves or {}))
        self.branches[branch] = data.sha
        return data.sha

    @property
    def head(self) -> str:
        return self.branches[self.default]

    def forget(self, sha: str) -> None:
        """As git does in time with what no branch has any more."""
        del self.commits[sha]

    # What an `Origin` answers

    def heads(self) -> Heads:
        self._note("heads")
        default = self.default if self.default in self.branches else ""
        return Heads(dict(self.branches), default, moved_to=self.moved_to, shallow=self.shallow)

    def bring(self, branches: Mapping[str, str]) -> None:
        self._note("bring")

    def history(
        self,
        head: str,
        *,
        known: Sequence[str] = (),
        since: datetime | None = None,
        stored: Stored | None = None,
    ) -> Iterator[Batch]:
        self._note("history")
        order = self._new(head, known)
        if stored is not None:
            there = stored(order)
            order = [sha for sha in order if sha not in there]
        self.compared += order
        new = [self.commits[sha].data for sha in order]
        wanted = [each for each in new if since is None or each.committed_date >= since]
        for start in range(0, max(len(wanted), 1), BATCH):
            last = start + BATCH >= len(wanted)
            some = wanted[start : start + BATCH]
            yield Batch(some, position=head if last else "", expected=len(wanted))

    def contains(self, head: str, sha: str) -> bool:
        self._note("contains")
        return sha in self._reachable(head)

    def left_behind(self, head: str, old: str) -> Iterator[str]:
        self._note("left_behind")
        yield from self._new(old, [head])

    def files(self, head: str) -> Iterator[FileData]:
        self._note("files")
        for path, data in sorted(self.commits[head].files.items()):
            yield FileData(path, blob_of(data), len(data))

    def renames(self, old: str, new: str) -> Mapping[str, str]:
        self._note("renames")
        if old not in self.commits:
            return {}
        before, after = self.commits[old].files, self.commits[new].files
        places = {path: path for path in before}
        for sha in self._new(new, [old]):
            moves = self.commits[sha].moves
            places = {first: moves.get(now, now) for first, now in places.items()}
        return {
            first: now
            for first, now in places.items()
            if first != now and first not in after and now in after and now not in before
        }

    def contents(self, head: str, files: Iterable[FileData]) -> Iterator[tuple[FileData, bytes]]:
        self._note("contents")
        for file in files:
            self.read.append(file.path)
            yield file, self.commits[head].files[file.path]

    def touches(
        self, head: str, *, known: Sequence[str] = (), wanted: Callable[[str], bool]
    ) -> Iterator[Touch]:
        self._note("touches")
        for sha in self._new(head, known):
            for path in sorted(self.commits[sha].touched):
                if wanted(path):
                    yield Touch(sha, path)

    def mailmap(self, head: str) -> str:
        self._note("mailmap")
        return self.commits[head].files.get(".mailmap", b"").decode()

    def close(self) -> None:
        self.closed = True

    def _note(self, asked: str) -> None:
        self.asked.append(asked)
        if asked in self.problems:
            raise self.problems[asked]

    def _new(self, head: str, known: Sequence[str]) -> list[str]:
        """Parents before children, as they were made."""
        there = self._reachable(head)
        for sha in known:
            there -= self._reachable(sha)
        return [sha for sha in self.commits if sha in there]

    def _reachable(self, head: str) -> set[str]:
        found: set[str] = set()
        left = [head]
        while left:
            sha = left.pop()
            if sha in self.commits and sha not in found:
                found.add(sha)
                left += self.commits[sha].data.parents
        return found


def blob_of(data: bytes) -> str:
    """As git calls a content."""
    return hashlib.sha1(b"blob %d\0%s" % (len(data), data)).hexdigest()


def _lines(data: bytes | None) -> int:
    return len(data.splitlines()) if data else 0
