"""What GitHub's answers say, as our own data."""

from collections.abc import Iterator, Mapping
from sys import intern
from typing import Any

from collection.origins.data import CommitData, FileData
from collection.origins.hosts import reading

REGULAR = ("100644", "100755", "100664")

# Commit → parents.
Graph = dict[str, tuple[str, ...]]


def parents_of(rows: list[Any]) -> Graph:
    # The parent of one is the next one: the text is kept once.
    return {
        intern(reading.sha(reading.table(row).get("sha"))): tuple(
            intern(reading.sha(reading.table(parent).get("sha")))
            for parent in reading.rows(row.get("parents"))
        )
        for row in rows
    }


def regular_files(entries: list[Any], prefix: str) -> Iterator[FileData]:
    for entry in map(reading.table, entries):
        if entry.get("type") == "blob" and entry.get("mode") in REGULAR:
            yield FileData(
                prefix + reading.path(entry.get("path")),
                reading.sha(entry.get("sha")),
                reading.lines(entry.get("size")),
            )


def from_graphql(row: Any, sha: str, parents: tuple[str, ...]) -> CommitData:
    row = reading.table(row)
    author = reading.table(row.get("author") or {})
    return _commit(sha, parents, author, row.get("committedDate"), row, row.get("message"))


def from_rest(row: Any, sha: str, parents: tuple[str, ...]) -> CommitData:
    commit = reading.inner(row, "commit")
    return _commit(
        sha,
        parents,
        reading.table(commit.get("author") or {}),
        reading.inner(commit, "committer").get("date"),
        reading.inner(row, "stats"),
        commit.get("message"),
    )


def _commit(
    sha: str,
    parents: tuple[str, ...],
    author: Mapping[str, Any],
    date: Any,
    stats: Mapping[str, Any],
    message: Any,
) -> CommitData:
    # GitHub counts a merge against its first parent; git log, and so the rest of this site, counts
    # nothing for it: its lines are those of the commits that it merges.
    merge = len(parents) > 1
    return CommitData(
        sha=sha,
        parents=parents,
        author_name=reading.person(author.get("name")),
        author_email=reading.person(author.get("email")),
        committed_date=reading.moment(date),
        additions=0 if merge else reading.lines(stats.get("additions")),
        deletions=0 if merge else reading.lines(stats.get("deletions")),
        subject=reading.subject(message),
    )
