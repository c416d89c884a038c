"""What a comparison leads to: texts stored with the commit they came from, documents renamed and
deleted, rows kept in step.

Each batch is one transaction. A stop in the middle leaves whole batches behind; the next comparison
finds the rest.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

from django.db.models import QuerySet

from collection.models import CommitPath, Repository, RepositoryFile, VersionOrigin
from collection.origins.data import Touch
from collection.services.branches import lock_repository
from collection.services.documents.comparing import UNSURE, Known, Move
from collection.services.documents.reading import Reading
from collection.services.documents.wishes import Places, is_storable
from glossary_site.errors import Refusal
from projects.access import OPERATOR
from projects.choices import Outcome, Source
from projects.intake.errors import Refused
from projects.intake.files import Draft, Rejected
from projects.models import Document, DocumentVersion, Project
from projects.services.documents import (
    Stored,
    delete_documents,
    rename_document,
    store_documents,
)
from projects.services.locking import lock_project

COPIED_AT_ONCE = 1000


class Writer:
    def __init__(
        self,
        repository: Repository,
        project: Project,
        *,
        head: str,
        places: Places,
        atomic: Callable[[], AbstractContextManager[object]],
        check: Callable[[], None],
    ) -> None:
        self._repository = repository
        self._project = project
        self._head = head
        self._places = places
        self._atomic = atomic
        self._check = check

    @contextmanager
    def batch(self) -> Iterator[None]:
        """A transaction in which the project and the repository are there to stay."""
        self._check()
        with self._atomic():
            lock_project(self._project)
            lock_repository(self._repository)
            yield

    def finish(self, **fields: object) -> None:
        with self.batch():
            Repository.objects.filter(pk=self._repository.pk).update(**fields)
        for name, value in fields.items():
            setattr(self._repository, name, value)

    def note_touches(self, touches: Iterable[Touch]) -> None:
        """What is not noted yet: the same again changes nothing."""
        with self.batch():
            CommitPath.objects.bulk_create(
                (
                    CommitPath(repository=self._repository, path=touch.path, sha=touch.sha)
                    for touch in touches
                    if is_storable(touch.path)
                ),
                ignore_conflicts=True,
            )

    def store(self, readings: Sequence[Reading]) -> list[Outcome]:
        with self.batch():
            paths = self._paths_of(each.known for each in readings)
            stored = list(
                store_documents(
                    project=self._project,
                    drafts=[_at(each.result, paths.get(each.file.path)) for each in readings],
                    source=Source.GIT,
                    actor=OPERATOR,
                )
            )
            pairs = list(zip(readings, stored, strict=True))
            VersionOrigin.objects.bulk_create(
                self._origin(reading, outcome)
                for reading, outcome in pairs
                if isinstance(outcome, Stored) and outcome.outcome != Outcome.UNCHANGED
            )
            RepositoryFile.objects.bulk_create(
                [self._row(reading, outcome) for reading, outcome in pairs],
                update_conflicts=True,
                unique_fields=["repository", "path"],
                update_fields=["blob", "document", "error"],
            )
        return [outcome.outcome for outcome in stored]

    def _paths_of(self, rows: Iterable[Known | None]) -> dict[str, str]:
        """Where the documents of files are at this moment."""
        ids = {row.path: row.document_id for row in rows if row and row.document_id is not None}
        paths = dict(Document.objects.filter(pk__in=ids.values()).values_list("pk", "path"))
        return {path: paths[pk] for path, pk in ids.items() if pk in paths}

    def _origin(self, reading: Reading, stored: Stored) -> VersionOrigin:
        return VersionOrigin(
            document_id=stored.document_id,
            version=stored.version,
            repository=self._repository,
            sha=self._head,
            path=reading.file.path,
        )

    def _row(self, reading: Reading, outcome: Stored | Rejected) -> RepositoryFile:
        row = RepositoryFile(repository=self._repository, path=reading.file.path, blob=reading.blob)
        if isinstance(outcome, Stored):
            row.document_id = outcome.document_id
        else:
            row.error = outcome.message
            # The last text that could be read stays; one that is another file's does not.
            if reading.known is not None and reading.blob != UNSURE:
                row.document_id = reading.known.document_id
        return row

    def move(self, moves: Sequence[Move]) -> tuple[list[Move], list[Move]]:
        """Those that were moved, and those whose place is taken."""
        moved: list[Move] = []
        refused: list[Move] = []
        with self.batch():
            documents = Document.objects.listed().select_related("project")
            by_id = documents.in_bulk([move.row.document_id for move in moves])
            ours = ours_among(by_id)
            for move in moves:
                document = by_id.get(move.row.document_id or 0)
                leads = move.leads and document is not None and document.pk in ours
                (moved if self._move(move, document if leads else None) else refused).append(move)
            self._carry_history({move.row.path: move.file.path for move in moved})
        return moved, refused

    def _move(self, move: Move, document: Document | None) -> bool:
        if document is not None:
            try:
                path = self._places.of(move.file.path)
                rename_document(document=document, path=path, actor=OPERATOR)
            except (Refused, Refusal):
                return False
        row = RepositoryFile.objects.filter(pk=move.row.pk)
        row.update(path=move.file.path, blob=UNSURE if move.must_be_read else move.row.blob)
        return True

    def _carry_history(self, paths: Mapping[str, str]) -> None:
        """The commits of a file go with it to its new path."""
        paths = {old: new for old, new in paths.items() if old != new}
        touched = CommitPath.objects.filter(repository=self._repository, path__in=paths)
        rows: list[CommitPath] = []
        for path, sha in touched.values_list("path", "sha").iterator(COPIED_AT_ONCE):
            rows.append(CommitPath(repository=self._repository, path=paths[path], sha=sha))
        CommitPath.objects.bulk_create(rows, batch_size=COPIED_AT_ONCE, ignore_conflicts=True)

    def delete(self, rows: Sequence[Known]) -> tuple[int, bool]:
        """Forget files, with their documents where they are ours and no other file's. How many
        documents went, and whether files of this repository have to be read again."""
        with self.batch():
            gone = [row.pk for row in rows]
            documents = {row.document_id for row in rows if row.document_id is not None}
            others = RepositoryFile.objects.filter(document_id__in=documents).exclude(pk__in=gone)
            shared = set(others.values_list("document_id", flat=True))
            again = self._read_again(others)
            deleted = delete_documents(
                project=self._project, ids=ours_among(documents - shared), actor=OPERATOR
            )
            RepositoryFile.objects.filter(pk__in=gone).delete()
        return deleted, again

    def _read_again(self, files: QuerySet[RepositoryFile]) -> bool:
        """Of a document that is several files nobody knows whose text it has: the ones that are
        left say it anew."""
        repositories = set(files.values_list("repository_id", flat=True))
        files.update(blob=UNSURE)
        elsewhere = repositories - {self._repository.pk}
        Repository.objects.filter(pk__in=elsewhere).update(documents_head="")
        return self._repository.pk in repositories


def ours_among(documents: Iterable[Any]) -> set[int]:
    """Documents that began as a file of a repository, by ids or a query for them. Others belong to
    whoever put them there: they get new texts, and are never renamed or deleted from here."""
    first = DocumentVersion.objects.filter(document__in=documents, number=1, source=Source.GIT)
    return set(first.values_list("document_id", flat=True))


def _at(result: Draft | Rejected, path: str | None) -> Draft | Rejected:
    return replace(result, path=path) if path and isinstance(result, Draft) else result
