"""Real git: making a repository by hand, and asking it what a host would say about it."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

FIRST_DAY = datetime(2026, 1, 5, 9, tzinfo=UTC)
FORMAT = "%x1e%H%x1f%P%x1f%an%x1f%ae%x1f%cI%x1f%B%x1d"


@dataclass(frozen=True)
class Row:
    """A commit with its line counts; a merge against its first parent, as hosts count it."""

    sha: str
    parents: list[str]
    name: str
    email: str
    date: str
    message: str
    additions: int
    deletions: int


class GitRepository:
    """A repository in a folder. Every commit is an hour after the one before unless told."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._hours = 0

    @classmethod
    def create(cls, path: Path, branch: str = "main") -> "GitRepository":
        path.mkdir(parents=True, exist_ok=True)
        repository = cls(path)
        repository.run("init", "-q", "-b", branch)
        return repository

    def run(self, *arguments: str, when: datetime | None = None, given: bytes = b"") -> str:
        return self.raw(*arguments, when=when, given=given).decode(errors="replace")

    def raw(self, *arguments: str, when: datetime | None = None, given: bytes = b"") -> bytes:
        told = (when or FIRST_DAY).isoformat()
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.path),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ada Lovelace",
            "GIT_AUTHOR_EMAIL": "ada@example.com",
            "GIT_COMMITTER_NAME": "Grace Hopper",
            "GIT_COMMITTER_EMAIL": "grace@example.com",
            "GIT_AUTHOR_DATE": told,
            "GIT_COMMITTER_DATE": told,
        }
        return subprocess.run(
            ["git", "-C", str(self.path), "-c", "core.quotepath=off", *arguments],
            env=environment,
            input=given,
            check=True,
            capture_output=True,
        ).stdout

    # Making history

    def commit(
        self,
        files: Mapping[str, str | bytes | None] | None = None,
        message: str = "",
        *,
        when: datetime | None = None,
        author: str = "",
    ) -> str:
        """Writes (None: deletes) some files and commits the whole folder."""
        for name, text in (files or {}).items():
            file = self.path / name
            if text is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(text.encode() if isinstance(text, str) else text)
        self.run("add", "-A")
        more = ["--author", author] if author else []
        self.run(
            *("commit", "-q", "--allow-empty", "--allow-empty-message", *more),
            *("-m", message or f"Change {self._hours + 1}"),
            when=when or self._next(),
        )
        return self.sha()

    def merge(self, *branches: str, when: datetime | None = None) -> str:
        self.run("merge", "-q", "--no-ff", "-m", "Merge", *branches, when=when or self._next())
        return self.sha()

    def switch(self, branch: str, start: str = "") -> None:
        self.run("checkout", "-q", *(["-b", branch, start] if start else [branch]))

    def many(self, number: int, *, file: str = "many.txt") -> str:
        """A long line of commits on the branch that is checked out, in one go."""
        branch = self.run("symbolic-ref", "HEAD").strip()
        lines = []
        for count in range(number):
            when = int(self._next().timestamp())
            text = "".join(f"{line}\n" for line in range(count + 1))
            lines += [
                f"commit {branch}",
                f"author Ada Lovelace <ada@example.com> {when} +0000",
                f"committer Ada Lovelace <ada@example.com> {when} +0000",
                f"data {len(f'Number {count}')}",
                f"Number {count}",
            ]
            if count == 0 and self.has_commits():
                lines.append(f"from {branch}^0")
            lines += [f"M 100644 inline {file}", f"data {len(text)}", text]
        self.run("fast-import", "--quiet", "--date-format=raw", given="\n".join(lines).encode())
        self.run("reset", "-q", "--hard")
        return self.sha()

    def _next(self) -> datetime:
        self._hours += 1
        return FIRST_DAY + timedelta(hours=self._hours)

    # Asking

    def has_commits(self) -> bool:
        return bool(self.run("for-each-ref", "refs/heads"))

    def sha(self, name: str = "HEAD") -> str:
        return self.run("rev-parse", "--verify", name).strip()

    def knows(self, sha: str) -> bool:
        try:
            self.run("cat-file", "-e", f"{sha}^{{commit}}")
        except subprocess.CalledProcessError:
            return False
        return True

    def reachable(self, *names: str) -> list[str]:
        return self.run("rev-list", *names).split()

    def branches(self) -> dict[str, str]:
        told = self.run("for-each-ref", "--format=%(objectname) %(refname:short)", "refs/heads")
        pairs = (line.split(" ", 1) for line in told.splitlines())
        return {name: sha for sha, name in pairs}

    def numstat(self, *names: str) -> dict[str, tuple[int, int]]:
        """What `git log --numstat` counts: nothing for merges."""
        return {row.sha: (row.additions, row.deletions) for row in self.log(*names, merges="off")}

    def log(self, *arguments: str, merges: str = "first-parent") -> list[Row]:
        told = self.raw(
            "log", f"--format={FORMAT}", "--numstat", f"--diff-merges={merges}", *arguments
        ).decode(errors="replace")
        return list(_rows(told))

    def show(self, shas: Sequence[str]) -> list[Row]:
        return self.log("--no-walk=unsorted", *shas) if shas else []

    def tree(self, name: str) -> list[tuple[str, str, str, str, int]]:
        """(mode, type, sha, path, size) of everything, folders too."""
        told = self.run("ls-tree", "-r", "-t", "-l", "-z", name)
        rows = []
        for line in told.split("\0")[:-1]:
            meta, _, path = line.partition("\t")
            mode, kind, sha, size = meta.split()
            rows.append((mode, kind, sha, path, 0 if size == "-" else int(size)))
        return rows

    def diff(self, old: str, new: str) -> list[tuple[str, str, str]]:
        """(A, M, D or R, old path, new path)."""
        words = self.run("diff", "--name-status", "-M", "-z", old, new).split("\0")[:-1]
        found = []
        while words:
            status = words.pop(0)[0]
            path = words.pop(0)
            found.append((status, path, words.pop(0) if status == "R" else path))
        return found


def _rows(told: str) -> Iterator[Row]:
    for part in told.split("\x1e")[1:]:
        head, _, stats = part.partition("\x1d")
        sha, parents, name, email, date, message = head.split("\x1f")
        counted = [line.split("\t")[:2] for line in stats.strip().splitlines()]
        yield Row(
            sha,
            parents.split(),
            name,
            email,
            date,
            message.rstrip("\n"),
            sum(int(added) for added, _ in counted if added != "-"),
            sum(int(deleted) for _, deleted in counted if deleted != "-"),
        )
