"""A history to measure with, and what `git log --numstat` says of it."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LOG = ("log", "--numstat", "--format=commit %H", "main", "--")


class Lines(NamedTuple):
    additions: int
    deletions: int


def git(path: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(path), *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def part_of(source: Path, head: str, count: int, folder: Path) -> Path:
    """A repository of its own with the first commits of another's main line, at least so many."""
    line = git(source, "rev-list", "--first-parent", "--reverse", head).splitlines()
    low, high = 0, len(line) - 1
    while low < high:
        middle = (low + high) // 2
        if int(git(source, "rev-list", "--count", line[middle])) < count:
            low = middle + 1
        else:
            high = middle
    made = folder / f"{count}.git"
    subprocess.run(["git", "init", "-q", "--bare", "--initial-branch=main", made], check=True)
    # Packed by git itself, as a copy that is fetched is.
    git(source, "push", "-q", f"file://{made}", f"{line[low]}:refs/heads/main")
    git(made, "gc", "-q")
    return made


def raw_seconds(path: Path) -> float:
    """One `git log --numstat`, read by nobody."""
    began = time.monotonic()
    subprocess.run(["git", "-C", str(path), *LOG], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def lines_by_git(path: Path) -> dict[str, Lines]:
    return dict(_lines(path))


def _lines(path: Path) -> Iterator[tuple[str, Lines]]:
    log = subprocess.Popen(["git", "-C", str(path), *LOG], stdout=subprocess.PIPE)
    assert log.stdout is not None
    sha, additions, deletions = "", 0, 0
    for line in log.stdout:
        if line.startswith(b"commit "):
            if sha:
                yield sha, Lines(additions, deletions)
            sha, additions, deletions = line.split()[1].decode(), 0, 0
        elif line.strip():
            added, deleted = line.split(b"\t")[:2]
            if added != b"-":
                additions += int(added)
                deletions += int(deleted)
    if sha:
        yield sha, Lines(additions, deletions)
    assert log.wait() == 0
