"""Directories of their own for many at once: nobody stumbles over one that is being taken away."""

import shutil
from pathlib import Path

from glossary_site.processes import locks
from glossary_site.processes.locks import own_directory


def test_one_that_goes_in_the_moment_in_which_it_is_looked_at(tmp_path, monkeypatch):
    leaving = tmp_path / "git-leaving"
    leaving.mkdir()
    take = locks.try_lock

    def look_too_late(path: Path):
        if path.parent == leaving:
            shutil.rmtree(leaving)
        return take(path)

    monkeypatch.setattr(locks, "try_lock", look_too_late)
    with own_directory(tmp_path, "git-") as directory:
        assert directory.is_dir()
        assert not leaving.exists()
    assert list(tmp_path.glob("git-*")) == []
