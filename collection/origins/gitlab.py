"""Repositories by the API of GitLab, at gitlab.com or anywhere else."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from collection.choices import State
from collection.origins.data import (
    Batch,
    CommitData,
    FileData,
    Heads,
    OriginProblem,
    Stored,
    Touch,
)
from collection.origins.hosted import Place
from collection.origins.hosts import reading, words
from collection.origins.hosts.base import (
    MOST_BRANCHES,
    MOST_COMMITS,
    MOST_FILES,
    MOST_TOUCHED,
    TOUCHES_EACH,
    HostedOrigin,
    content_limit,
)
from collection.origins.hosts.http import Api, Token
from collection.origins.hosts.ordering import Link, Progress
from collection.origins.hosts.paging import PER_PAGE, following
from collection.origins.hosts.reading import NotUnderstood

BASES = re.compile(r"/api/v4/projects/[^/]+")
REGULAR = ("100644", "100755", "100664")
# GitLab leaves out the end of a comparison that is longer than it likes, and does not say so.
WHOLE_COMPARISON = 100
WHOLE_DIFF = 1024 * 1024
MAX_MAILMAP = 1024 * 1024


class GitLabOrigin(HostedOrigin):
    def _open(self, place: Place, secret: str) -> Api:
        return Api(
            place.url.origin,
            # A dot is written as a number: with a plain one GitLab leads to the wrong place when a
            # project has moved.
            base="/api/v4/projects/" + quote(place.project, safe="").replace(".", "%2E"),
            host=place.host,
            project=place.project,
            token=Token(secret, header="PRIVATE-TOKEN"),
            right="read_api",
            bases=BASES,
            stopped=self._stopped,
        )

    # What is there

    def heads(self) -> Heads:
        """One request, where there are no more branches than fit on a page."""
        with self._understanding():
            try:
                branches, default = self._branches()
            except OriginProblem as problem:
                if problem.state not in (State.NOT_FOUND, State.DENIED):
                    raise
                # The project may be there all the same: empty, or with its code switched off.
                return self._without_branches()
            moved_to = self._moved_to(self._path()) if self._api.moved else ""
            return Heads(branches, default, moved_to)

    def _branches(self) -> tuple[dict[str, str], str]:
        branches: dict[str, str] = {}
        default = ""
        # By name and not by number: numbered pages of branches are slow, and broken in some
        # versions.
        asked = {"pagination": "keyset"}
        for page in self._api.pages("/repository/branches", asked, most=MOST_BRANCHES, quick=True):
            for row in page:
                name = reading.branch(reading.table(row).get("name"))
                if not name:
                    continue
                branches[name] = reading.sha(reading.inner(row, "commit").get("id"))
                if row.get("default") is True:
                    default = name
        return branches, default

    def _without_branches(self) -> Heads:
        project = reading.table(self._api.get("", quick=True).json())
        if project.get("empty_repo") is not True:
            raise words.no_code(self._api.host, self._path_in(project))
        return Heads({}, "", self._moved_to(self._path_in(project)))

    def _path(self) -> str:
        return self._path_in(reading.table(self._api.get("", quick=True).json()))

    @staticmethod
    def _path_in(project: Mapping[str, Any]) -> str:
        path = project.get("path_with_namespace")
        if not isinstance(path, str):
            raise NotUnderstood
        return path

    # Commits

    def history(
        self,
        head: str,
        *,
        known: Sequence[str] = (),
        since: datetime | None = None,
        stored: Stored | None = None,
    ) -> Iterator[Batch]:
        """A range of commits is asked for, so that nothing is missed whatever its date.

        Where none of `known` is there any more the history was replaced, and any of it may be new
        with old dates: all of it is asked for again, not only what is newer than the rows that are
        there. These are not stored twice.
        """
        if head in known:
            yield Batch((), position=head)
            return
        with self._understanding():
            for old in reversed(known):
                span = _Span(self, f"{old}..{head}")
                first = span.page(1)
                # An unknown commit makes an error in some versions and an empty list in others.
                if first.rows or (first.found and self._exists(old)):
                    break
            else:
                old = ""
                span = _Span(self, head, since=since)
                first = span.page(1)
                if not first.rows and not self._exists(head):
                    raise words.commit_gone(self._api.host)
            way = _Way(head=head, since=since, stored=stored, progress=Progress(old))
            yield from self._oldest_first(span, first, way)

    def _oldest_first(self, span: "_Span", first: "_Page", way: "_Way") -> Iterator[Batch]:
        """The list comes newest first. Its pages are taken from the last to the first, so that
        what has come is always whole and a collection that breaks off goes on from there."""
        pages = {1: first}
        last = self._last_page(span, pages)
        expected = 0
        before = ""
        for number in range(last, 0, -1):
            page, there = self._unless_stored(span, number, pages.pop(number, None), way)
            if number == last:
                expected = (last - 1) * len(first.rows) + len(page.rows)
            links = [_link(row) for row in reversed(page.rows)]
            if not links and number == last > 1:
                continue  # it promised one more, and there was none
            newest = links[-1].sha if links else ""
            if number > 1 and newest in ("", before):
                raise NotUnderstood  # it says the same again, or nothing in between
            before = newest
            commits = [
                _commit(row, link)
                for row, link in zip(reversed(page.rows), links, strict=True)
                if link.sha not in there
            ]
            if way.since is not None:
                commits = [each for each in commits if each.committed_date >= way.since]
            position = way.progress.after(links)
            yield Batch(commits, position=position if number > 1 else way.head, expected=expected)

    def _unless_stored(
        self, span: "_Span", number: int, page: "_Page | None", way: "_Way"
    ) -> tuple["_Page", Collection[str]]:
        """A page with its line counts, and what is stored of it. Counting is what takes GitLab its
        time: of a branch that has most of its history from another one, it is asked for the names
        first, until there is a page of which none is stored."""
        if page is not None:
            return page, ()
        if way.stored is None:
            return span.page(number), ()
        page = span.page(number, stats=False)
        shas = [_link(row).sha for row in page.rows]
        there = way.stored(shas)
        if not there:
            way.stored = None
        if all(sha in there for sha in shas):
            return page, there
        return span.page(number), there

    def _last_page(self, span: "_Span", pages: dict[int, "_Page"]) -> int:
        """GitLab does not say how many pages of commits there are. Doubling and halving finds the
        last of a thousand in twenty cheap questions."""
        if not pages[1].more:
            return 1
        most = MOST_COMMITS // PER_PAGE
        low, high = 1, 2
        while True:
            page = span.page(high, stats=high == 2)
            if high == 2:
                pages[high] = page
            if not page.more:
                break
            if high >= most:
                raise words.too_many(self._api.host, MOST_COMMITS)
            low, high = high, min(high * 2, most)
        # There is more behind `low`, and nothing behind `high`.
        while high - low > 1:
            middle = (low + high) // 2
            if span.page(middle, stats=False).more:
                low = middle
            else:
                high = middle
        return high

    def contains(self, head: str, sha: str) -> bool:
        if head == sha:
            return True
        with self._understanding():
            answer = self._api.get(
                "/repository/merge_base",
                {"refs[]": [head, sha]},
                # 400: no such commit; 404: the two have nothing in common.
                fine=(400, 404),
            )
            if answer.status != 200:
                return False
            return reading.sha(reading.table(answer.json()).get("id")) == sha

    def left_behind(self, head: str, old: str) -> Iterator[str]:
        span = _Span(self, f"{head}..{old}")
        with self._understanding():
            for number in range(1, MOST_COMMITS // PER_PAGE):
                page = span.page(number, stats=False)
                yield from (reading.sha(reading.table(row).get("id")) for row in page.rows)
                if not page.more:
                    return

    def _exists(self, sha: str) -> bool:
        answer = self._api.get(f"/repository/commits/{sha}", {"stats": "false"}, fine=(400, 404))
        return answer.status == 200

    # Files

    def files(self, head: str) -> Iterator[FileData]:
        if self._tree[0] != head:
            with self._understanding():
                self._tree = (head, sorted(self._files(head), key=lambda file: file.path))
        yield from self._tree[1]

    def _files(self, head: str) -> Iterator[FileData]:
        asked = {"ref": head, "recursive": "true", "pagination": "keyset"}
        try:
            for page in self._api.pages("/repository/tree", asked, most=MOST_FILES):
                for row in page:
                    if reading.table(row).get("mode") in REGULAR and row.get("type") == "blob":
                        # GitLab does not say how large it is.
                        yield FileData(reading.path(row.get("path")), reading.sha(row["id"]), 0)
        except OriginProblem as problem:
            # It has no tree where there are no files.
            if problem.state is not State.NOT_FOUND or not self._exists(head):
                raise

    def contents(self, head: str, files: Iterable[FileData]) -> Iterator[tuple[FileData, bytes]]:
        for file in files:
            answer = self._api.get(
                f"/repository/blobs/{file.blob}/raw", fine=(404,), limit=content_limit(), cut=True
            )
            if answer.status != 200:
                raise words.commit_gone(self._api.host)
            yield file, answer.body

    def renames(self, old: str, new: str) -> Mapping[str, str]:
        with self._understanding():
            return {
                reading.path(diff.get("old_path")): reading.path(diff.get("new_path"))
                for diff in self._compared(old, new)
                if diff.get("renamed_file") is True
            }

    def touches(
        self, head: str, *, known: Sequence[str] = (), wanted: Callable[[str], bool]
    ) -> Iterator[Touch]:
        """The newest commits of each file that changed, one request a file: a reader of a document
        looks at those, and a host is not asked for the paths of every commit it ever had."""
        if head in known:
            return
        with self._understanding():
            old = next((sha for sha in reversed(known) if self._exists(sha)), "")
            paths = self._changed(old, head) if old else [file.path for file in self.files(head)]
            chosen = [path for path in paths if wanted(path)]
            span = _Span(self, f"{old}..{head}" if old else head)
            for path in chosen[:MOST_TOUCHED]:
                page = span.page(1, stats=False, path=path, size=TOUCHES_EACH)
                for row in page.rows:
                    yield Touch(reading.sha(reading.table(row).get("id")), path)

    def _changed(self, old: str, new: str) -> list[str]:
        diffs = self._compared(old, new)
        size = sum(len(diff.get("diff") or "") for diff in diffs)
        if 0 < len(diffs) < WHOLE_COMPARISON and size < WHOLE_DIFF:
            return [
                reading.path(diff.get("new_path"))
                for diff in diffs
                if diff.get("deleted_file") is not True
            ]
        before = {(file.path, file.blob) for file in self._files(old)}
        return [file.path for file in self.files(new) if (file.path, file.blob) not in before]

    def _compared(self, old: str, new: str) -> list[Mapping[str, Any]]:
        answer = self._api.get(
            "/repository/compare", {"from": old, "to": new, "straight": "true"}, fine=(400, 404)
        )
        if answer.status != 200:  # `old` is gone
            return []
        return [
            reading.table(row) for row in reading.rows(reading.table(answer.json()).get("diffs"))
        ]

    def mailmap(self, head: str) -> str:
        answer = self._api.get(
            "/repository/files/.mailmap/raw",
            {"ref": head},
            fine=(404,),
            limit=MAX_MAILMAP,
            cut=True,
        )
        return reading.plain(answer.body) if answer.status == 200 else ""


@dataclass
class _Way:
    """Where a history leads, and what is spared on the way."""

    head: str
    since: datetime | None
    stored: Stored | None
    progress: Progress


class _Page:
    __slots__ = ("found", "more", "rows")

    def __init__(self, rows: list[Any], *, more: bool, found: bool) -> None:
        self.rows = rows
        self.more = more
        # Whether the host knows what was asked for.
        self.found = found


class _Span:
    """A stretch of history, in pages."""

    def __init__(self, origin: GitLabOrigin, name: str, *, since: datetime | None = None) -> None:
        self._origin = origin
        self._name = name
        self._since = since

    def page(
        self, number: int, *, stats: bool = True, path: str = "", size: int = PER_PAGE
    ) -> _Page:
        asked = {
            "ref_name": self._name,
            # Children before parents, whatever the clocks of their authors said.
            "order": "topo",
            "per_page": str(size),
            "page": str(number),
        }
        if stats:
            asked["with_stats"] = "true"
        if path:
            asked["path"] = path
        if self._since is not None:
            asked["since"] = self._since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        answer = self._origin._api.get("/repository/commits", asked, fine=(400, 404))
        if answer.status != 200:
            return _Page([], more=False, found=False)
        rows = reading.rows(answer.json())
        return _Page(rows, more=bool(following(answer.headers, asked, len(rows))), found=True)


def _link(row: Any) -> Link:
    row = reading.table(row)
    parents = tuple(reading.sha(parent) for parent in reading.rows(row.get("parent_ids")))
    return Link(reading.sha(row.get("id")), parents)


def _commit(row: Mapping[str, Any], link: Link) -> CommitData:
    # GitLab counts a merge against its first parent; git log, and so the rest of this site, counts
    # nothing for it: its lines are those of the commits that it merges.
    merge = len(link.parents) > 1
    stats = {"additions": 0, "deletions": 0} if merge else reading.table(row.get("stats"))
    return CommitData(
        sha=link.sha,
        parents=link.parents,
        author_name=reading.person(row.get("author_name")),
        author_email=reading.person(row.get("author_email")),
        committed_date=reading.moment(row.get("committed_date")),
        additions=reading.lines(stats.get("additions")),
        deletions=reading.lines(stats.get("deletions")),
        subject=reading.subject(row.get("message") or row.get("title")),
    )
