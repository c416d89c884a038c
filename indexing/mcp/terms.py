"""What the glossaries say about a term."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from indexing.mcp.answers import Evidence, GlossaryTerm, NearTerm, TermAnswer
from indexing.search.names import Names
from indexing.search.snapshot import snapshot
from indexing.search.terms import glossaries
from projects.models import Document, GlossaryEntry, Project
from projects.terms.wanted import Wanted

# The same word means something in each project; nobody reads more of them.
MOST_ENTRIES = 10
MOST_NEAR = 5


def look_up(term: str, projects: Sequence[Project]) -> TermAnswer:
    """The entries that go by that name, term or alias; else the terms that are nearest to it."""
    with snapshot():
        names = glossaries.names(project.pk for project in projects)
        ids = [pk for each in names.values() for pk in each.named(term)]
        ids = ids or _in_kana(Wanted(term), names)
        entries = _entries(ids)[:MOST_ENTRIES]
        documents = _documents(entries)
        nearest: list[GlossaryEntry] = []
        if not entries:
            near = [each.nearest(term, limit=MOST_NEAR) for each in names.values()]
            # The nearest of each project, then the second of each.
            nearest = _entries([pk for row in zip_longest(*near) for pk in row if pk is not None])
    return TermAnswer(
        asked=term,
        entries=[_answer(entry, documents) for entry in entries],
        nearest=[
            NearTerm(term=entry.term, projectId=entry.project_id, projectName=entry.project.name)
            for entry in nearest[:MOST_NEAR]
        ],
    )


def _in_kana(wanted: Wanted, names: Mapping[int, Names]) -> list[int]:
    """The entries that are called so in katakana, and those that are read so."""
    called = [pk for each in names.values() for key in wanted.keys for pk in each.named(key)]
    read = GlossaryEntry.objects.filter(project__in=names, reading=wanted.reading).order_by("pk")
    return [*called, *read.values_list("pk", flat=True)]


def _entries(ids: Sequence[int]) -> list[GlossaryEntry]:
    """In this order, without those that are gone."""
    entries = GlossaryEntry.objects.select_related("project").in_bulk(ids) if ids else {}
    return [entries[pk] for pk in dict.fromkeys(ids) if pk in entries]


def _documents(entries: Sequence[GlossaryEntry]) -> dict[int, Document]:
    ids = {piece.get("document_id") for entry in entries for piece in entry.evidence} - {None}
    # Only of the entries' own projects, whatever the evidence says.
    documents = Document.objects.listed().filter(project__in={e.project_id for e in entries})
    return documents.in_bulk(ids) if ids else {}


def _answer(entry: GlossaryEntry, documents: Mapping[int, Document]) -> GlossaryTerm:
    return GlossaryTerm(
        entryId=entry.pk,
        projectId=entry.project_id,
        projectName=entry.project.name,
        term=entry.term,
        definition=entry.definition,
        category=entry.category,
        aliases=entry.aliases,
        related=entry.related,
        confidence=entry.confidence,
        supported=entry.supported,
        needsReview=entry.needs_review,
        evidence=[
            _evidence(piece, documents.get(piece.get("document_id", 0))) for piece in entry.evidence
        ],
    )


def _evidence(piece: Mapping[str, Any], document: Document | None) -> Evidence:
    first = piece.get("line_start") or 1
    return Evidence(
        documentId=document.pk if document else None,
        documentPath=document.path if document else piece.get("path", ""),
        lineStart=first,
        lineEnd=piece.get("line_end") or first,
        headingPath=list(piece.get("heading_path") or []),
        quote=piece.get("quote", ""),
        isLatest=document is not None and document.file_hash == piece.get("file_hash"),
    )
