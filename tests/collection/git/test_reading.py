"""Files at a commit, their contents, renames, touches and the mail map."""

import pytest

from collection.origins.data import FileData, OriginProblem
from collection.origins.git import reading
from tests.collection.git.building import git, raw_commit
from tests.collection.git.comparing import reachable


def paths(files) -> list[str]:
    return [file.path for file in files]


def test_the_regular_files_of_a_commit(source, brought, origin):
    first = source.commit(
        "main",
        {"b": b"12345", "a/z": b"", "a.txt": b"x", "run": b"#!", "link": b"b", "日本/語": b"\xff"},
        modes={"run": "100755", "link": "120000"},
    )
    source.submodule("main", "lib", "1" * 40, parents=[first])
    source.write()
    head = brought()
    files = list(origin.files(head))
    assert paths(files) == ["a.txt", "a/z", "b", "run", "日本/語"]
    assert [file.size for file in files] == [1, 0, 5, 2, 1]
    assert files[2].blob == source.git("rev-parse", f"{head}:b")
    assert paths(origin.files(source.marks[first])) == paths(files)


def test_contents_in_the_order_of_the_files(source, brought, origin):
    source.commit(
        "main", {"a": b"1\n2\n", "b": b"", "c": b"\0\n\0", "d": b"1\n2\n", "big": b"x" * 700_000}
    )
    source.write()
    head = brought()
    files = list(origin.files(head))[::-1]
    got = list(origin.contents(head, iter(files)))
    assert [file for file, _data in got] == files
    assert {file.path: data for file, data in got} == {
        "a": b"1\n2\n",
        "b": b"",
        "c": b"\0\n\0",
        "d": b"1\n2\n",
        "big": b"x" * 700_000,
    }
    assert list(origin.contents(head, [])) == []


def test_leaving_contents_early(source, brought, origin):
    source.commit("main", {f"f{number}": b"x" * 100_000 for number in range(30)})
    source.write()
    head = brought()
    contents = origin.contents(head, origin.files(head))
    assert next(contents)[0].path == "f0"
    contents.close()
    assert len(list(origin.files(head))) == 30


def test_renames(source, brought, origin):
    text = b"".join(b"line %d\n" % number for number in range(30))
    old = source.commit("main", {"a": text, "b": b"other\n" * 9, "c": b"c\n", "x\ty": text + b"y"})
    source.commit(
        "main",
        {"a": None, "docs/ä": text + b"more\n", "b": None, "new": b"b\n", "x\ty": None,
         "z": text + b"y"},
        parents=[old],
    )  # fmt: skip
    source.write()
    head = brought()
    assert origin.renames(source.marks[old], head) == {"a": "docs/ä", "x\ty": "z"}
    assert origin.renames(head, head) == {}
    assert origin.renames("0" * 40, head) == {}
    assert origin.renames("", head) == {}


def test_who_touched_what(source, brought, origin):
    a = source.commit("main", {"docs/a.md": b"1\n", "x": b"1\n", "\\001odd": b"1\n"})
    b = source.commit("main", {"docs/a.md": None, "docs/b.md": b"1\n"}, parents=[a])
    side = source.commit("side", {"docs/s.md": b"1\n"}, parents=[a])
    empty = source.commit("main", parents=[b])
    merge = source.commit("main", {"docs/s.md": b"1\n"}, parents=[empty, side])
    last = source.commit("main", {"docs/日本 語.md": b"1\n", "docs/s.md": b"2\n"}, parents=[merge])
    source.write()
    head = brought()

    def touched(**options) -> set[tuple[str, str]]:
        found = list(origin.touches(head, wanted=lambda path: path.endswith(".md"), **options))
        assert len(found) == len(set(found))
        return {(touch.sha, touch.path) for touch in found}

    everything = {
        (source.marks[a], "docs/a.md"),
        (source.marks[b], "docs/a.md"),
        (source.marks[b], "docs/b.md"),
        (source.marks[side], "docs/s.md"),
        (source.marks[last], "docs/日本 語.md"),
        (source.marks[last], "docs/s.md"),
    }
    assert touched() == everything
    new = reachable(source, head, [source.marks[b]])
    known = [source.marks[b], "0" * 40]
    assert touched(known=known) == {pair for pair in everything if pair[0] in new}
    assert touched(known=[head]) == set()


def test_paths_that_nobody_can_have(source, brought, origin):
    blob = git(source.path, "hash-object", "-w", "--stdin", stdin=b"1\n").decode().strip()
    names = [b"-first.md", b"/" + b"x" * 300 + b".md", b"last.md"]
    rows = b"".join(b"100644 %b\0%b" % (name, bytes.fromhex(blob)) for name in names)
    literally = ("-t", "tree", "-w", "--stdin", "--literally")
    tree = git(source.path, "hash-object", *literally, stdin=rows).decode().strip()
    person = "A <a@example.org> 1 +0000"
    body = f"tree {tree}\nauthor {person}\ncommitter {person}\n\nOdd\n"
    sha = raw_commit(source, "main", body.encode())
    touched = list(origin.touches(brought(), wanted=lambda path: True))
    assert [(touch.sha, touch.path.encode()) for touch in touched] == [
        (sha, name) for name in names
    ]


def test_the_mail_map(source, brought, origin):
    first = source.commit("main", {"a": b"1\n", "sub/.mailmap": b"wrong\n"})
    text = "花子 <hanako@example.jp> <h@example.org>\n"
    source.commit("main", {".mailmap": text.encode()}, parents=[first])
    source.commit("link", {".mailmap": b"/etc/passwd"}, modes={".mailmap": "120000"})
    source.write()
    head = brought()
    assert origin.mailmap(head) == text
    assert origin.mailmap(source.marks[first]) == ""
    assert origin.mailmap(source.head("link")) == ""


def test_a_mail_map_that_nobody_wrote_by_hand(source, brought, origin, monkeypatch):
    source.commit("main", {".mailmap": b"x" * 50})
    source.write()
    head = brought()
    monkeypatch.setattr(reading, "MAILMAP_BYTES", 49)
    assert origin.mailmap(head) == ""


def test_contents_that_are_gone(source, brought, origin):
    source.commit("main", {"a": b"1\n"})
    source.write()
    head = brought()
    gone = FileData(path="x", blob="0" * 40, size=1)
    with pytest.raises(OriginProblem) as problem:
        list(origin.contents(head, [gone]))
    assert problem.value.again
