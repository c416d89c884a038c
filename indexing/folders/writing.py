"""What a comparison leads to: texts stored, documents renamed and deleted, rows kept in step.

Each batch is one transaction in which the folder is ours. A stop in the middle leaves whole
batches behind; the next comparison finds the rest.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from django.db.models import QuerySet
from django.utils import timezone

from glossary_site.errors import Refusal
from indexing.folders.known import UNSURE, Known
from indexing.folders.lease import Lease
from indexing.folders.reading import Snapshot
from indexing.folders.telling import Change, Kind
from indexing.models import FolderFile, FolderSource
from indexing.models.folders import PATH_LENGTH
from projects.access import Actor
from projects.choices import Outcome, Source
from projects.intake.files import Draft, Rejected
from projects.intake.formats import ARCHIVE, ending_of
from projects.intake.paths import clean_path
from projects.models import Document, DocumentVersion
from projects.services.documents import (
    Stored,
    delete_documents,
    rename_document,
    store_documents,
)

# Of what was refused in an archive.
REASONS_KEPT = 3
KINDS = {
    Outcome.CREATED: Kind.CREATED,
    Outcome.UPDATED: Kind.UPDATED,
    Outcome.UNCHANGED: Kind.UNCHANGED,
}


@dataclass(frozen=True)
class Reading:
    """A file that was read, and what was in it."""

    snapshot: Snapshot
    results: Sequence[Draft | Rejected]
    # What is known of it, and of the texts of an archive.
    known: Known | None
    parts: Sequence[Known] = ()

    @property
    def path(self) -> str:
        return self.snapshot.seen.path

    @property
    def characters(self) -> int:
        return sum(len(result.content) for result in self.results if isinstance(result, Draft))


@dataclass(frozen=True)
class Rename:
    """A file that is gone, and the one with the same bytes that has come."""

    known: Known
    snapshot: Snapshot

    @property
    def same_format(self) -> bool:
        """If not, its text has to be read anew."""
        return ending_of(self.known.path) == ending_of(self.snapshot.seen.path)


class Writer:
    def __init__(self, source: FolderSource, *, lease: Lease, actor: Actor) -> None:
        self._source = source
        self._lease = lease
        self._actor = actor

    def store(self, readings: Sequence[Reading]) -> list[Change]:
        with self._lease.fenced(self._source.project_id):
            changes = self._store(readings)
            self._note_change(changes)
        return changes

    def rename(self, renames: Sequence[Rename]) -> list[Change]:
        """Those that are not among the changes could not be renamed: the new path is taken."""
        with self._lease.fenced(self._source.project_id):
            changes = [change for one in renames if (change := self._rename(one))]
            self._note_change(changes)
        return changes

    def delete(self, gone: Sequence[Known]) -> list[Change]:
        with self._lease.fenced(self._source.project_id):
            changes = self._remove(gone)
            self._note_change(changes)
        return changes

    def confirm(self, snapshots: Sequence[tuple[Known, Snapshot]]) -> None:
        """The same bytes as before, whatever their time says."""
        with self._lease.fenced(self._source.project_id):
            self._keep(
                [
                    FolderFile(source=self._source, path=known.path, **_measures(one))
                    for known, one in snapshots
                ],
                ["size", "modified_ns"],
            )

    def _note_change(self, changes: Iterable[Change]) -> None:
        if any(change.kind not in (Kind.UNCHANGED, Kind.REFUSED) for change in changes):
            self._lease.note(changed_at=timezone.now())

    def _store(self, readings: Sequence[Reading]) -> list[Change]:
        paths = self._paths_of_documents(readings)
        rows: list[tuple[str, Reading, Draft | Rejected]] = []
        for reading in readings:
            rows += [(_row_path(reading, result), reading, result) for result in reading.results]
        drafts = [_moved(result, paths.get(row)) for row, _reading, result in rows]
        stored = list(
            store_documents(
                project=self._source.project,
                drafts=drafts,
                source=Source.FOLDER,
                actor=self._actor,
            )
        )
        ours = self._ours(one.document_id for one in stored if isinstance(one, Stored))
        changes = []
        kept: dict[str, FolderFile] = {}
        for (row, reading, _result), outcome in zip(rows, stored, strict=True):
            if isinstance(outcome, Rejected):
                changes.append(Change(Kind.REFUSED, outcome.path, outcome.message))
                # The last text that could be read stays.
                before = reading.known.document_id if reading.known and row in paths else None
                kept[row] = self._row(row, reading, before)
                kept[row].error = outcome.message
            else:
                changes.append(Change(KINDS[outcome.outcome], outcome.path))
                document_id = outcome.document_id if outcome.document_id in ours else None
                kept[row] = self._row(row, reading, document_id)
        for reading in readings:
            if ending_of(reading.path) == ARCHIVE:
                kept[reading.path] = self._archive(reading)
        self._keep(kept.values(), ["document", "size", "modified_ns", "content_hash", "error"])
        changes += self._remove([part for one in readings for part in _left_behind(one, kept)])
        return changes

    def _paths_of_documents(self, readings: Sequence[Reading]) -> dict[str, str]:
        """Where the document of a row is now: a person may have given it another path."""
        known = [row for one in readings for row in (one.known, *one.parts) if row is not None]
        ids = {row.document_id for row in known if row.document_id is not None}
        paths = dict(Document.objects.filter(pk__in=ids).values_list("pk", "path"))
        return {row.path: paths[row.document_id] for row in known if row.document_id in paths}

    def _ours(self, ids: Iterable[int]) -> set[int]:
        """Documents that began as a file of a folder. Others belong to whoever put them there: they
        get new texts, and are never renamed or deleted from here."""
        first = DocumentVersion.objects.filter(
            document_id__in=set(ids), number=1, source=Source.FOLDER
        )
        return set(first.values_list("document_id", flat=True))

    def _row(self, path: str, reading: Reading, document_id: int | None) -> FolderFile:
        row = FolderFile(
            source=self._source, path=path, document_id=document_id, **_measures(reading.snapshot)
        )
        # A text of an archive comes and goes with it.
        row.content_hash = reading.snapshot.digest if path == reading.path else ""
        return row

    def _archive(self, reading: Reading) -> FolderFile:
        row = self._row(reading.path, reading, None)
        refused = [one for one in reading.results if isinstance(one, Rejected)]
        row.error = "\n".join(f"{one.path}: {one.message}" for one in refused[:REASONS_KEPT])
        return row

    def _keep(self, rows: Collection[FolderFile], fields: Sequence[str]) -> None:
        FolderFile.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["source", "path"],
            update_fields=fields,
        )

    def _rename(self, rename: Rename) -> Change | None:
        known, seen = rename.known, rename.snapshot.seen
        documents = Document.objects.select_related("project").listed()
        document = documents.filter(pk__in=[known.document_id]).first()
        if document is None:
            return None
        try:
            rename_document(document=document, path=seen.path, actor=self._actor)
        except Refusal:
            return None
        row = FolderFile.objects.filter(pk=known.pk)
        row.update(path=seen.path, **_measures(rename.snapshot))
        if not rename.same_format:
            row.update(content_hash="", modified_ns=UNSURE)
        return Change(Kind.RENAMED, seen.path, known.path)

    def _remove(self, rows: Sequence[Known]) -> list[Change]:
        """Forget files, with their documents where no other file is the same document."""
        if not rows:
            return []
        gone = {row.pk for row in rows}
        documents = {row.document_id for row in rows if row.document_id is not None}
        others = FolderFile.objects.filter(document_id__in=documents).exclude(pk__in=gone)
        shared = set(others.values_list("document_id", flat=True))
        self._read_again(others)
        delete_documents(
            project=self._source.project,
            ids=[pk for pk in documents - shared if pk is not None],
            actor=self._actor,
        )
        FolderFile.objects.filter(pk__in=gone).delete()
        return [
            Change(Kind.DELETED, row.path)
            for row in rows
            if row.document_id is not None and row.document_id not in shared
        ]

    def _read_again(self, files: QuerySet[FolderFile]) -> None:
        """Of a document that is several files nobody knows whose text it has: the ones that are
        left say it anew."""
        paths = [path for (path,) in files.values_list("path")]
        files.update(modified_ns=UNSURE, content_hash="")
        archives = [archive for path in paths for archive in _archives_in(path)]
        FolderFile.objects.filter(
            source__project_id=self._source.project_id, path__in=archives
        ).update(modified_ns=UNSURE, content_hash="")


def _archives_in(path: str) -> list[str]:
    above = [str(folder) for folder in PurePosixPath(path).parents]
    return [folder for folder in above if ending_of(folder) == ARCHIVE]


def _measures(snapshot: Snapshot) -> dict[str, int]:
    seen = snapshot.seen
    return {
        "size": seen.size,
        "modified_ns": seen.modified_ns if snapshot.settled else UNSURE,
    }


def _row_path(reading: Reading, result: Draft | Rejected) -> str:
    """The row of a text: that of its file; of an archive's, one below it."""
    path = reading.path
    if ending_of(path) != ARCHIVE or not isinstance(result, Draft):
        return path
    folder = str(PurePosixPath(clean_path(path)).parent)
    inside = result.path if folder == "." else result.path.removeprefix(f"{folder}/")
    row = f"{path}/{inside}"
    if len(row) > PATH_LENGTH:
        row = f"{path}/{hashlib.sha256(inside.encode()).hexdigest()}"
    return row


def _moved(result: Draft | Rejected, path: str | None) -> Draft | Rejected:
    return replace(result, path=path) if path and isinstance(result, Draft) else result


def _left_behind(reading: Reading, kept: dict[str, FolderFile]) -> list[Known]:
    """Texts that were in an archive and are not any more. One that cannot be opened, perhaps as it
    is only half there, says nothing about them."""
    if any(isinstance(one, Rejected) and one.path == reading.path for one in reading.results):
        return []
    return [part for part in reading.parts if part.path not in kept]
