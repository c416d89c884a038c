"""The same history as git itself tells it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from collection.origins.data import Batch, CommitData
from tests.collection.git.building import Source


class Lines(NamedTuple):
    additions: int
    deletions: int


def lines_by_git(source: Source, head: str) -> dict[str, Lines]:
    """Added and deleted lines of each commit, by `git log --numstat`."""
    found: dict[str, Lines] = {}
    sha = ""
    for line in source.git("log", "--numstat", "--format=commit %H", head, "--").splitlines():
        if line.startswith("commit "):
            sha = line.removeprefix("commit ")
            found[sha] = Lines(0, 0)
        elif line:
            added, deleted = line.split("\t")[:2]
            if added != "-":
                so_far = found[sha]
                found[sha] = Lines(so_far.additions + int(added), so_far.deletions + int(deleted))
    return found


def reachable(source: Source, head: str, known: Sequence[str] = ()) -> set[str]:
    """Not with `--not`: that goes wrong where a parent claims to be younger than its children."""
    found = set(source.git("rev-list", head, "--").split())
    for sha in known:
        found -= reachable(source, sha)
    return found


def all_of(batches: Iterable[Batch]) -> list[CommitData]:
    return [commit for batch in batches for commit in batch.commits]


def lines_of(commits: Iterable[CommitData]) -> dict[str, Lines]:
    return {commit.sha: Lines(commit.additions, commit.deletions) for commit in commits}
