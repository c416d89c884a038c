"""The one door through which a document's text is written, and what else can happen to a document.

Files arrive as a stream and are stored in chunks, a transaction each: memory does not grow with
the number of files, and a stop in the middle leaves whole chunks behind.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.live.services import publish
from projects.access import Actor, author_of
from projects.choices import Source
from projects.intake.errors import Refused
from projects.intake.paths import clean_path
from projects.intake.reader import Draft, Rejected, title_of
from projects.models import Document, DocumentVersion, Project

CHUNK_FILES = 200
CHUNK_CHARACTERS = 4_000_000
# An event names the first few paths; pages ask for the rest.
PATHS_IN_EVENT = 10

CREATED, UPDATED, UNCHANGED = "created", "updated", "unchanged"


@dataclass(frozen=True)
class Stored:
    """What became of one draft."""

    path: str
    outcome: str
    document_id: int
    version: int


def store_documents(
    *,
    project: Project,
    drafts: Iterable[Draft | Rejected],
    source: Source,
    actor: Actor,
) -> Iterator[Stored | Rejected]:
    """Write texts, saying for each draft what became of it. Nothing happens until it is iterated.

    The same path with new text is a new version; the same text again changes nothing.
    """
    chunk: dict[str, Draft] = {}
    characters = 0
    for draft in drafts:
        if isinstance(draft, Rejected):
            yield draft
            continue
        full = len(chunk) >= CHUNK_FILES or characters + len(draft.content) > CHUNK_CHARACTERS
        # The same path twice in a row of files is two versions, in their order.
        if full or draft.path in chunk:
            yield from _store_chunk(project, chunk, source, actor)
            chunk, characters = {}, 0
        chunk[draft.path] = draft
        characters += len(draft.content)
    if chunk:
        yield from _store_chunk(project, chunk, source, actor)


def store_document(
    *, project: Project, path: str, content: str, source: Source, actor: Actor
) -> Stored:
    """Write one text that is already Markdown. A path that cannot be is a Refusal."""
    try:
        path = clean_path(path)
    except Refused as error:
        raise Refusal(error.code, error.message, status=400) from error
    draft = Draft(path=path, content=content, title=title_of(content, path), format="markdown")
    (stored,) = store_documents(project=project, drafts=[draft], source=source, actor=actor)
    assert isinstance(stored, Stored)
    return stored


@transaction.atomic
def _store_chunk(
    project: Project, chunk: dict[str, Draft], source: Source, actor: Actor
) -> list[Stored]:
    # The project's row is the lock: two uploads of one path make two versions, not an error, and
    # nothing is written into a project that is being deleted.
    if not Project.objects.select_for_update().filter(pk=project.pk).exists():
        raise Refusal("project_gone", _("The project was deleted meanwhile."), status=404)
    present = {
        document.path: document
        for document in Document.objects.filter(project=project, path__in=chunk).only(
            "path", "file_hash", "version"
        )
    }
    now = timezone.now()
    outcomes: dict[str, str] = {}
    written: list[Document] = []
    for path, draft in chunk.items():
        data = draft.content.encode()
        digest = hashlib.sha256(data).hexdigest()
        document = present.get(path)
        if document is None:
            outcomes[path] = CREATED
            present[path] = document = Document(project=project, path=path, version=0)
        elif document.file_hash == digest:
            outcomes[path] = UNCHANGED
            continue
        else:
            outcomes[path] = UPDATED
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
        _publish(project, actor, written, outcomes)
    return [Stored(path, outcomes[path], present[path].pk, present[path].version) for path in chunk]


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
    project: Project, actor: Actor, written: list[Document], outcomes: dict[str, str]
) -> None:
    publish(
        project.stream,
        "documents.stored",
        {
            "created": sum(outcome == CREATED for outcome in outcomes.values()),
            "updated": sum(outcome == UPDATED for outcome in outcomes.values()),
            "paths": [document.path for document in written[:PATHS_IN_EVENT]],
            "by": str(author_of(actor) or ""),
        },
    )


def rename_document(*, document: Document, path: str, actor: Actor) -> Document:
    """Give a document another path; its text and its history stay."""
    try:
        path = clean_path(path)
    except Refused as error:
        raise Refusal(error.code, error.message, status=400) from error
    before = document.path
    if path == before:
        return document
    try:
        with transaction.atomic():
            Document.objects.filter(pk=document.pk).update(path=path)
            publish(
                document.project.stream,
                "document.renamed",
                {"from": before, "path": path, "by": str(author_of(actor) or "")},
            )
    except IntegrityError as error:
        raise Refusal(
            "document_path_taken",
            _("There is already a document at “%(path)s”.") % {"path": path},
        ) from error
    document.path = path
    return document


@transaction.atomic
def delete_documents(*, project: Project, ids: Iterable[int], actor: Actor) -> int:
    """Remove documents with their history; returns how many there were."""
    documents = Document.objects.filter(project=project, pk__in=list(ids))
    paths = list(documents.order_by("path").values_list("path", flat=True))
    if not paths:
        return 0
    documents.delete()
    publish(
        project.stream,
        "documents.deleted",
        {
            "deleted": len(paths),
            "paths": paths[:PATHS_IN_EVENT],
            "by": str(author_of(actor) or ""),
        },
    )
    return len(paths)
