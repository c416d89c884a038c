"""The commits of a branch: which, in what order, with how many lines. Git itself is the measure."""

import os
import random
from datetime import UTC, datetime, timedelta

import pytest

from collection.models.commit import PERSON_LENGTH, SUBJECT_LENGTH
from collection.origins.data import OriginProblem, Stopped
from collection.origins.git import history
from collection.origins.git.origin import GitOrigin
from tests.collection.git.building import NOON, Source, make_source, raw_commit
from tests.collection.git.comparing import all_of, lines_by_git, lines_of, reachable
from tests.collection.git.serving import processes_below

PEOPLE = ("Ada <ada@example.org>", "花子 <hanako@example.jp>", "Bo O'Hara <bo@example.org>")


@pytest.fixture
def small_portions(monkeypatch):
    """So that little histories go through several batches and processes."""
    monkeypatch.setattr(history, "PORTION", 7)
    monkeypatch.setattr(history, "usable_cores", lambda: 3)


class Random:
    """A history as teams make it: branches that live long and are merged late, rebases, clocks that
    are wrong, files that move, and now and then a push by force."""

    def __init__(self, source: Source, seed: int) -> None:
        self.source = source
        self.dice = random.Random(seed)
        self.number = 0
        # (mark, files) of the head of each branch.
        self.heads = {"main": self.commit("main", [], {})}

    def commit(self, branch, parents, files):
        self.number += 1
        dice = self.dice
        files = dict(files)
        changed = {}
        for _change in range(dice.choice((0, 1, 1, 2, 4))):
            path = f"d{dice.randrange(4)}/{dice.choice('文bcdef')}"
            lines = files.get(path, b"").splitlines(keepends=True)
            fate = dice.random()
            if fate < 0.15 and lines:
                changed[path] = None
                del files[path]
            elif fate < 0.3 and lines:
                moved = f"moved/{self.number}"
                changed[path], changed[moved] = None, files.pop(path)
                files[moved] = changed[moved]
            elif fate < 0.4:
                files[path] = changed[path] = bytes([0, self.number % 256])
            else:
                at = dice.randrange(len(lines) + 1)
                lines[at : at + dice.randrange(3)] = [
                    f"line {dice.random()}\n".encode() for _line in range(dice.randrange(12))
                ]
                files[path] = changed[path] = b"".join(lines)
        mark = self.source.commit(
            branch,
            changed,
            parents=parents,
            author=dice.choice(PEOPLE),
            message=f"Change {self.number}",
            when=NOON + self.number * 60 + dice.choice((0, 0, 0, -90_000, 90_000, 10**7)),
        )
        return mark, files

    def go_on(self, steps: int) -> None:
        dice = self.dice
        for _step in range(steps):
            branch = dice.choice(list(self.heads))
            head, files = self.heads[branch]
            fate = dice.random()
            if fate < 0.15 and len(self.heads) < 6:
                new = f"topic/{self.number}"
                self.heads[new] = self.commit(new, [head], files)
            elif fate < 0.3 and len(self.heads) > 1:
                others = dice.sample([o for o in self.heads if o != branch], 1)
                if len(self.heads) > 3 and dice.random() < 0.3:
                    others = dice.sample([o for o in self.heads if o != branch], 2)
                merged = {}
                for other in others:
                    merged.update(self.heads[other][1])
                merged.update(files)
                mark, _changed = self.commit(
                    branch, [head, *(self.heads[other][0] for other in others)], files
                )
                self.heads[branch] = mark, files
                for other in others:
                    if other != "main" and dice.random() < 0.5:
                        del self.heads[other]
            else:
                self.heads[branch] = self.commit(branch, [head], files)

    def force(self) -> None:
        """The branch begins again at an older commit, or at nothing."""
        mark = f":{self.dice.randrange(1, self.number + 1)}"
        parents = [mark] if self.dice.random() < 0.9 else []
        self.heads["main"] = self.commit("main", parents, {})


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_missed_and_nothing_comes_twice(seed, source, origin, small_portions):
    made = Random(source, seed)
    known: list[str] = []
    stored: dict[str, object] = {}
    for push in range(4):
        made.go_on(made.dice.choice((3, 8, 30)))
        if push == 2:
            made.force()
        source.write()
        head = source.head()
        heads = origin.heads()
        assert heads.branches["main"] == head
        origin.bring({"main": head})
        came = list(origin.history(head, known=known))
        commits = all_of(came)

        new = reachable(source, head, known)
        assert {commit.sha for commit in commits} == new
        assert len(commits) == len(new)
        assert all(batch.expected == len(new) for batch in came)
        whole = reachable(source, head)
        if known:
            assert origin.contains(head, known[0]) == (known[0] in whole)
            gone = reachable(source, known[0]) - whole
            assert set(origin.left_behind(head, known[0])) == gone
            for sha in gone:
                del stored[sha]
        # Parents first, and each position covers exactly what it may.
        seen = set(stored)
        for batch in came:
            for commit in batch.commits:
                assert set(commit.parents) <= seen
                seen.add(commit.sha)
            if batch.position:
                assert reachable(source, batch.position) <= seen
                if known and known[0] in whole:
                    assert origin.contains(batch.position, known[0])
        assert came[-1].position == head

        stored.update(lines_of(commits))
        assert stored == lines_by_git(source, head)
        known = [head]


