"""Our own copy of a repository: what is needed, kept, limited, and made anew when it is no good."""

import fcntl
import multiprocessing
import shutil
import threading
import time
from contextlib import suppress

import pytest

from collection.choices import State
from collection.origins.data import OriginProblem, Stopped
from collection.origins.git import mirror
from collection.origins.git.mirror import mirror_folder, mirror_ids, own_name, remove_mirror
from collection.origins.git.origin import GitOrigin
from tests.collection.git.building import git, make_source, text
from tests.collection.git.comparing import all_of, reachable


def refs() -> dict[str, str]:
    lines = text(mirror_folder(1), "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split() for line in lines)


def problem_of(action) -> OriginProblem:
    with pytest.raises(OriginProblem) as problem:
        action()
    return problem.value


def test_only_what_is_asked_for(source, origin):
    first = source.commit("main", {"a": b"1\n"})
    source.commit("other", {"b": b"2\n"}, parents=[first])
    source.write()
    source.git("tag", "v1", "other")
    origin.bring({"main": source.head()})
    assert refs() == {own_name("main"): source.head()}
    assert problem_of(lambda: list(origin.history(source.head("other")))).again
    origin.bring({"other": source.head("other")})
    assert len(all_of(origin.history(source.head("other")))) == 2


def test_nothing_of_the_source_comes_along(source, origin, tmp_path):
    """Neither its configuration nor its hooks are in force, and ours are nobody's."""
    source.commit("main", {"a": b"1\n"})
    source.write()
    mark = tmp_path / "mark"
    (source.path / "hooks").mkdir()
    for name in ("post-checkout", "reference-transaction", "pre-receive"):
        hook = source.path / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
        hook.chmod(0o755)
    for name in ("uploadpack.packObjectsHook", "core.fsmonitor", "core.sshCommand"):
        source.git("config", name, f"touch {mark}; false")
    origin.bring({"main": source.head()})
    assert len(all_of(origin.history(source.head()))) == 1
    assert not mark.exists()
    assert mirror_folder(1).parent.stat().st_mode & 0o077 == 0


def test_a_push_by_force_keeps_what_was_left(source, origin):
    first = source.commit("main", {"a": b"1\n"})
    source.commit("main", {"a": b"2\n"}, parents=[first])
    source.write()
    old = source.head()
    origin.bring({"main": old})
    source.commit("main", {"a": b"3\n"}, parents=[first])
    source.write()
    new = source.head()
    origin.bring({"main": new})
    assert not origin.contains(new, old)
    assert list(origin.left_behind(new, old)) == [old]
    assert [commit.sha for commit in all_of(origin.history(new, known=[old]))] == [new]
    assert refs() == {own_name("main"): new, f"refs/kept/{old}": old}
    # Going on as usual needs no names for where a branch has been.
    source.commit("main", {"a": b"4\n"}, parents=[new])
    source.write()
    origin.bring({"main": source.head()})
    assert refs() == {own_name("main"): source.head(), f"refs/kept/{old}": old}
    # The source forgets it; we do not.
    source.git("reflog", "expire", "--expire=now", "--all")
    source.git("gc", "--quiet", "--prune=now")
    assert list(origin.left_behind(source.head(), old)) == [old]


def test_names_that_stand_in_each_others_way(source, origin):
    source.commit("a", {"a": b"1\n"})
    source.commit("Main")
    source.commit("main")
    source.commit("x" * 200 + "/日本語'\"$(touch);`x`")
    source.write()
    origin.bring(origin.heads().branches)
    source.git("branch", "-D", "a")
    source.commit("a/b", {"a": b"2\n"})
    source.write()
    branches = origin.heads().branches
    assert len(branches) == 4
    origin.bring(branches)
    for head in branches.values():
        assert all_of(origin.history(head))


def test_a_branch_that_changes_between_asking_and_bringing(source, origin):
    first = source.commit("main", {"a": b"1\n"})
    source.commit("main", {"a": b"2\n"}, parents=[first])
    source.commit("doomed", {"a": b"3\n"})
    source.write()
    branches = origin.heads().branches
    source.commit("main", {"a": b"4\n"}, parents=[branches["main"]])
    source.write()
    # It went on: what was asked for is there.
    origin.bring({"main": branches["main"]})
    assert len(all_of(origin.history(branches["main"]))) == 2
    asked = source.commit("main", {"a": b"5\n"}, parents=[first])
    source.write()
    seen = origin.heads().branches
    source.commit("main", {"a": b"6\n"}, parents=[first])
    source.write()
    # It was forced: what was asked for is nowhere.
    assert problem_of(lambda: origin.bring({"main": seen["main"]})).again
    assert source.marks[asked] == seen["main"]
    source.git("branch", "-D", "doomed")
    assert problem_of(lambda: origin.bring({"doomed": branches["doomed"]})).again


def test_what_is_here_already_needs_nobody(source, origin):
    first = source.commit("main", {"a": b"1\n"})
    source.commit("main", {"a": b"2\n"}, parents=[first])
    source.write()
    origin.bring({"main": source.head()})
    source.point("release", source.marks[first])
    source.write()
    source.path.joinpath("objects").rename(source.path / "hidden")
    source.path.joinpath("objects").mkdir()
    origin.bring({"release": source.marks[first], "main": source.head()})
    assert refs()[own_name("release")] == source.marks[first]


def test_a_shallow_source_and_its_rest_later(source, tmp_path, repository):
    mark = None
    for number in range(6):
        files = {"a": b"x\n" * number}
        mark = source.commit("main", files, parents=[mark] if mark else [])
    source.write()
    shallow = tmp_path / "sources" / "shallow.git"
    git(tmp_path, "clone", "-q", "--bare", "--depth=2", f"file://{source.path}", str(shallow))
    repository.address = str(shallow)
    with GitOrigin(repository) as origin:
        origin.bring({"main": source.head()})
        assert len(all_of(origin.history(source.head()))) == 2
        git(shallow, "fetch", "-q", "--unshallow", "origin")
        source.commit("main", {"b": b"1\n"}, parents=[mark])
        source.write()
        git(shallow, "fetch", "-q", "origin", "+main:main")
        assert not origin.heads().shallow
        origin.bring({"main": source.head()})
        assert len(all_of(origin.history(source.head()))) == 7


class TestDamage:
    @pytest.fixture
    def head(self, source, origin):
        first = source.commit("main", {"a": b"1\n"})
        source.commit("main", {"a": b"2\n"}, parents=[first])
        source.write()
        origin.bring({"main": source.head()})
        return source.head()

    def damage_packs(self):
        for pack in (mirror_folder(1) / "objects" / "pack").glob("*.pack"):
            pack.chmod(0o600)
            pack.write_bytes(b"PACK" + bytes(100))

    def lose_packs(self):
        shutil.rmtree(mirror_folder(1) / "objects" / "pack")

    def lose_head(self):
        (mirror_folder(1) / "HEAD").unlink()

    def lose_all(self):
        shutil.rmtree(mirror_folder(1))

    def half_made(self):
        shutil.rmtree(mirror_folder(1))
        (mirror_folder(1) / "objects").mkdir(parents=True)

    @pytest.mark.parametrize(
        "damage", ["damage_packs", "lose_packs", "lose_head", "lose_all", "half_made"]
    )
    def test_the_copy_is_made_anew(self, damage, origin, head):
        getattr(self, damage)()
        # It may be noticed only in the middle: then the next try is a good one.
        with suppress(OriginProblem):
            origin.bring({"main": head})
            list(origin.history(head))
        origin.bring({"main": head})
        assert len(all_of(origin.history(head))) == 2

    def test_a_copy_that_lost_what_a_branch_has_left(self, source, origin, head):
        self.lose_packs()
        source.commit("main", {"a": b"3\n"}, parents=[head])
        source.write()
        origin.bring({"main": source.head()})
        assert len(all_of(origin.history(source.head()))) == 3

    def test_trouble_over_there_is_no_damage_here(self, source, origin, head):
        source.commit("main", {"a": b"3\n"}, parents=[head])
        source.write()
        new = source.head()
        made = mirror_folder(1).stat().st_ino
        (source.path / "HEAD").rename(source.path / "lost")
        assert problem_of(lambda: origin.bring({"main": new})).state is State.NOT_FOUND
        (source.path / "lost").rename(source.path / "HEAD")
        objects = source.path / "objects"
        objects.rename(source.path / "hidden")
        objects.mkdir()
        problem_of(lambda: origin.bring({"main": new}))
        objects.rmdir()
        (source.path / "hidden").rename(objects)
        origin.bring({"main": new})
        assert mirror_folder(1).stat().st_ino == made
        assert len(all_of(origin.history(new))) == 3

    def test_what_a_killed_process_left_is_in_nobodys_way(self, source, origin, head):
        folder = mirror_folder(1)
        name = own_name("main")
        for file in (f"{name}.lock", "packed-refs.lock", "shallow.lock", "objects/pack/tmp_pack_x"):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(b"x")
        source.commit("main", {"a": b"3\n"}, parents=[head])
        source.write()
        origin.bring({"main": source.head()})
        assert len(all_of(origin.history(source.head()))) == 3
        assert not (folder / "objects" / "pack" / "tmp_pack_x").exists()

    def test_another_address_is_another_copy(self, tmp_path, repository, head):
        other = make_source(tmp_path / "sources" / "two.git", object_format="sha256")
        other.commit("main", {"a": b"1\n"})
        other.write()
        repository.address = str(other.path)
        with GitOrigin(repository) as origin:
            origin.bring({"main": other.head()})
            assert refs() == {own_name("main"): other.head()}
            assert len(all_of(origin.history(other.head()))) == 1

    def test_it_goes_with_its_repository(self, head):
        assert mirror_ids() == [1]
        remove_mirror(1)
        assert mirror_ids() == []
        assert [path.name for path in mirror_folder(1).parent.iterdir()] == ["private"]
        remove_mirror(1)


def test_a_repository_that_is_too_large(source, origin, settings):
    source.commit("main", {"a": bytes(range(256)) * 4})
    source.write()
    settings.GIT_MAX_BYTES = 100
    problem = problem_of(lambda: origin.bring({"main": source.head()}))
    assert problem.state is State.REFUSED
    assert "GLOSSARY_GIT_MAX_MB" in problem.message
    assert mirror_ids() == []


def test_many_small_packs_become_few(source, origin, monkeypatch):
    monkeypatch.setattr(mirror, "MANY_PACKS", 3)
    monkeypatch.setattr(mirror, "MOST_KEPT", 1)
    first = source.commit("main", {"a": b"0\n"})
    for number in range(5):
        source.commit("main", {"a": b"x\n" * number}, parents=[first])
        source.write()
        origin.bring({"main": source.head()})
    packs = list((mirror_folder(1) / "objects" / "pack").glob("*.pack"))
    assert len(packs) < 4
    assert len([name for name in refs() if name.startswith("refs/kept/")]) < 4
    assert len(all_of(origin.history(source.head()))) == 2


def _bring_in_process(repository, head, results):
    try:
        with GitOrigin(repository) as origin:
            origin.bring({"main": head})
            results.put(len(all_of(origin.history(head))))
    except BaseException as error:
        results.put(repr(error))


def test_processes_do_not_disturb_each_other(source, repository):
    mark = None
    for number in range(20):
        mark = source.commit("main", {f"f{number}": b"x\n" * 50}, parents=[mark] if mark else [])
    source.write()
    fork = multiprocessing.get_context("fork")
    results = fork.Queue()
    processes = [
        fork.Process(target=_bring_in_process, args=(repository, source.head(), results))
        for _process in range(4)
    ]
    for process in processes:
        process.start()
    answers = [results.get(timeout=60) for _process in processes]
    for process in processes:
        process.join()
    assert answers == [20] * 4


def test_waiting_for_another_process_can_be_stopped(source, repository):
    source.commit("main")
    source.write()
    stop = threading.Event()
    mirror_folder(1).parent.mkdir(parents=True)
    with mirror_folder(1).with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        threading.Timer(0.3, stop.set).start()
        with GitOrigin(repository, stopped=stop.is_set) as origin:
            began = time.monotonic()
            with pytest.raises(Stopped):
                origin.bring({"main": source.head()})
            assert time.monotonic() - began < 5


def test_nothing_to_bring(origin):
    origin.bring({})
    assert mirror_ids() == []


def test_all_branches_and_their_histories(source, origin):
    first = source.commit("main", {"a": b"1\n"})
    for number in range(5):
        source.commit(f"topic/{number}", {"t": b"%d\n" % number}, parents=[first])
    source.write()
    branches = origin.heads().branches
    origin.bring(branches)
    for head in branches.values():
        assert {commit.sha for commit in all_of(origin.history(head))} == reachable(source, head)
