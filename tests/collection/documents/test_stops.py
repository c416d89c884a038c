"""A stop at any instant: whoever takes over comes to the same end as one who was never stopped."""

from contextlib import contextmanager
from typing import Any

import pytest
from django.db import transaction

from collection.models import Repository, RepositoryFile, VersionOrigin
from collection.services.documents import take_documents, taking
from projects.models import DocumentVersion, Project
from tests.collection.documents.taken import texts, touches
from tests.collection.factories import make_repository
from tests.collection.made import MemoryOrigin
from tests.factories import make_project

MANY = 2


class Killed(Exception):
    pass


class Life:
    """Ends at the given moment, one of those that `moments` has counted."""

    def __init__(self, last: int | None = None) -> None:
        self.moments = 0
        self._last = last

    def check(self) -> None:
        self.moments += 1
        if self.moments == self._last:
            raise Killed

    @contextmanager
    def atomic(self):
        with transaction.atomic():
            yield
            # Everything is written, and nothing is committed.
            self.check()


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    for name in ("BATCH_FILES", "BATCH_MOVES", "BATCH_DELETIONS"):
        monkeypatch.setattr(taking, name, 2)
    monkeypatch.setattr(taking, "BATCH_TOUCHES", 12)


def history() -> tuple[MemoryOrigin, str, str]:
    """Two states of a repository between which everything happens."""
    origin = MemoryOrigin()
    names = range(MANY)
    first = origin.commit(
        {
            **{f"docs/moved{n}.md": f"# Moved {n}\n" for n in names},
            **{f"docs/changed{n}.md": f"# Changed {n}\n" for n in names},
            **{f"docs/deleted{n}.md": f"# Deleted {n}\n" for n in names},
            **{f"docs/same{n}.md": f"# Same {n}\n" for n in names},
            "docs/good.md": "# Good\n",
            "docs/caf\u00e9.md": "# One\n",
            "docs/cafe\u0301.md": "# Other\n",
        }
    )
    origin.commit({"docs/changed0.md": "# Between\n"})
    second = origin.commit(
        {
            **{f"docs/changed{n}.md": f"# Changed again {n}\n" for n in names},
            **{f"docs/deleted{n}.md": None for n in names},
            **{f"docs/new{n}.md": f"# New {n}\n" for n in names},
            "docs/parts/moved0.md": "# Moved and changed\n",
            "docs/good.md": b"\x00\xff" * 50,
            "docs/caf\u00e9.md": None,
        },
        moves={f"docs/moved{n}.md": f"docs/parts/moved{n}.md" for n in names},
    )
    return origin, first, second


def state(repository: Repository) -> dict[str, Any]:
    project = repository.project
    assert project is not None
    repository.refresh_from_db()
    versions = DocumentVersion.objects.filter(document__project=project)
    rows = RepositoryFile.objects.filter(repository=repository)
    origins = VersionOrigin.objects.filter(repository=repository)
    return {
        "texts": texts(project),
        "versions": sorted(versions.values_list("document__path", "number", "content")),
        "rows": sorted(
            (path, blob, at or "", error)
            for path, blob, at, error in rows.values_list("path", "blob", "document__path", "error")
        ),
        "origins": sorted(origins.values_list("document__path", "version", "sha", "path")),
        "touches": touches(repository),
        "head": repository.documents_head,
        "key": repository.documents_key,
    }


def begun(origin: MemoryOrigin, first: str) -> Repository:
    project: Project = make_project()
    repository = make_repository(project, document_patterns=["docs/**"])
    take_documents(repository, origin, head=first, atomic=transaction.atomic, check=lambda: None)
    return repository


def test_killed_at_every_moment(db):
    origin, first, second = history()
    clean = begun(origin, first)
    life = Life()
    take_documents(clean, origin, head=second, atomic=life.atomic, check=life.check)
    expected = state(clean)
    assert expected["head"] == second
    # Batches, and files on the way.
    assert life.moments > 20

    for moment in range(1, life.moments + 1):
        repository = begun(origin, first)
        short = Life(moment)
        with pytest.raises(Killed):
            take_documents(repository, origin, head=second, atomic=short.atomic, check=short.check)
        repository.refresh_from_db()
        assert repository.documents_head == first
        take_documents(
            repository, origin, head=second, atomic=transaction.atomic, check=lambda: None
        )
        assert state(repository) == expected, moment


def test_killed_again_and_again(db):
    """Each life is long enough to look at the commits, and for one batch."""
    origin, first, second = history()
    clean = begun(origin, first)
    take_documents(clean, origin, head=second, atomic=transaction.atomic, check=lambda: None)

    repository = begun(origin, first)
    lives = 0
    while repository.documents_head != second:
        lives += 1
        assert lives < 100
        batches = iter([transaction.atomic() for _ in range(4)])

        def few_batches(batches=batches):
            batch = next(batches, None)
            if batch is None:
                raise Killed
            return batch

        try:
            take_documents(repository, origin, head=second, atomic=few_batches, check=lambda: None)
        except Killed:
            repository.refresh_from_db()
    assert lives > 3
    assert state(repository) == state(clean)


def test_a_new_wish_killed_at_every_moment(db):
    origin, first, second = history()

    def wished() -> Repository:
        repository = begun(origin, first)
        repository.document_folder = "docs"
        repository.document_patterns = ["docs/**", "!docs/same*"]
        repository.save(update_fields=["document_folder", "document_patterns"])
        return repository

    clean = wished()
    life = Life()
    take_documents(clean, origin, head=second, atomic=life.atomic, check=life.check)
    expected = state(clean)

    for moment in range(1, life.moments + 1, 3):
        repository = wished()
        short = Life(moment)
        with pytest.raises(Killed):
            take_documents(repository, origin, head=second, atomic=short.atomic, check=short.check)
        repository.refresh_from_db()
        take_documents(
            repository, origin, head=second, atomic=transaction.atomic, check=lambda: None
        )
        assert state(repository) == expected, moment
