"""Where a term stands: the lines of each document, as the document is now."""

from dataclasses import dataclass
from itertools import groupby

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet

from projects.languages import language_of
from projects.models import Document, Term
from projects.views.places import Part, excerpt, lines_url, spelling_pattern, stands_in

DOCUMENTS_PER_PAGE = 20
# Of one document; whoever wants them all opens it.
LINES_PER_DOCUMENT = 8


@dataclass(frozen=True)
class Place:
    line: int
    parts: list[Part]
    language: str
    url: str


@dataclass(frozen=True)
class InDocument:
    document: Document
    folder: str
    name: str
    places: list[Place]
    # Lines beyond those shown, and where the first of them is.
    more: int
    more_url: str
    # The text is not the one that was read when the term was found.
    has_changed: bool


@dataclass(frozen=True)
class Occurrences:
    page: Page[tuple[int, list[int]]]
    documents: list[InDocument]

    @property
    def total(self) -> int:
        return self.page.paginator.count


def occurrences_of(term: Term, page: str | None, synonyms: list[str]) -> Occurrences:
    lines = _by_document(term)
    shown = Paginator(lines, DOCUMENTS_PER_PAGE).get_page(page)
    spellings = [term.text, *term.variants, *synonyms]
    documents: QuerySet[Document] = term.project.documents.filter(
        pk__in=[document_id for document_id, _lines in shown]
    )
    by_id = documents.in_bulk()
    return Occurrences(
        page=shown,
        documents=[
            _in_document(by_id[document_id], numbers, spellings)
            for document_id, numbers in shown
            # Deleted since; the next extraction forgets it.
            if document_id in by_id
        ],
    )


def _by_document(term: Term) -> list[tuple[int, list[int]]]:
    """Documents with the most occurrences first."""
    rows = sorted((document_id, line, count) for document_id, line, count in term.occurrences)
    found = []
    for document_id, places in groupby(rows, key=lambda row: row[0]):
        known = list(places)
        found.append((sum(row[2] for row in known), document_id, [row[1] for row in known]))
    found.sort(key=lambda each: (-each[0], each[1]))
    return [(document_id, lines) for _count, document_id, lines in found]


def _in_document(document: Document, numbers: list[int], spellings: list[str]) -> InDocument:
    pattern = spelling_pattern(spellings)
    texts = document.content.split("\n")
    folder, slash, name = document.path.rpartition("/")
    # A line that no longer has the term is another one by now: it says nothing.
    there = [
        number
        for number in numbers
        if stands_in(pattern, *[*texts[number - 1 : number + 1], "", ""][:2])
    ]
    shown, beyond = there[:LINES_PER_DOCUMENT], there[LINES_PER_DOCUMENT:]
    places = [
        Place(
            number,
            excerpt(texts[number - 1], pattern),
            language_of(texts[number - 1]),
            _url(document, number),
        )
        for number in shown
    ]
    return InDocument(
        document=document,
        folder=folder + slash,
        name=name,
        places=places,
        more=len(beyond),
        more_url=_url(document, beyond[0]) if beyond else "",
        has_changed=len(there) < len(numbers),
    )


def _url(document: Document, line: int) -> str:
    return lines_url(project_id=document.project_id, document_id=document.pk, first=line, last=line)
