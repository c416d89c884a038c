"""Putting a history in order, and knowing how far one has come in it."""

from collections.abc import Iterable
from typing import NamedTuple

from collection.origins.hosts.reading import NotUnderstood


class Link(NamedTuple):
    """A commit, as far as its place in a history goes."""

    sha: str
    parents: tuple[str, ...]


def parents_first(graph: dict[str, tuple[str, ...]]) -> list[str]:
    """From commit → parents, as it came (newest first, by dates that may be wrong), to a list in
    which everything that a commit stands on is before it."""
    ordered: dict[str, None] = {}
    entered: set[str] = set()
    for start in reversed(graph):
        waiting = [start]
        while waiting:
            sha = waiting[-1]
            before = [parent for parent in graph[sha] if parent in graph and parent not in ordered]
            if sha in ordered or not before:
                ordered[sha] = None
                waiting.pop()
            elif sha in entered:
                raise NotUnderstood  # a commit that stands on itself: nobody can make one
            else:
                entered.add(sha)
                waiting.extend(before)
    return list(ordered)


class Progress:
    """Which commit a collection may begin behind next time, while commits come parents first.

    Everything under the commit has come then, and it stands on the one before: the end of a branch
    that was merged may have all its own under it, and nothing of the thousands beside it.
    """

    def __init__(self, start: str = "") -> None:
        """`start`: what was known at first; empty: nothing."""
        self._position = start
        # Of what came since, the commits that stand on it.
        self._above: set[str] = set()

    def after(self, commits: Iterable[Link]) -> str:
        """The new position once these have come too; empty where there is none."""
        reached = ""
        for commit in commits:
            stands = self._position in commit.parents or not self._above.isdisjoint(commit.parents)
            if stands or not self._position:
                self._above.add(commit.sha)
                reached = commit.sha
        if reached:
            self._position = reached
            self._above.clear()
        return reached
