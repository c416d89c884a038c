"""Files, their contents, their renames, and who touched them."""

import pytest

from collection.choices import Kind, State
from collection.origins import gitlab
from collection.origins.data import FileData, OriginProblem, Touch
from tests.collection.hosts.conftest import SERVERS, TOKEN


def markdown(path):
    return path.endswith(".md")


def touched(repository, name, path):
    return {Touch(sha, path) for sha in repository.reachable(name, "--", path)}


def test_files_and_contents(origin, repository):
    long = "x" * 5000
    repository.commit(
        {
            "docs/a.md": "one\n",
            "docs/deep/er/日本語.md": "二\n",
            "run.sh": long,
            "binary": b"\xff\0\x01",
            "empty": "",
        }
    )
    (repository.path / "run.sh").chmod(0o755)
    (repository.path / "link").symlink_to("run.sh")
    head = repository.commit()
    files = list(origin.files(head))
    expected = {
        path: sha
        for mode, _kind, sha, path, _size in repository.tree(head)
        if mode.startswith("100")
    }
    assert {file.path: file.blob for file in files} == expected
    assert "link" not in expected
    assert [file.path for file in files] == sorted(expected)
    wanted = [file for file in reversed(files) if file.path != "run.sh"]
    got = list(origin.contents(head, wanted))
    assert [file for file, _ in got] == wanted
    by_path = {file.path: body for file, body in got}
    assert by_path["docs/deep/er/日本語.md"] == "二\n".encode()
    assert by_path["binary"] == b"\xff\0\x01"
    assert by_path["empty"] == b""


def test_trees_of_many_pages(origin, repository):
    head = repository.commit({f"docs/{number:03}.md": f"{number}\n" for number in range(230)})
    assert len(list(origin.files(head))) == 230


def test_a_tree_that_is_cut(repository, opened):
    """GitHub gives a large one folder by folder."""
    head = repository.commit({f"docs/{number}/{number}.md": "x\n" for number in range(8)})
    with SERVERS[Kind.GITHUB](repository, tree_limit=5) as url:
        files = list(opened(Kind.GITHUB, url).files(head))
    assert [file.path for file in files] == [f"docs/{number}/{number}.md" for number in range(8)]


def test_a_commit_without_files(origin, repository):
    repository.commit({"a": "1\n"})
    head = repository.commit({"a": None})
    assert list(origin.files(head)) == []


def test_files_are_asked_for_once(origin, server, repository):
    head = repository.commit({"a.md": "1\n"})
    first = list(origin.files(head))
    asked = len(server.seen)
    assert list(origin.files(head)) == first
    assert len(server.seen) == asked


def test_a_file_that_is_too_large_shows_it(origin, repository, settings):
    settings.MAX_FILE_BYTES = 1000
    head = repository.commit({"a.md": "x" * 100_000})
    ((_file, body),) = origin.contents(head, origin.files(head))
    assert len(body) == 1001


def test_a_blob_that_is_gone(origin, server, repository):
    repository.commit({"a.md": "1\n"})
    server.token = "other"
    with pytest.raises(OriginProblem):
        list(origin.contents(repository.sha(), [FileData("a.md", "0" * 40, 0)]))


def test_renames(origin, repository):
    text = "".join(f"line {number}\n" for number in range(30))
    old = repository.commit({"docs/a.md": text, "b.md": "b\n", "gone.md": "gone\n"})
    new = repository.commit(
        {"docs/a.md": None, "guide/日本.md": text + "more\n", "b.md": "c\n", "gone.md": None}
    )
    assert origin.renames(old, new) == {"docs/a.md": "guide/日本.md"}
    assert origin.renames("0" * 40, new) == {}


def test_touches_of_everything(origin, repository):
    repository.commit({"a.md": "1\n", "b.md": "1\n", "c.txt": "1\n"})
    repository.commit({"a.md": "2\n"})
    repository.commit({"c.txt": "2\n"})
    head = repository.commit({"b.md": "2\n", "a b & ü.md": "x\n"})
    found = set(origin.touches(head, wanted=markdown))
    paths = ("a.md", "b.md", "a b & ü.md")
    assert found == set().union(*(touched(repository, head, path) for path in paths))
    assert len(found) == 5


def test_touches_of_what_is_new(origin, server, repository):
    """A file that did not change costs nothing."""
    repository.commit({"a.md": "1\n", "b.md": "1\n", "gone.md": "1\n"})
    old = repository.commit({"a.md": "2\n"})
    repository.commit({"a.md": "3\n", "gone.md": None})
    head = repository.commit({"a.md": "4\n"})
    found = set(origin.touches(head, known=[old], wanted=markdown))
    assert found == touched(repository, f"{old}..{head}", "a.md")
    assert len(found) == 2
    server.seen.clear()
    assert list(origin.touches(head, known=[head], wanted=markdown)) == []
    assert server.seen == []


def test_touches_where_what_was_known_is_gone(origin, server, repository):
    repository.commit({"a.md": "1\n"})
    head = repository.commit({"a.md": "2\n"})
    found = set(origin.touches(head, known=["0" * 40], wanted=markdown))
    assert found == touched(repository, head, "a.md")


def test_touches_of_a_large_change(origin, repository, monkeypatch):
    """More files than GitLab is trusted to have compared."""
    monkeypatch.setattr(gitlab, "WHOLE_COMPARISON", 3)
    old = repository.commit({f"{number}.md": "1\n" for number in range(5)})
    head = repository.commit({f"{number}.md": "2\n" for number in range(4)})
    found = {touch.path for touch in origin.touches(head, known=[old], wanted=markdown)}
    assert found == {f"{number}.md" for number in range(4)}


def test_mailmap(origin, repository):
    head = repository.commit({"a": "1\n"})
    assert origin.mailmap(head) == ""
    told = "Ada <ada@example.com> <old@example.com>\n山田 <taro@example.jp>\n"
    assert origin.mailmap(repository.commit({".mailmap": told})) == told


def test_without_a_token_github_is_asked_for_few_files(repository, opened):
    head = repository.commit({f"{number}.md": "1\n" for number in range(30)})
    with SERVERS[Kind.GITHUB](repository, limit=20) as url:
        found = list(opened(Kind.GITHUB, url).touches(head, wanted=markdown))
        assert len(url.server.seen) == 10
    assert len(found) == 9
    with SERVERS[Kind.GITHUB](repository, token=TOKEN) as url:
        found = list(opened(Kind.GITHUB, url, token=TOKEN).touches(head, wanted=markdown))
        assert len(found) == 30
        assert len(url.server.seen) == 3


def test_a_head_that_is_gone(origin):
    with pytest.raises(OriginProblem) as raised:
        list(origin.history("0" * 40))
    assert raised.value.again
    assert raised.value.state is State.READY