def test_going_on_from_every_position(source, brought, origin, small_portions):
    made = Random(source, 99)
    made.go_on(25)
    source.write()
    head = brought()
    whole = reachable(source, head)
    seen: set[str] = set()
    for batch in origin.history(head):
        seen.update(commit.sha for commit in batch.commits)
        rest = {commit.sha for commit in all_of(origin.history(head, known=[batch.position]))}
        assert seen | rest == whole


def test_what_is_stored_with_another_branch_need_not_come(source, brought, origin, small_portions):
    made = Random(source, 7)
    made.go_on(30)
    source.write()
    head = brought()
    whole = all_of(origin.history(head))
    other = {commit.sha for commit in whole[::3]}
    asked: list[str] = []

    def stored(shas):
        asked.extend(shas)
        return frozenset(shas) & other

    came = list(origin.history(head, stored=stored))
    assert asked == [commit.sha for commit in whole]
    assert all_of(came) == [commit for commit in whole if commit.sha not in other]
    assert came[-1].position == head
    (empty,) = origin.history(head, stored=frozenset)
    assert (list(empty.commits), empty.position) == ([], head)


def test_commits_that_are_known_no_more_are_left_out(source, brought, origin):
    source.commit("main", {"a": b"1\n"})
    source.write()
    head = brought()
    tree = source.git("rev-parse", f"{head}^{{tree}}")
    known = ["0" * 40, tree, "no sha", "", "--all"]
    assert [commit.sha for commit in all_of(origin.history(head, known=known))] == [head]
    assert not origin.contains(head, "0" * 40)
    assert list(origin.left_behind(head, "0" * 40)) == []


def test_nothing_new_is_one_empty_batch_that_ends_at_the_head(source, brought, origin):
    source.commit("main", {"a": b"1\n"})
    source.write()
    head = brought()
    (batch,) = origin.history(head, known=[head])
    assert (list(batch.commits), batch.position, batch.expected) == ([], head, 0)


def test_since_a_date_whatever_the_order_of_dates(source, brought, origin):
    dates = [NOON, NOON + 50, NOON - 1000, NOON + 10, NOON + 9]
    mark = None
    for number, when in enumerate(dates):
        files = {"a": b"x\n" * number}
        mark = source.commit("main", files, parents=[mark] if mark else [], when=when)
    source.write()
    head = brought()
    since = datetime.fromtimestamp(NOON + 10, UTC)

    def dates_since(moment) -> list[int]:
        came = list(origin.history(head, since=moment))
        assert came[-1].position == head
        return [int(commit.committed_date.timestamp()) for commit in all_of(came)]

    assert dates_since(since) == [NOON + 50, NOON + 10]
    assert dates_since(since - timedelta(milliseconds=1)) == [NOON + 50, NOON + 10]
    assert dates_since(since + timedelta(milliseconds=1)) == [NOON + 50]
    assert dates_since(since + timedelta(days=1)) == []


