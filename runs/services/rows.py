"""From rows to what the pipeline works with, and back."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from projects.models import Document, DocumentVersion
from runs.models import (
    ProvisionalEntry,
    RefinedEntry,
    Run,
    RunIssue,
    RunTerm,
)
from runs.models.results import EntryOfRun
from runs.pipeline.data import (
    Entry,
    Evidence,
    Issue,
    Occurrence,
    SourceDocument,
    Term,
)

CHUNK = 200

# The columns that an entry and its row have in common, but for what is stored as JSON.
PLAIN = (
    "term",
    "key",
    "language",
    "reading",
    "definition",
    "confidence",
    "category",
    "supported",
    "needs_review",
    "score",
    "frequency",
    "prompt_version",
)

Row = TypeVar("Row", ProvisionalEntry, RefinedEntry)


def documents_of(run: Run) -> list[SourceDocument]:
    """The texts as they were when the run read them. One that was deleted since is gone."""
    wanted = {row.document_id: row for row in run.documents.all()}
    ids = sorted(wanted)
    texts: dict[int, str] = {}
    for first in range(0, len(ids), CHUNK):
        chunk = ids[first : first + CHUNK]
        present = Document.objects.filter(pk__in=chunk).values_list("pk", "version", "content")
        texts |= {pk: text for pk, version, text in present if version == wanted[pk].version}
        for pk in set(chunk) - texts.keys():
            older = DocumentVersion.objects.filter(document=pk, number=wanted[pk].version)
            texts |= dict(older.values_list("document_id", "content"))
    return [
        SourceDocument(id=pk, path=row.path, file_hash=row.file_hash, text=texts[pk])
        for pk, row in wanted.items()
        if pk in texts
    ]


def term_of(row: RunTerm) -> Term:
    return Term(
        text=row.text,
        key=row.key,
        language=row.language,
        reading=row.reading,
        category=row.category,
        score=row.score,
        frequency=row.frequency,
        document_count=row.document_count,
        variants=tuple(row.variants),
        occurrences=occurrences_of(row.occurrences),
        synonyms=tuple(row.synonyms),
        note=row.note,
    )


def occurrences_of(stored: Iterable[Sequence[int]]) -> tuple[Occurrence, ...]:
    return tuple(Occurrence(*each) for each in stored)


def occurrences_to_store(occurrences: Iterable[Occurrence]) -> list[tuple[int, int, int]]:
    return [(each.document_id, each.line, each.count) for each in occurrences]


def entry_of(row: EntryOfRun) -> Entry:
    return Entry(
        **{name: getattr(row, name) for name in PLAIN},
        aliases=tuple(row.aliases),
        related=tuple(row.related),
        evidence=tuple(
            Evidence(**{**each, "heading_path": tuple(each.get("heading_path", ()))})
            for each in row.evidence
        ),
    )


def entry_row(kind: type[Row], run: Run, entry: Entry, *, order: int, **more: Any) -> Row:
    return kind(
        run=run,
        order=order,
        **{name: getattr(entry, name) for name in PLAIN},
        aliases=list(entry.aliases),
        related=list(entry.related),
        evidence=[
            {**vars(each), "heading_path": list(each.heading_path)} for each in entry.evidence
        ],
        **more,
    )


def issue_of(row: RunIssue) -> Issue:
    return Issue(
        key=row.key,
        kind=row.kind,
        description=row.description,
        suggestion=row.suggestion,
        other_key=row.other_key,
        exclude=row.exclude,
    )
