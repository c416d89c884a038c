"""Repositories built with real git, fast: a history is one stream into `git fast-import`."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}
NOON = 1_700_000_000


def git(path: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    done = subprocess.run(
        ["git", "-C", str(path), *arguments],
        input=stdin,
        capture_output=True,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def text(path: Path, *arguments: str) -> str:
    return git(path, *arguments).decode().strip()


@dataclass
class Source:
    """A bare repository, and commits that wait to be written into it."""

    path: Path
    marks: dict[str, str] = field(default_factory=dict)
    _stream: bytearray = field(default_factory=bytearray)
    _count: int = 0

    def commit(
        self,
        branch: str,
        files: Mapping[str, bytes | None] | None = None,
        *,
        parents: Sequence[str] = (),
        message: str | bytes = "A change",
        author: str | bytes = "Ada <ada@example.org>",
        when: int = NOON,
        encoding: str = "",
        modes: Mapping[str, str] | None = None,
    ) -> str:
        """A commit on top of the first parent (none: a root). Its mark stands for its sha."""
        self._count += 1
        mark = f":{self._count}"
        person = author if isinstance(author, bytes) else author.encode()
        said = message if isinstance(message, bytes) else message.encode()
        out = self._stream
        if not parents:
            out += f"reset refs/heads/{branch}\n".encode()
        out += f"commit refs/heads/{branch}\nmark {mark}\n".encode()
        out += b"author %b %d +0000\n" % (person, when)
        out += b"committer Ada <ada@example.org> %d +0000\n" % when
        if encoding:
            out += f"encoding {encoding}\n".encode()
        out += b"data %d\n%b\n" % (len(said), said)
        for number, parent in enumerate(parents):
            out += f"{'merge' if number else 'from'} {self.marks.get(parent, parent)}\n".encode()
        for path, data in (files or {}).items():
            if data is None:
                out += f"D {path}\n".encode()
            else:
                mode = (modes or {}).get(path, "100644")
                out += f"M {mode} inline {path}\ndata {len(data)}\n".encode() + data + b"\n"
        out += b"\n"
        return mark

    def submodule(self, branch: str, path: str, sha: str, *, parents: Sequence[str] = ()) -> str:
        mark = self.commit(branch, parents=parents, message="A submodule")
        end = len(self._stream) - 1
        self._stream[end:end] = f"M 160000 {sha} {path}\n".encode()
        return mark

    def point(self, branch: str, mark: str) -> None:
        self._stream += f"reset refs/heads/{branch}\nfrom {self.marks.get(mark, mark)}\n\n".encode()

    def write(self) -> None:
        marks = self.path / "written-marks"
        git(
            self.path,
            *("fast-import", "--quiet", "--force", f"--export-marks={marks}"),
            *([f"--import-marks={marks}"] if marks.exists() else []),
            stdin=bytes(self._stream),
        )
        self._stream.clear()
        for line in marks.read_text().splitlines():
            mark, sha = line.split()
            self.marks[mark] = sha

    def head(self, branch: str = "main") -> str:
        return text(self.path, "rev-parse", f"refs/heads/{branch}")

    def git(self, *arguments: str) -> str:
        return text(self.path, *arguments)


def make_source(path: Path, *, object_format: str = "sha1") -> Source:
    path.mkdir(parents=True)
    git(
        path,
        *("init", "--quiet", "--bare", "--template=", "--initial-branch=main"),
        f"--object-format={object_format}",
    )
    return Source(path)


def raw_commit(source: Source, branch: str, body: bytes) -> str:
    """A commit exactly so, however odd, on a branch of its own."""
    made = git(
        source.path, *("hash-object", "-t", "commit", "-w", "--stdin", "--literally"), stdin=body
    )
    sha = made.decode().strip()
    source.git("update-ref", f"refs/heads/{branch}", sha)
    return sha
