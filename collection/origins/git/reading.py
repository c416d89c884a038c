"""What a commit has, and what changed: files, their contents, renames, and who touched what."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from collection.origins.data import FileData, Touch
from collection.origins.git.children import GitFailed
from collection.origins.git.running import Git

REGULAR = (b"100644", b"100755")
# Beyond so many candidates, only files that are the same to the last byte count as renamed.
MOST_RENAMES = 3000
COMMIT = re.compile(rb"/[0-9a-f]{40,64}")
MAILMAP = ".mailmap"
MAILMAP_BYTES = 4 * 1024 * 1024


def files_of(git: Git, repository: Path, head: str, *paths: str) -> Iterator[FileData]:
    streamed = git.stream(
        ["ls-tree", "-r", "-z", "-l", "--full-tree", head, "--", *paths], repository=repository
    )
    for entry in parts_of(streamed):
        about, _tab, path = entry.partition(b"\t")
        mode, kind, blob, size = about.split()
        if kind == b"blob" and mode in REGULAR:
            yield FileData(path=_text(path), blob=blob.decode(), size=int(size))


def renames_between(git: Git, repository: Path, old: str, new: str) -> dict[str, str]:
    streamed = git.stream(
        [
            *("diff-tree", "-r", "-z", "-M", f"-l{MOST_RENAMES}", "--diff-filter=R"),
            *("--name-status", "--no-ext-diff", "--no-textconv", old, new, "--"),
        ],
        repository=repository,
    )
    parts = [_text(part) for part in parts_of(streamed)]
    # How alike they are, what it was called, what it is called.
    return dict(zip(parts[1::3], parts[2::3], strict=True))


def contents_of(
    git: Git, repository: Path, files: Iterable[FileData]
) -> Iterator[tuple[FileData, bytes]]:
    wanted = list(files)
    if not wanted:
        return
    with git.lines_in([file.blob for file in wanted]) as stdin:
        answer = Answer(git.stream(["cat-file", "--batch"], repository=repository, stdin=stdin))
        for file in wanted:
            about = answer.line().split()
            if len(about) != 3:
                raise GitFailed(0, f"error: missing blob {file.blob}")
            data = answer.take(int(about[2]))
            answer.line()  # the end of the line behind it
            yield file, data
        # To the end of it, so that it has said whether all was well.
        answer.finish()


def touches_of(
    git: Git, repository: Path, head: str, known: Sequence[str], wanted: Callable[[str], bool]
) -> Iterator[Touch]:
    with git.lines_in([head, *(f"^{sha}" for sha in known)]) as stdin:
        streamed = git.stream(
            [
                # A file that was moved was touched under both its names.
                *("log", "--stdin", "--topo-order", "-z", "--name-only", "--no-renames"),
                # No path that anybody can have begins with a stroke.
                *("--no-ext-diff", "--no-textconv", "--format=/%H"),
            ],
            repository=repository,
            stdin=stdin,
        )
        sha, first = "", True
        for part in parts_of(streamed):
            if COMMIT.fullmatch(part):
                sha, first = part[1:].decode(), True
                continue
            path = _text(part[1:] if first else part)  # a line ends before the first
            first = False
            if wanted(path):
                yield Touch(sha=sha, path=path)


def mailmap_of(git: Git, repository: Path, head: str) -> str:
    for file in files_of(git, repository, head, MAILMAP):
        if file.path == MAILMAP and file.size <= MAILMAP_BYTES:
            for _file, data in contents_of(git, repository, [file]):
                return data.decode(errors="replace").replace("\0", "")
    return ""


def parts_of(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """What stands between NULs."""
    rest = b""
    for piece in pieces:
        parts = (rest + piece).split(b"\0")
        rest = parts.pop()
        yield from parts
    if rest:
        yield rest


class Answer:
    """A stream that is read by lines and by lengths."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._here = bytearray()

    def line(self) -> bytes:
        while (end := self._here.find(b"\n")) < 0:
            self._more()
        return self._cut(end + 1)[:-1]

    def take(self, length: int) -> bytes:
        while len(self._here) < length:
            self._more()
        return self._cut(length)

    def finish(self) -> None:
        for _piece in self._pieces:
            pass

    def _more(self) -> None:
        piece = next(self._pieces, None)
        if piece is None:
            raise GitFailed(0, "error: the answer ended too early, the copy may be corrupt")
        self._here += piece

    def _cut(self, length: int) -> bytes:
        taken = bytes(self._here[:length])
        del self._here[:length]
        return taken


def _text(path: bytes) -> str:
    return path.decode(errors="replace")
