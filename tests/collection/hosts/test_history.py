"""What comes over an API is what git has, commit for commit."""

from datetime import UTC, datetime, timedelta

import pytest

from collection.choices import Kind

OLD = datetime(2011, 3, 4, 5, 6, 7, tzinfo=UTC)


def collected(origin, head, **wish):
    """All commits of a history; each batch's position covers what has come."""
    return [commit for batch in origin.history(head, **wish) for commit in batch.commits]


def check_same(repository, commits, *names):
    """The same commits, with the counts of `git log --numstat`."""
    assert sorted(each.sha for each in commits) == sorted(repository.reachable(*names))
    counted = {each.sha: (each.additions, each.deletions) for each in commits}
    assert counted == repository.numstat(*names)


def test_first_collection(origin, repository):
    repository.commit({"a.md": "one\ntwo\n", "binary": b"\0\1\2"}, "First\n\nWith a body.")
    repository.commit({"a.md": "one\n"}, "日本語の件名", author="山田 太郎 <taro@example.jp>")
    repository.commit({}, "Nothing at all")
    repository.commit({"b.md": "one\n", "a.md": None}, "Move")
    heads = origin.heads()
    assert heads.branches == {"main": repository.sha()}
    assert heads.default == "main"
    assert heads.moved_to == ""
    commits = collected(origin, heads.branches["main"])
    check_same(repository, commits, "main")
    second = commits[1]
    assert (second.author_name, second.author_email) == ("山田 太郎", "taro@example.jp")
    assert second.subject == "日本語の件名"
    assert second.committed_date == datetime(2026, 1, 5, 11, tzinfo=UTC)
    assert second.parents == (commits[0].sha,)
    assert commits[0].subject == "First"


def test_merges_count_nothing_and_parents_come_first(origin, repository):
    repository.commit({"a": "1\n"})
    repository.switch("side", "main")
    repository.commit({"b": "1\n2\n"}, when=OLD)
    repository.switch("other", "main")
    repository.commit({"c": "1\n2\n3\n"}, when=datetime(2031, 1, 1, tzinfo=UTC))
    repository.switch("main")
    repository.commit({"d": "1\n"}, when=OLD - timedelta(days=400))
    repository.merge("side", "other")
    commits = collected(origin, repository.sha())
    check_same(repository, commits, "main")
    merge = commits[-1]
    assert len(merge.parents) == 3
    assert (merge.additions, merge.deletions) == (0, 0)
    seen = set()
    for commit in commits:
        assert seen.issuperset(commit.parents)
        seen.add(commit.sha)


def test_continues_with_what_is_new_whatever_its_date(origin, repository):
    repository.commit({"a": "1\n"})
    repository.switch("old", "main")
    repository.commit({"b": "1\n"}, when=OLD)
    repository.commit({"b": "1\n2\n"}, when=OLD + timedelta(days=1))
    repository.switch("main")
    stored = repository.commit({"a": "2\n"})
    repository.merge("old")
    commits = collected(origin, repository.sha(), known=[stored])
    check_same(repository, commits, f"{stored}..main")
    assert len(commits) == 3


def test_nothing_new(server, origin, repository):
    repository.commit({"a": "1\n"})
    head = origin.heads().branches["main"]
    asked = len(server.seen)
    (batch,) = origin.history(head, known=[head])
    assert (batch.commits, batch.position) == ((), head)
    assert len(server.seen) == asked


@pytest.mark.parametrize("number", [100, 101, 200, 345])
def test_pages(origin, repository, number):
    """Each position covers all that can be reached from it, so a stop loses nothing."""
    repository.many(number)
    head = repository.sha()
    batches = list(origin.history(head))
    commits = [commit for batch in batches for commit in batch.commits]
    check_same(repository, commits, "main")
    assert batches[-1].position == head
    assert {batch.expected for batch in batches} == {number}
    come = set()
    for batch in batches:
        come |= {commit.sha for commit in batch.commits}
        assert come.issuperset(repository.reachable(batch.position))


def test_goes_on_from_where_it_was_stopped(origin, repository):
    repository.many(250)
    repository.switch("side", "main~120")
    repository.commit({"side": "1\n"}, when=OLD)
    repository.switch("main")
    head = repository.merge("side")
    history = origin.history(head)
    first = next(history)
    history.close()
    assert first.position
    assert first.position != head
    rest = collected(origin, head, known=[first.position])
    check_same(repository, rest, f"{first.position}..main")
    assert {each.sha for each in (*first.commits, *rest)} == set(repository.reachable("main"))


def test_rewritten_history(origin, repository):
    repository.commit({"a": "1\n"})
    old = repository.commit({"a": "2\n"})
    repository.run("reset", "-q", "--hard", "HEAD~1")
    repository.commit({"a": "3\n"})
    new = repository.commit({"a": "4\n"})
    assert not origin.contains(new, old)
    assert list(origin.left_behind(new, old)) == [old]
    check_same(repository, collected(origin, new, known=[old]), f"{old}..{new}")


