"""When a file is read, and that a half is never taken for the whole."""

import hashlib
import os
import time

import pytest

from indexing.folders.opening import open_folder
from indexing.folders.reading import Changing, Patience, snapshot, texts_of
from indexing.folders.tree import Seen
from projects.intake.files import Draft, Rejected
from projects.intake.limits import Limits

LIMITS = Limits()


@pytest.fixture
def top(tmp_path):
    descriptor = open_folder(None, str(tmp_path))
    yield descriptor
    os.close(descriptor)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def seen(size: int = 10, age: float = 0.0, path: str = "a.md") -> Seen:
    return Seen(path, size, int((time.time() - age) * 1e9))


def test_a_file_at_rest_is_read_at_once():
    assert Patience().seconds_left(seen(age=1)) == 0


def test_one_that_was_just_written_waits_a_moment_and_an_empty_one_longer():
    assert 0 < Patience().seconds_left(seen()) <= 0.1
    assert 0.5 < Patience().seconds_left(seen(size=0, age=0.2)) <= 1


def test_times_of_another_machine_do_not_matter():
    clock = Clock()
    patience = Patience(clock)
    future = seen(age=-1000)
    assert patience.seconds_left(future)
    clock.now = 0.2
    assert patience.seconds_left(future) == 0


def test_one_that_never_rests_is_read_in_the_end():
    clock = Clock()
    patience = Patience(clock)
    for step in range(100):
        clock.now = step / 10
        assert patience.seconds_left(seen(size=step + 1, age=-5))
    clock.now = 10.2
    assert patience.seconds_left(seen(size=200, age=-5)) == 0
    assert patience.is_over("a.md")
    patience.done("a.md")
    assert not patience.is_over("a.md")


def test_a_file_that_changes_while_it_is_read(tmp_path, top, monkeypatch):
    path = tmp_path / "a.md"
    path.write_text("# Half")

    class Growing:
        def __init__(self) -> None:
            self._hash = hashlib.md5()

        def update(self, piece: bytes) -> None:
            with path.open("a") as file:
                file.write(" and half\n")

        def hexdigest(self) -> str:
            return "0" * 64

    monkeypatch.setattr("indexing.folders.reading.hashlib.sha256", Growing)
    with pytest.raises(Changing):
        snapshot(top, "a.md", limits=LIMITS)
    impatient = snapshot(top, "a.md", limits=LIMITS, patient=False)
    assert not impatient.settled
    impatient.discard()


def test_links_and_pipes_are_no_files(tmp_path, top):
    (tmp_path / "real.md").write_text("# Real\n")
    (tmp_path / "link.md").symlink_to("real.md")
    (tmp_path / "folder").symlink_to(".")
    os.mkfifo(tmp_path / "pipe.md")
    for name in ("link.md", "folder/real.md", "pipe.md"):
        with pytest.raises(OSError):
            snapshot(top, name, limits=LIMITS)


def test_each_file_gets_what_was_in_it(tmp_path, top):
    for name, text in {"a.md": "# A\n", "b.md": "", "Thumbs.db": "x", "c.md": "# C\n"}.items():
        (tmp_path / name).write_text(text)
    names = ("Thumbs.db", "a.md", "b.md", "Thumbs.db", "c.md", "Thumbs.db")
    files = (snapshot(top, name, limits=LIMITS) for name in names)
    found = [
        (one.seen.path, [type(r) for r in results]) for one, results in texts_of(files, LIMITS)
    ]
    assert found == [
        ("Thumbs.db", []),
        ("a.md", [Draft]),
        ("b.md", [Rejected]),
        ("Thumbs.db", []),
        ("c.md", [Draft]),
        ("Thumbs.db", []),
    ]
