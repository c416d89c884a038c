"""Entries, and what becomes of them."""

from glossary_site.live.reading import events_after
from projects.access import OPERATOR
from projects.models import EntryRevision, GlossaryEntry
from projects.services.glossary import (
    EntryData,
    edit_entry,
    publish_entries,
)
from projects.terms.keys import key_of
from projects.terms.readings import reading_of


def place(quote: str, line: int = 3, path: str = "guide.md") -> dict:
    return {
        "document_id": 1,
        "path": path,
        "file_hash": "f" * 64,
        "line_start": line,
        "line_end": line,
        "heading_path": ("Guide",),
        "quote": quote,
    }


def data(term: str, definition: str = "", **fields) -> EntryData:
    values = {
        "confidence": 0.6,
        "evidence": [place(f"{term} is it")],
        "score": 5.0,
        "frequency": 4,
        "prompt_version": "define-1",
    }
    return EntryData(
        term=term,
        key=key_of(term),
        reading=reading_of(term),
        language="en",
        definition=definition or f"What {term} is.",
        **{**values, **fields},
    )


def publish(project, *entries, run_id=7, actor=OPERATOR):
    return publish_entries(project=project, entries=entries, run_id=run_id, actor=actor)


def entry(project, term: str) -> GlossaryEntry:
    return GlossaryEntry.objects.get(project=project, key=key_of(term))


def edit(row: GlossaryEntry, actor, **fields) -> GlossaryEntry:
    return edit_entry(entry=row, actor=actor, version=row.version, **fields)


def last(row: GlossaryEntry) -> EntryRevision:
    return EntryRevision.objects.filter(entry=row).order_by("-pk")[0]


def told(project) -> list[str]:
    kinds = [event["type"] for event in events_after(project.stream, 0)]
    return [kind for kind in kinds if kind.startswith("glossary.")]
