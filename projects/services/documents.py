"""The one door through which a document's text is written, and what else can happen to a document.

Files arrive as a stream and are stored in chunks, a transaction each: memory does not grow with
the number of files, and a stop in the middle leaves whole chunks behind.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.live.services import publish
from projects.access import Actor, author_of, name_of
from projects.choices import Outcome, Source
from projects.followers import texts_written
from projects.intake.errors import Refused
from projects.intake.files import Draft, Rejected
from projects.intake.paths import clean_path
from projects.intake.texts import draft_of
from projects.limits import limits
from projects.models import Document, DocumentVersion, Project
from projects.services.locking import lock_project

CHUNK_FILES = 200
CHUNK_CHARACTERS = 4_000_000
# An event names the first few paths; pages ask for the rest.
PATHS_IN_EVENT = 10


@dataclass(frozen=True)
class Stored:
    """What became of one draft."""

    path: str
    outcome: Outcome
    document_id: int
    version: int


def store_documents(
    *,
    project: Project,
    drafts: Iterable[Draft | Rejected],
    source: Source,
    actor: Actor,
) -> Iterator[Stored | Rejected]:
    """Write texts, saying for each draft, in their order, what became of it. Nothing happens until
    it is iterated.

    The same path with new text is a new version; the same text again changes nothing.
    """
    for chunk in _chunks(drafts):
        texts = {draft.path: draft for draft in chunk if isinstance(draft, Draft)}
        stored = _store_chunk(project, texts, source, actor) if texts else {}
        for draft in chunk:
            yield draft if isinstance(draft, Rejected) else stored[draft.path]


def store_document(
    *, project: Project, path: str, content: str, source: Source, actor: Actor
) -> Stored:
    """Write one text that is already Markdown. One that cannot go in is a Refusal."""
    try:
        draft = draft_of(path=path, content=content, limits=limits())
    except Refused as error:
        raise _refusal(error) from error
    return _store_chunk(project, {draft.path: draft}, source, actor)[draft.path]


def _refusal(error: Refused) -> Refusal:
    """Of a single text, a bad one is the whole answer."""
    too_large = error.code == "file_too_large"
    return Refusal(error.code, error.message, status=413 if too_large else 400)


def _chunks(drafts: Iterable[Draft | Rejected]) -> Iterator[list[Draft | Rejected]]:
    chunk: list[Draft | Rejected] = []
    paths: set[str] = set()
    characters = 0
    for draft in drafts:
        size = len(draft.content) if isinstance(draft, Draft) else 0
        full = len(chunk) >= CHUNK_FILES or characters + size > CHUNK_CHARACTERS
        # The same path twice in a row of files is two versions, in their order.
        if chunk and (full or draft.path in paths):
            yield chunk
            chunk, paths, characters = [], set(), 0
        chunk.append(draft)
        paths.add(draft.path)
        characters += size
    if chunk:
        yield chunk


@transaction.atomic
def _store_chunk(
    project: Project, chunk: dict[str, Draft], source: Source, actor: Actor
) -> dict[str, Stored]:
    lock_project(project)
    present = {
        document.path: document
        for document in Document.objects.filter(project=project, path__in=chunk).only(
            "path", "file_hash", "version"
        )
    }
    now = timezone.now()
    outcomes: dict[str, Outcome] = {}
    written: list[Document] = []
    for path, draft in chunk.items():
        data = draft.content.encode()
        digest = hashlib.sha256(data).hexdigest()
        document = present.get(path)
        if document is None:
            outcomes[path] = Outcome.CREATED
            present[path] = document = Document(project=project, path=path, version=0)
        elif document.file_hash == digest:
            outcomes[path] = Outcome.UNCHANGED
            continue
        else:
            outcomes[path] = Outcome.UPDATED
        document.title = draft.title
        document.content = draft.content
        document.file_hash = digest
        document.byte_size = len(data)
        document.format = draft.format
        document.source = source
        document.version += 1
        document.updated_at = now
        written.append(document)
    _write(written, actor)
    if written:
        texts_written(project, written)
        _publish(project, actor, written, outcomes)
    return {
        path: Stored(path, outcomes[path], present[path].pk, present[path].version)
        for path in chunk
    }


def _write(documents: list[Document], actor: Actor) -> None:
    Document.objects.bulk_create([document for document in documents if document.pk is None])
    Document.objects.bulk_update(
        [document for document in documents if document.version > 1],
        ["title", "content", "file_hash", "byte_size", "format", "source", "version", "updated_at"],
    )
    DocumentVersion.objects.bulk_create(
        DocumentVersion(
            document=document,
            number=document.version,
            content=document.content,
            file_hash=document.file_hash,
            byte_size=document.byte_size,
            format=document.format,
            source=document.source,
            author=author_of(actor),
            created_at=document.updated_at,
        )
        for document in documents
    )


def _publish(
    project: Project, actor: Actor, written: list[Document], outcomes: dict[str, Outcome]
) -> None:
    publish(
        project.stream,
        "documents.stored",
        {
            "created": sum(outcome == Outcome.CREATED for outcome in outcomes.values()),
            "updated": sum(outcome == Outcome.UPDATED for outcome in outcomes.values()),
            "paths": [document.path for document in written[:PATHS_IN_EVENT]],
        }
        | _who(actor, written[0].source),
    )


def _who(actor: Actor, source: str) -> dict[str, str]:
    """Whose news it is; where nobody did it, the door tells what did: a collection, an operator."""
    name = name_of(actor)
    return {"by": name} if name else {"by": "", "source": source}


@transaction.atomic
def update_document(
    *,
    document: Document,
    path: str | None = None,
    content: str | None = None,
    source: Source,
    actor: Actor,
) -> Stored:
    """Rename a document, give it a new text, or both in one step."""
    # Texts are stored by path. With both rows locked, the project's first as everywhere, nobody can
    # rename the document between finding and writing it.
    lock_project(document.project)
    rows = Document.objects.select_for_update(of=("self",)).select_related("project").listed()
    locked = rows.filter(pk=document.pk).first()
    if locked is None:
        raise _document_gone()
    if path is not None:
        rename_document(document=locked, path=path, actor=actor)
    if content is None:
        return Stored(locked.path, Outcome.UNCHANGED, locked.pk, locked.version)
    return store_document(
        project=locked.project, path=locked.path, content=content, source=source, actor=actor
    )


def _document_gone() -> Refusal:
    return Refusal("document_gone", _("This document was deleted meanwhile."), status=404)


def rename_document(*, document: Document, path: str, actor: Actor) -> Document:
    """Give a document another path; its text and its history stay."""
    try:
        path = clean_path(path)
    except Refused as error:
        raise _refusal(error) from error
    before = document.path
    if path == before:
        return document
    try:
        with transaction.atomic():
            # Nobody may be writing a new document to that path.
            lock_project(document.project)
            if not Document.objects.filter(pk=document.pk).update(path=path):
                raise _document_gone()
            publish(
                document.project.stream,
                "document.renamed",
                {"from": before, "path": path} | _who(actor, document.source),
            )
    except IntegrityError as error:
        raise Refusal(
            "document_path_taken",
            _("There is already a document at “%(path)s”.") % {"path": path},
        ) from error
    document.path = path
    return document


def lock_documents(documents: QuerySet[Document]) -> dict[int, str]:
    """For those who delete them, after the project and before anything else: what refers to
    a document (its sections, its requests) is written only while it cannot go. Their paths."""
    rows = documents.select_for_update(of=("self",)).order_by("pk")
    return dict(rows.values_list("pk", "path"))


@transaction.atomic
def delete_documents(*, project: Project, ids: Iterable[int], actor: Actor) -> int:
    """Remove documents with their history; returns how many there were."""
    lock_project(project)
    documents = Document.objects.filter(project=project, pk__in=list(ids))
    locked = lock_documents(documents)
    if not locked:
        return 0
    paths = sorted(locked.values())
    source = documents.order_by("pk").values_list("source", flat=True)[0]
    # Django loads what it deletes: not the texts as well.
    documents.filter(pk__in=locked).listed().delete()
    publish(
        project.stream,
        "documents.deleted",
        {"deleted": len(paths), "paths": paths[:PATHS_IN_EVENT]} | _who(actor, source),
    )
    return len(paths)