class TestOddCommits:
    def one(self, origin, head):
        (commit,) = all_of(origin.history(head))
        return commit

    def test_lines_of_every_kind_of_change(self, source, brought, origin):
        lines = b"".join(b"line %d\n" % number for number in range(50))
        first = source.commit("main", {"a": lines, "bin": b"\0\1\2", "run": b"x\n"})
        moved = source.commit("main", {"a": None, "b/c": lines + b"more\n"}, parents=[first])
        binary = source.commit("main", {"bin": b"\0\3"}, parents=[moved])
        mode = source.commit("main", {"run": b"x\n"}, parents=[binary], modes={"run": "100755"})
        link = source.commit("main", {"run": b"a"}, parents=[mode], modes={"run": "120000"})
        empty = source.commit("main", parents=[link])
        sub = source.submodule("main", "lib", "1" * 40, parents=[empty])
        again = source.submodule("main", "lib", "2" * 40, parents=[sub])
        odd = source.commit("main", {'"a\\n\\t\\"b"': b"1\n2"}, parents=[again])
        side = source.commit("side", {"s": b"s\n"}, parents=[first])
        third = source.commit("third", {"t": b"t\n"}, parents=[first])
        source.commit("main", {"s": b"s\n", "t": b"t\n"}, parents=[odd, side, third])
        source.write()
        head = brought()
        commits = all_of(origin.history(head))
        expected = lines_by_git(source, head)
        assert lines_of(commits) == expected
        by_mark = {mark: expected[sha] for mark, sha in source.marks.items()}
        assert by_mark[moved] == (1, 0)
        assert by_mark[binary] == by_mark[mode] == by_mark[empty] == (0, 0)
        assert by_mark[again] == (1, 1)
        merge = commits[-1]
        assert (merge.additions, merge.deletions) == (0, 0)
        assert merge.parents == tuple(source.marks[mark] for mark in (odd, side, third))

    @pytest.mark.parametrize("encoding", ["ISO-2022-JP", "EUC-JP", "Shift_JIS", "ISO-8859-1"])
    def test_encodings(self, source, brought, origin, encoding):
        name, subject = ("花子", "日本語の件名") if encoding != "ISO-8859-1" else ("Zoë", "Über")
        source.commit(
            "main",
            message=subject.encode(encoding),
            author=name.encode(encoding) + b" <h@example.jp>",
            encoding=encoding,
        )
        source.write()
        commit = self.one(origin, brought())
        assert (commit.author_name, commit.subject) == (name, subject)

    def test_bytes_that_are_no_text(self, source, brought, origin):
        source.commit("main", message=b"caf\xe9 \xff", author=b"Zo\xeb <z\xff@example.org>")
        source.write()
        commit = self.one(origin, brought())
        assert commit.subject == "caf\ufffd \ufffd"
        assert commit.author_name == "Zo\ufffd"
        assert commit.author_email == "z\ufffd@example.org"

    def test_very_long_lines(self, source, brought, origin):
        long = "長" * 300_000
        first = source.commit("main", message=long, author=f"{'n' * 900} <{'m' * 900}>")
        source.commit("main", {"a": b"1\n"}, parents=[first], message="short\n\nbody\nmore")
        source.write()
        commits = all_of(origin.history(brought()))
        assert [commit.subject for commit in commits] == ["長" * SUBJECT_LENGTH, "short"]
        assert commits[0].author_name == "n" * PERSON_LENGTH
        assert commits[0].author_email == "m" * PERSON_LENGTH
        assert commits[1].additions == 1

    def test_a_name_that_fills_the_line(self, source, brought, origin):
        tree = source.git("hash-object", "-t", "tree", "-w", "/dev/null")
        person = f"{'n' * 1_000_000} <a@example.org> {NOON} +0000"
        body = f"tree {tree}\nauthor {person}\ncommitter {person}\n\n{'s' * 1_000_000}\n"
        raw_commit(source, "main", body.encode())
        commit = self.one(origin, brought())
        assert commit.author_name == "n" * PERSON_LENGTH
        assert commit.author_email == "a@example.org"
        assert commit.committed_date == datetime.fromtimestamp(NOON, UTC)

    def test_nothing_where_something_is_usual(self, source, brought, origin):
        source.commit("main", message="", author="Nobody <>")
        source.commit("other", message="\n\n  \n", author="<only@example.org>")
        source.write()
        first, second = self.one(origin, brought()), self.one(origin, brought("other"))
        assert (first.subject, first.author_name, first.author_email) == ("", "Nobody", "")
        assert (second.subject, second.author_name) == ("", "")
        assert second.author_email == "only@example.org"

    @pytest.mark.parametrize(
        ("written", "read"),
        [
            ("0 +0000", datetime(1970, 1, 1, tzinfo=UTC)),
            ("-1000 +0000", datetime(1970, 1, 1, tzinfo=UTC)),
            ("nonsense", datetime(1970, 1, 1, tzinfo=UTC)),
            ("", datetime(1970, 1, 1, tzinfo=UTC)),
            ("1700000000 +9999", datetime.fromtimestamp(1700000000, UTC)),
            ("1700000000 -1200", datetime.fromtimestamp(1700000000, UTC)),
            ("253402300800 +0000", datetime(9999, 12, 30, tzinfo=UTC)),
            ("99999999999999 +0000", datetime(9999, 12, 30, tzinfo=UTC)),
            ("9" * 30 + " +0000", datetime(9999, 12, 30, tzinfo=UTC)),
        ],
    )
    def test_dates_that_no_calendar_has(self, source, brought, origin, written, read):
        tree = source.git("hash-object", "-t", "tree", "-w", "/dev/null")
        body = (
            f"tree {tree}\nauthor A <a@example.org> 1 +0000\n"
            f"committer C <c@example.org> {written}\n\nOdd\n"
        )
        raw_commit(source, "main", body.encode())
        commit = self.one(origin, brought())
        assert commit.committed_date == read
        assert commit.subject == "Odd"
        # Every time zone can show it.
        assert commit.committed_date + timedelta(hours=14)

    def test_no_nul_comes_through(self, source, brought, origin):
        tree = source.git("hash-object", "-t", "tree", "-w", "/dev/null")
        person = "A <a@example.org> 1 +0000"
        body = f"tree {tree}\nauthor {person}\ncommitter {person}\n\nbefore\0after\n"
        raw_commit(source, "main", body.encode())
        assert self.one(origin, brought()).subject == "before"

    def test_what_a_repository_replaces_is_read_as_it_was(self, source, brought, origin):
        first = source.commit("main", {"a": b"1\n"}, message="true")
        source.commit("fake", {"a": b"1\n2\n"}, message="false")
        source.write()
        source.git("replace", source.marks[first], source.head("fake"))
        assert self.one(origin, brought()).subject == "true"


