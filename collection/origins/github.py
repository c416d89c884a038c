"""Repositories by the API of GitHub, at github.com or at an Enterprise server."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from collection.origins.data import (
    Batch,
    CommitData,
    FileData,
    Heads,
    OriginProblem,
    Stored,
    Touch,
)
from collection.origins.hosted import GITHUB, Place
from collection.origins.hosts import github_rows, graphql, reading, words
from collection.origins.hosts.base import (
    MOST_BRANCHES,
    MOST_COMMITS,
    MOST_FILES,
    MOST_TOUCHED,
    TOUCHES_EACH,
    HostedOrigin,
    content_limit,
)
from collection.origins.hosts.github_rows import Graph
from collection.origins.hosts.http import Answer, Api, Token
from collection.origins.hosts.ordering import Link, Progress, parents_first
from collection.origins.hosts.paging import PER_PAGE
from collection.origins.hosts.reading import NotUnderstood

# GitHub's cloud for companies that have it at home.
GHE = ".ghe.com"
# As GitHub's own page names it.
RIGHT = "Contents: Read-only"
RAW = "application/vnd.github.raw+json"
BASES = re.compile(r"(/api/v3)?/(repos/[^/]+/[^/]+|repositories/[0-9]+)")
MOST_FOLDERS = 5_000
STORED_AT_ONCE = 1_000
MAX_MAILMAP = 1024 * 1024
# Without a token every commit is a request of sixty an hour: what came is stored soon.
SINGLE_COMMITS_AT_ONCE = 10
# Requests that are left to others when there are few.
RESERVE = 10


class GitHubOrigin(HostedOrigin):
    _graphql: str
    _owner: str
    _name: str
    _known_to_host: bool
    _compared: tuple[tuple[str, str, int], Answer] = (("", "", 0), Answer(404, {}, b""))

    def _open(self, place: Place, secret: str) -> Api:
        self._owner, self._name = place.parts
        token = Token(secret, header="Authorization", form="Bearer {}")
        self._known_to_host = bool(token)
        prefix = ""
        if place.host == GITHUB or place.host.endswith(GHE):
            origin = f"https://api.{place.host}"
            self._graphql = "/graphql"
        else:
            origin = place.url.origin
            prefix = "/api/v3"
            self._graphql = "/api/graphql"
        return Api(
            origin,
            base=f"{prefix}/repos/{quote(self._owner)}/{quote(self._name)}",
            host=place.host,
            project=place.project,
            token=token,
            right=RIGHT,
            bases=BASES,
            headers={
                "Accept": "application/vnd.github+json",
                "X-GitHub-Api-Version": "2022-11-28",
            },
            stopped=self._stopped,
        )

    # What is there

    def heads(self) -> Heads:
        """Two requests, where there are no more branches than fit on a page."""
        with self._understanding():
            project = reading.table(self._api.get("", quick=True).json())
            branches: dict[str, str] = {}
            for page in self._api.pages("/branches", {}, most=MOST_BRANCHES, quick=True):
                for row in page:
                    name = reading.branch(reading.table(row).get("name"))
                    if name:
                        branches[name] = reading.sha(reading.inner(row, "commit").get("sha"))
            default = project.get("default_branch")
            full_name = project.get("full_name")
            if not isinstance(full_name, str):
                raise NotUnderstood
            return Heads(
                branches,
                default if isinstance(default, str) and default in branches else "",
                self._moved_to(full_name),
            )

    # Commits

    def history(
        self,
        head: str,
        *,
        known: Sequence[str] = (),
        since: datetime | None = None,
        stored: Stored | None = None,
    ) -> Iterator[Batch]:
        """First which commits, then what they are: so they come parents first, and what has come
        is always whole, whatever the dates say that GitHub puts them in order by.

        Where none of `known` is there any more the history was replaced, and any of it may be new
        with old dates: all of it is asked for again, not only what is newer than the rows that are
        there. These are not stored twice.
        """
        if head in known:
            yield Batch((), position=head)
            return
        with self._understanding():
            graph, start = self._graph(head, known, since, to_read=stored is None)
            order = parents_first(graph)
            left = order if stored is None else _without(order, stored)
            self._check_quota(len(left))
            passed = iter(order)
            progress = Progress(start)
            done = 0
            for commits in self._commits(left, graph):
                done += len(commits)
                position = progress.after(_up_to(passed, commits[-1].sha, graph))
                if since is not None:
                    commits = [commit for commit in commits if commit.committed_date >= since]
                last = done == len(left)
                yield Batch(commits, position=head if last else position, expected=len(left))
            if not left:
                yield Batch((), position=head)

    def _graph(
        self, head: str, known: Sequence[str], since: datetime | None, *, to_read: bool
    ) -> tuple[Graph, str]:
        """The commits to come, and the one that they begin behind. `to_read`: all of their line
        counts will be asked for."""
        for old in reversed(known):
            graph = self._between(old, head, to_read=to_read)
            if graph is not None:
                return graph, old
        return self._all(head, since, to_read=to_read), ""

    def _between(self, old: str, new: str, *, to_read: bool = False) -> Graph | None:
        """What can be reached from `new` and not from `old`; None where GitHub cannot say."""
        graph: Graph = {}
        for number in range(1, MOST_COMMITS // PER_PAGE):
            answer = self._compare(old, new, page=number)
            if answer.status != 200:
                return None
            compared = reading.table(answer.json())
            total = reading.lines(compared.get("total_commits"))
            if to_read:
                self._check_quota(total)
            commits = github_rows.parents_of(reading.rows(compared.get("commits")))
            graph.update(commits)
            if len(graph) >= total:
                # Oldest first here, and newest first in the list of all.
                return dict(reversed(graph.items()))
            if not commits:
                return None
        raise words.too_many(self._api.host, MOST_COMMITS)

    def _all(self, head: str, since: datetime | None, *, to_read: bool) -> Graph:
        asked = {"sha": head}
        if since is not None:
            asked["since"] = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        graph: Graph = {}
        # 404 and 422: no such commit; 409: not a single one.
        for page in self._api.pages("/commits", asked, most=MOST_COMMITS, gone=(404, 409, 422)):
            graph.update(github_rows.parents_of(page))
            if to_read:
                self._check_quota(len(graph))
        return graph

    def _check_quota(self, commits: int) -> None:
        """Before a request is spent on each: GitHub answers sixty an hour to people that it does
        not know, and the question for many commits at once it does not answer to them at all."""
        quota = self._api.quota
        if not self._known_to_host and quota is not None and commits > quota:
            raise words.token_needed(self._api.host)

    def _commits(self, order: Sequence[str], graph: Graph) -> Iterator[list[CommitData]]:
        size = graphql.COMMITS_AT_ONCE if self._known_to_host else SINGLE_COMMITS_AT_ONCE
        start = 0
        while start < len(order):
            part = order[start : start + size]
            try:
                commits = self._details(part, graph)
            except OriginProblem as problem:
                # Too much for one question: GitHub gives up after ten seconds, and a few commits
                # of great size can take those.
                if not problem.again or problem.retry_after is not None or size == 1:
                    raise
                size = max(1, size // 4)
                continue
            start += len(part)
            yield commits

    def _details(self, shas: Sequence[str], graph: Graph) -> list[CommitData]:
        if not self._known_to_host:
            return [github_rows.from_rest(self._single(sha), sha, graph[sha]) for sha in shas]
        answer = self._asked(graphql.commits_question(self._owner, self._name, shas))
        found = [answer.get(f"c{number}") for number in range(len(shas))]
        if None in found:
            raise words.commit_gone(self._api.host)
        return [
            github_rows.from_graphql(row, sha, graph[sha])
            for sha, row in zip(shas, found, strict=True)
        ]

    def _single(self, sha: str) -> Any:
        answer = self._api.get(f"/commits/{sha}", fine=(404, 422))
        if answer.status != 200:
            raise words.commit_gone(self._api.host)
        return answer.json()

    def contains(self, head: str, sha: str) -> bool:
        if head == sha:
            return True
        with self._understanding():
            answer = self._compare(sha, head)
            if answer.status != 200:
                return False
            return reading.table(answer.json()).get("status") in ("ahead", "identical")

    def left_behind(self, head: str, old: str) -> Iterator[str]:
        with self._understanding():
            yield from self._between(head, old) or ()

    def _compare(self, old: str, new: str, *, page: int = 1) -> Answer:
        """Kept for the next question, which is often about the same two."""
        asked = (old, new, page)
        if self._compared[0] != asked:
            answer = self._api.get(
                f"/compare/{old}...{new}",
                {"page": str(page), "per_page": str(PER_PAGE)},
                # Gone, or nothing in common, or more than GitHub compares.
                fine=(404, 422),
            )
            self._compared = (asked, answer)
        return self._compared[1]

    def _asked(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        return graphql.answered(
            self._api.ask(self._graphql, question),
            host=self._api.host,
            project=f"{self._owner}/{self._name}",
            right=RIGHT,
        )

    # Files

    def files(self, head: str) -> Iterator[FileData]:
        if self._tree[0] != head:
            with self._understanding():
                self._tree = (head, self._files(head))
        yield from self._tree[1]

    def _files(self, head: str) -> list[FileData]:
        tree = self._folder(head, recursive=True)
        if tree.get("truncated") is True:
            found = list(self._walk(head))
        else:
            found = list(github_rows.regular_files(reading.rows(tree.get("tree")), ""))
        return sorted(found, key=lambda file: file.path)

    def _walk(self, head: str) -> Iterator[FileData]:
        """Folder by folder: all at once was too much for GitHub."""
        waiting = [(head, "")]
        count = 0
        for _folder in range(MOST_FOLDERS):
            if not waiting:
                return
            sha, prefix = waiting.pop()
            entries = reading.rows(self._folder(sha, recursive=False).get("tree"))
            count += len(entries)
            if count > MOST_FILES:
                break
            yield from github_rows.regular_files(entries, prefix)
            waiting += [
                (reading.sha(entry.get("sha")), f"{prefix}{reading.path(entry.get('path'))}/")
                for entry in entries
                if entry.get("type") == "tree"
            ]
        raise words.too_many(self._api.host, MOST_FILES)

    def _folder(self, sha: str, *, recursive: bool) -> Mapping[str, Any]:
        asked = {"recursive": "1"} if recursive else {}
        answer = self._api.get(f"/git/trees/{sha}", asked, fine=(404, 409, 422))
        if answer.status != 200:
            raise words.commit_gone(self._api.host)
        return reading.table(answer.json())

    def contents(self, head: str, files: Iterable[FileData]) -> Iterator[tuple[FileData, bytes]]:
        for file in files:
            answer = self._api.get(
                f"/git/blobs/{file.blob}",
                fine=(404, 422),
                accept=RAW,
                limit=content_limit(),
                cut=True,
            )
            if answer.status != 200:
                raise words.commit_gone(self._api.host)
            yield file, answer.body

    def renames(self, old: str, new: str) -> Mapping[str, str]:
        """Of the first three hundred files: GitHub compares no more. The others are seen as gone
        here and new there."""
        with self._understanding():
            answer = self._compare(old, new)
            if answer.status != 200:
                return {}
            files = reading.rows(reading.table(answer.json()).get("files") or [])
            return {
                reading.path(file.get("previous_filename")): reading.path(file.get("filename"))
                for file in map(reading.table, files)
                if file.get("status") == "renamed"
            }

    def touches(
        self, head: str, *, known: Sequence[str] = (), wanted: Callable[[str], bool]
    ) -> Iterator[Touch]:
        """The newest commits of each file that changed: a reader of a document looks at those, and
        a host is not asked for the paths of every commit it ever had."""
        if head in known:
            return
        with self._understanding():
            paths = [file.path for file in self.files(head) if wanted(file.path)]
            new: Graph | None = None
            for old in reversed(known):
                new = self._between(old, head)
                if new is not None:
                    before = {(file.path, file.blob) for file in self._files(old)}
                    paths = [
                        file.path
                        for file in self.files(head)
                        if (file.path, file.blob) not in before and wanted(file.path)
                    ]
                    break
            for path, sha in self._touched(head, paths[:MOST_TOUCHED]):
                if new is None or sha in new:
                    yield Touch(sha, path)

    def _touched(self, head: str, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
        if not self._known_to_host:
            if self._api.allowance is not None:
                paths = paths[: max(0, self._api.allowance - RESERVE)]
            for path in paths:
                asked = {"sha": head, "path": path, "per_page": str(TOUCHES_EACH)}
                for row in reading.rows(self._api.get("/commits", asked).json()):
                    yield path, reading.sha(reading.table(row).get("sha"))
            return
        for start in range(0, len(paths), graphql.PATHS_AT_ONCE):
            part = paths[start : start + graphql.PATHS_AT_ONCE]
            question = graphql.paths_question(
                self._owner, self._name, head, part, each=TOUCHES_EACH
            )
            found = reading.inner(self._asked(question), "at")
            for number, path in enumerate(part):
                for node in reading.rows(reading.inner(found, f"c{number}").get("nodes")):
                    yield path, reading.sha(reading.table(node).get("oid"))

    def mailmap(self, head: str) -> str:
        answer = self._api.get(
            "/contents/.mailmap",
            {"ref": head},
            fine=(404,),
            accept=RAW,
            limit=MAX_MAILMAP,
            cut=True,
        )
        return reading.plain(answer.body) if answer.status == 200 else ""


def _without(order: Sequence[str], stored: Stored) -> list[str]:
    left: list[str] = []
    for start in range(0, len(order), STORED_AT_ONCE):
        some = order[start : start + STORED_AT_ONCE]
        there = stored(some)
        left += [sha for sha in some if sha not in there]
    return left


def _up_to(order: Iterator[str], last: str, graph: Graph) -> Iterator[Link]:
    for sha in order:
        yield Link(sha, graph[sha])
        if sha == last:
            return
