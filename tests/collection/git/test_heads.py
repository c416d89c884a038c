"""What is there now: asked without bringing anything over."""

import pytest

from collection.choices import Kind, State
from collection.models import Repository
from collection.origins.data import OriginProblem
from collection.origins.git.heads import read_heads
from collection.origins.git.mirror import mirror_ids
from collection.origins.git.origin import GitOrigin
from tests.collection.git.building import git

ONE, TWO = "1" * 40, "2" * 40


def test_branches_and_the_default_one(source, origin):
    first = source.commit("main", {"a": b"1\n"})
    source.commit("feature/ü-日本語'\"x", {"a": b"2\n"}, parents=[first])
    source.write()
    # A tag that is called like a branch, and what hosts keep beside branches.
    source.git("tag", "main", source.head("feature/ü-日本語'\"x"))
    source.git("update-ref", "refs/pull/1/head", source.head())
    heads = origin.heads()
    assert heads.branches == {
        "main": source.head("main"),
        "feature/ü-日本語'\"x": source.head("feature/ü-日本語'\"x"),
    }
    assert (heads.default, heads.moved_to, heads.shallow) == ("main", "", False)
    assert mirror_ids() == []


def test_a_repository_that_is_not_saved_can_be_asked(source):
    source.commit("main")
    source.write()
    with GitOrigin(Repository(kind=Kind.LOCAL, address=str(source.path))) as origin:
        assert origin.heads().branches == {"main": source.head()}


def test_an_empty_repository(origin):
    heads = origin.heads()
    assert (heads.branches, heads.default) == ({}, "")


def test_a_default_branch_that_is_not_there(source, origin):
    source.commit("other")
    source.write()
    assert origin.heads().default == ""
    source.git("symbolic-ref", "HEAD", "refs/heads/other")
    assert origin.heads().default == "other"


def test_a_shallow_folder(source, tmp_path, repository):
    first = source.commit("main", {"a": b"1\n"})
    source.commit("main", {"a": b"2\n"}, parents=[first])
    source.write()
    shallow = tmp_path / "sources" / "shallow.git"
    git(tmp_path, "clone", "-q", "--bare", "--depth=1", f"file://{source.path}", str(shallow))
    repository.address = str(shallow)
    with GitOrigin(repository) as origin:
        assert origin.heads().shallow


def test_a_folder_that_is_gone(source, origin, settings):
    source.commit("main")
    source.write()
    assert origin.heads().branches
    source.path.rename(source.path.with_name("gone"))
    with pytest.raises(OriginProblem) as problem:
        origin.heads()
    assert problem.value.state is State.NOT_FOUND
    assert not problem.value.again


def test_a_root_that_is_allowed_no_more(source, origin, settings):
    settings.GIT_ROOTS = []
    with pytest.raises(OriginProblem) as problem:
        origin.heads()
    assert problem.value.state is State.REFUSED


def test_a_folder_that_only_looks_like_a_repository(tmp_path, repository):
    fake = tmp_path / "sources" / "fake.git"
    for part in ("objects", "refs"):
        (fake / part).mkdir(parents=True)
    (fake / "HEAD").write_text("nonsense\n")
    repository.address = str(fake)
    with GitOrigin(repository) as origin, pytest.raises(OriginProblem) as problem:
        origin.heads()
    assert problem.value.state is State.NOT_FOUND
    assert str(fake) not in problem.value.message


@pytest.mark.parametrize(
    ("lines", "default"),
    [
        (["ref: refs/heads/dev\tHEAD", f"{ONE}\tHEAD"], "dev"),
        (["ref: refs/heads/none\tHEAD", f"{TWO}\tHEAD"], "other"),
        ([f"{TWO}\tHEAD"], "other"),
        ([f"{ONE}\tHEAD"], "main"),
        ([f"{'3' * 40}\tHEAD"], ""),
        ([], ""),
    ],
)
def test_the_default_branch_of_hosts_that_do_not_say_it(lines, default):
    branches = [f"{ONE}\trefs/heads/dev", f"{ONE}\trefs/heads/main", f"{TWO}\trefs/heads/other"]
    found = read_heads([line.encode() for line in lines + branches], shallow=False)
    assert found.default == default


@pytest.mark.parametrize(
    "name",
    ["a:b", "a*", "a b", "-x", "a..b", "a.lock", "a/.b", "/a", "a/", "a//b", "a@{1}", "@", "a~1",
     "a^", "a?", "a[", "a\\b", "a\x7f", "x" * 256, ".", "HEAD"],
)  # fmt: skip
def test_a_host_that_lies_about_names(name):
    lines = [f"{ONE}\trefs/heads/{name}".encode(), f"{ONE}\trefs/heads/good".encode()]
    assert read_heads(lines, shallow=False).branches == {"good": ONE}


def test_lines_that_are_none():
    lines = [
        b"",
        b"\t",
        b"x\trefs/heads/a",
        b"\xff\trefs/heads/a",
        ONE.encode() + b"\trefs/heads/\xff",
    ]
    assert read_heads(lines, shallow=False).branches == {}