def test_a_text_that_is_too_large_to_compare(source, brought, origin):
    source.commit("main", {"a": b"x\n" * 17 * 1024 * 1024, "b": b"1\n"})
    source.write()
    (commit,) = all_of(origin.history(brought()))
    assert commit.additions == 1


def test_an_attribute_in_the_repository_changes_nothing(source, brought, origin):
    source.commit("main", {".gitattributes": b"*.txt binary\n", "a.txt": b"1\n2\n"})
    source.write()
    head = brought()
    assert lines_of(all_of(origin.history(head))) == lines_by_git(source, head)


def test_a_history_with_longer_names_of_commits(tmp_path, repository, small_portions):
    source = make_source(tmp_path / "sources" / "long.git", object_format="sha256")
    Random(source, 5).go_on(25)
    source.write()
    repository.address = str(source.path)
    with GitOrigin(repository) as origin:
        head = origin.heads().branches["main"]
        assert len(head) == 64
        origin.bring({"main": head})
        assert lines_of(all_of(origin.history(head))) == lines_by_git(source, head)


def test_a_head_that_was_not_brought(origin):
    for head in ("0" * 40, "no sha", "--all"):
        with pytest.raises(OriginProblem) as problem:
            list(origin.history(head))
        assert problem.value.again


def test_stopping_in_the_middle(source, repository, small_portions):
    Random(source, 3).go_on(60)
    source.write()
    stop = False
    with GitOrigin(repository, stopped=lambda: stop) as origin:
        head = origin.heads().branches["main"]
        origin.bring({"main": head})
        came = origin.history(head)
        assert next(came).commits
        stop = True
        with pytest.raises(Stopped):
            list(came)


def test_leaving_in_the_middle_ends_the_processes(source, repository, small_portions):
    Random(source, 3).go_on(60)
    source.write()
    with GitOrigin(repository) as origin:
        head = origin.heads().branches["main"]
        origin.bring({"main": head})
        before = processes_below(os.getpid())
        came = origin.history(head)
        next(came)
        came.close()
        assert processes_below(os.getpid()) == before