def test_rewound_history(origin, repository):
    new = repository.commit({"a": "1\n"})
    old = repository.commit({"a": "2\n"})
    repository.run("reset", "-q", "--hard", new)
    (batch,) = origin.history(new, known=[old])
    assert (list(batch.commits), batch.position) == ([], new)
    assert list(origin.left_behind(new, old)) == [old]


def test_replaced_history_with_old_dates(server, origin, repository):
    """As after a purge: every commit is another one, has its old date, and what was known is gone.
    A window of time before the checkpoint would miss most of it."""
    repository.commit({"a": "1\n"}, when=OLD)
    known = repository.commit({"a": "2\n"})
    newest = datetime(2026, 1, 5, 10, tzinfo=UTC)
    server.forgotten |= set(repository.reachable("main"))
    repository.run("checkout", "-q", "--orphan", "again")
    repository.commit({"a": "1\n"}, "Purged", when=OLD)
    repository.commit({"a": "2\n"}, "Purged too", when=OLD)
    new = repository.commit({"a": "3\n"}, when=newest)
    check_same(repository, collected(origin, new, known=[known]), "again")
    assert not origin.contains(new, known)
    assert list(origin.left_behind(new, known)) == []


def test_an_older_position_that_is_still_there(server, origin, repository):
    older = repository.commit({"a": "1\n"})
    newer = repository.commit({"a": "2\n"})
    server.forgotten.add(newer)
    repository.run("reset", "-q", "--hard", older)
    new = repository.commit({"a": "3\n"})
    commits = collected(origin, new, known=[older, newer])
    assert [each.sha for each in commits] == [new]


def test_since(origin, repository):
    repository.commit({"a": "1\n"}, when=OLD)
    moment = datetime(2026, 2, 1, tzinfo=UTC)
    second = repository.commit({"a": "2\n"}, when=moment)
    third = repository.commit({"a": "3\n"}, when=moment + timedelta(days=1))
    assert [each.sha for each in collected(origin, third, since=moment)] == [second, third]
    later = moment + timedelta(days=2)
    (batch,) = origin.history(third, since=later)
    assert (list(batch.commits), batch.position) == ([], third)
    assert collected(origin, third, known=[second], since=later) == []


def test_contains(origin, repository):
    first = repository.commit({"a": "1\n"})
    second = repository.commit({"a": "2\n"})
    repository.run("checkout", "-q", "--orphan", "else")
    strange = repository.commit({"b": "1\n"})
    assert origin.contains(second, first)
    assert origin.contains(second, second)
    assert not origin.contains(first, second)
    assert not origin.contains(second, strange)
    assert not origin.contains(second, "0" * 40)


def test_a_stop_does_not_lose_sight_of_what_is_known(origin, repository):
    """A long branch is merged that began before what is known: no commit of it is a place to begin
    behind, because all that is beside it would come again."""
    repository.commit({"a": "1\n"})
    repository.switch("side", "main")
    repository.many(150, file="side.txt")
    repository.switch("main")
    known = repository.commit({"a": "2\n"})
    head = repository.merge("side")
    batches = list(origin.history(head, known=[known]))
    assert len(batches) == 2
    assert [batch.position for batch in batches] == ["", head]
    commits = [commit for batch in batches for commit in batch.commits]
    check_same(repository, commits, f"{known}..{head}")


def test_what_is_stored_with_another_branch_is_not_counted_again(kind, origin, server, repository):
    """Counting lines is what costs a host its time."""
    shared = repository.many(250)
    stored = set(repository.reachable(shared))
    repository.switch("release", "main")
    head = repository.many(5, file="release.txt")
    asked = []

    def there(shas):
        asked.extend(shas)
        return stored.intersection(shas)

    batches = list(origin.history(head, stored=there))
    come = {commit.sha for batch in batches for commit in batch.commits}
    assert come >= set(repository.reachable(f"{shared}..{head}"))
    assert set(asked) <= set(repository.reachable(head))
    assert batches[-1].position == head
    if kind == Kind.GITHUB:
        assert len(come) == 5
        assert len([path for path in server.paths() if "graphql" in path]) == 1
    else:
        # The two newest pages are those that show how many there are.
        assert len(come) < 206
        assert len([each for each in server.seen if each.get("with_stats")]) == 2


def test_a_branch_of_which_all_is_stored(origin, repository):
    head = repository.many(120)
    batches = list(origin.history(head, stored=frozenset))
    assert batches[-1].position == head


def test_comparing_is_not_asked_twice(kind, origin, server, repository):
    """Is it still there, what is new, what has moved: of GitHub one answer tells all of it."""
    old = repository.commit({"a": "1\n"})
    new = repository.commit({"a": "2\n"})
    assert origin.contains(new, old)
    assert len(collected(origin, new, known=[old])) == 1
    assert origin.renames(old, new) == {}
    compared = [path for path in server.paths() if "compare" in path]
    assert len(compared) == 1
    assert len(server.seen) == {Kind.GITLAB: 3, Kind.GITHUB: 2}[kind]
