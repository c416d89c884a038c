"""What the pages of documents show of each one beyond its own row.

Apps above this one add theirs when they are ready (how fresh the index is): these pages cannot ask
them, because imports point the other way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from projects.models import Document, DocumentVersion


@dataclass(frozen=True)
class DocumentFact:
    key: str
    label: Any
    # For a page of the list, all of it at once: what to show, by the document's id.
    of_many: Callable[[Sequence[Document]], Mapping[int, SafeString]]
    # For the page of one document, where it keeps itself up to date.
    of_one: Callable[[Document], SafeString]
    # The list is asked for again when this part of the feed tells (static/live.js).
    live: str


# Where versions of one document came from, beyond their `Source`: all of them at once, by number.
VersionNote = Callable[[Sequence[DocumentVersion]], Mapping[int, SafeString]]

FACTS: list[DocumentFact] = []
VERSION_NOTES: list[VersionNote] = []


@dataclass(frozen=True)
class Cell:
    label: Any
    value: SafeString


def facts_of_many(documents: Sequence[Document]) -> dict[int, list[Cell]]:
    found = [(fact, fact.of_many(documents)) for fact in FACTS]
    nothing = SafeString()
    return {
        document.pk: [Cell(fact.label, values.get(document.pk, nothing)) for fact, values in found]
        for document in documents
    }


def facts_of_one(document: Document) -> list[Cell]:
    return [Cell(fact.label, fact.of_one(document)) for fact in FACTS]


def notes_of(versions: Sequence[DocumentVersion]) -> dict[int, list[SafeString]]:
    found = [note(versions) for note in VERSION_NOTES]
    return {
        version.number: [notes[version.number] for notes in found if version.number in notes]
        for version in versions
    }
