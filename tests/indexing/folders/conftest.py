import os
import threading
from pathlib import Path

import pytest

from indexing.folders import reading, rounds
from indexing.folders.follower import Follower
from indexing.folders.lease import Lease, new_holder
from indexing.folders.services import set_folder_of_command
from indexing.folders.telling import Change, Tally
from indexing.models import FolderSource
from projects.access import OPERATOR
from projects.models import Project


class Notes:
    """What a folder's follower told, one line a change."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.tallies: list[Tally] = []
        self.notices: list[str] = []

    def change(self, change: Change) -> None:
        self.lines.append(str(change))

    def compared(self, tally: Tally) -> None:
        self.tallies.append(tally)

    def notice(self, sentence: str) -> None:
        self.notices.append(sentence)

    def standing_by(self) -> None:
        self.notices.append("standing by")


class Folder:
    """A folder on the disk, the project that follows it, and a follower that compares the two."""

    def __init__(self, path: Path, project: Project) -> None:
        self.path = path
        self.project = project
        self.notes = Notes()

    def write(self, name: str, text: str | bytes, *, age: float = 10.0) -> Path:
        """A file that was written a while ago, so that nobody waits for it to settle."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        moment = path.stat().st_mtime - age
        os.utime(path, (moment, moment))
        return path

    def source(self, **patterns: str) -> FolderSource:
        return set_folder_of_command(
            project=self.project,
            directory=str(self.path),
            include=patterns.get("include", ""),
            exclude=patterns.get("exclude", ""),
            actor=OPERATOR,
        )

    def follower(self, *, allow_empty: bool = False, **patterns: str) -> Follower:
        source = self.source(**patterns)
        lease = Lease(source.pk, new_holder())
        FolderSource.objects.filter(pk=source.pk).update(holder="", lease_until=None)
        assert lease.take()
        return Follower(
            source,
            lease=lease,
            actor=OPERATOR,
            teller=self.notes,
            stop=threading.Event(),
            restricted=False,
            allow_empty=allow_empty,
        )

    def compare(self, **options) -> list[str]:
        """What a new follower does to catch up."""
        self.notes.lines.clear()
        self.notes.tallies.append(self.follower(**options).compare())
        return sorted(self.notes.lines)

    @property
    def texts(self) -> dict[str, str]:
        return dict(self.project.documents.values_list("path", "content"))


@pytest.fixture
def folder(tmp_path, project) -> Folder:
    path = tmp_path / "manual"
    path.mkdir()
    return Folder(path, project)


@pytest.fixture
def hurried(monkeypatch) -> None:
    """Nobody waits to see whether a file that is gone comes back."""
    monkeypatch.setattr(rounds, "GONE_SECONDS", 0.0)
    monkeypatch.setattr(reading, "EMPTY_QUIET_SECONDS", 0.1)
