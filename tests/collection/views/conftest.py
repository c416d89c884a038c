from collections.abc import Callable
from pathlib import Path

import pytest

from collection.choices import Kind
from collection.models import Repository
from collection.origins import opening
from tests.collection.factories import make_repository
from tests.collection.made import MemoryOrigin


class Answering(MemoryOrigin):
    """Keeps the rows that were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[Repository] = []


@pytest.fixture
def reading(sign_in, viewer):
    return sign_in(viewer)


@pytest.fixture
def editing(sign_in, editor):
    return sign_in(editor)


@pytest.fixture
def owning(sign_in, owner):
    return sign_in(owner)


@pytest.fixture
def operating(sign_in, superuser):
    return sign_in(superuser)


@pytest.fixture
def repository(project) -> Repository:
    return make_repository(project, "Handbook")


@pytest.fixture
def shared(db) -> Repository:
    """Of an operator, for all projects."""
    return make_repository(None, "Shared rules")


@pytest.fixture
def git_root(settings, tmp_path) -> Path:
    """Below it, folders of this machine may be collected."""
    settings.GIT_ROOTS = [tmp_path]
    return tmp_path


@pytest.fixture
def origin(monkeypatch) -> Answering:
    """For every git address."""
    made = Answering()
    made.commit({"a.md": "A\n"})
    made.commit({"b.md": "B\n"}, branch="release/1")
    made.commit({"c.md": "C\n"}, branch="wip")

    def open_origin(repository: Repository, *, stopped: Callable[[], bool]) -> Answering:
        made.opened.append(repository)
        return made

    monkeypatch.setitem(opening.ORIGINS, Kind.GIT, open_origin)
    return made
