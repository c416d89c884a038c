"""The lines of documents where a term stands, as the documents are now."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from projects.models import Document, Term
from projects.views.places import lines_url, spelling_pattern

# A line of a document can be a whole book.
SNIPPET = 500


@dataclass(frozen=True)
class PlaceOfTerm:
    document: int
    path: str
    line: int
    count: int
    # None: the text has changed since, and this line no longer has the term.
    snippet: str | None
    url: str


def places_of(term: Term, occurrences: Iterable[Sequence[int]]) -> list[PlaceOfTerm]:
    """In two queries. Documents that were deleted since are left out."""
    rows = [tuple(row) for row in occurrences]
    documents = Document.objects.filter(project=term.project_id, pk__in={row[0] for row in rows})
    texts = {document.pk: document.content.split("\n") for document in documents}
    paths = {document.pk: document.path for document in documents}
    pattern = spelling_pattern([term.text, *term.variants])
    found = []
    for number, line, count in rows:
        if number not in texts:
            continue
        # A term may be broken over two lines; it begins on the one that was noted.
        here = "\n".join(texts[number][line - 1 : line + 1])
        first = texts[number][line - 1] if line <= len(texts[number]) else ""
        match = pattern.search(here)
        is_there = match is not None and match.start() < len(first)
        found.append(
            PlaceOfTerm(
                document=number,
                path=paths[number],
                line=line,
                count=count,
                snippet=first.strip()[:SNIPPET] if is_there else None,
                url=lines_url(
                    project_id=term.project_id, document_id=number, first=line, last=line
                ),
            )
        )
    return found
