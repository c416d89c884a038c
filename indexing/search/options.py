"""What can be asked, and what is answered: plain data, the same for pages, programs and people at
a terminal."""

from dataclasses import dataclass, field
from datetime import datetime

from django.urls import reverse

from indexing.choices import Freshness, IndexStatus, Mode
from indexing.lexical.query import MOST_CHARACTERS

DEFAULT_LIMIT = 10
MOST_RESULTS = 100
# Nobody reads so far; a program that wants everything reads the documents.
FURTHEST_OFFSET = 1000
# More of a query is not looked at.
QUERY_CHARACTERS = MOST_CHARACTERS


@dataclass(frozen=True)
class SearchOptions:
    query: str
    # Whose documents: already checked by the caller (projects.access).
    project_ids: tuple[int, ...]
    mode: Mode = Mode.HYBRID
    limit: int = DEFAULT_LIMIT
    offset: int = 0
    # Answer with sections of these depths: what is found deeper down counts for the nearest
    # section above it that has one of them. 0 is the whole document. Empty: as it is found.
    depths: tuple[int, ...] = ()
    # Patterns as in .gitignore, of the documents' paths.
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    freshness: Freshness = Freshness.ALL
    # The last word may go on: for results as somebody types.
    typing: bool = False


@dataclass(frozen=True)
class TermHere:
    """A term of the glossary that stands in what was found."""

    id: int
    project_id: int
    term: str
    language: str
    # The first sentence of its definition.
    summary: str

    @property
    def url(self) -> str:
        return reverse("glossary-entry", args=[self.project_id, self.id])


@dataclass(frozen=True)
class EntryAsked:
    """The entry of the glossary that somebody asks for by its name."""

    id: int
    project_id: int
    term: str
    language: str
    definition: str
    aliases: tuple[str, ...]
    supported: bool
    needs_review: bool

    @property
    def url(self) -> str:
        return reverse("glossary-entry", args=[self.project_id, self.id])


@dataclass(frozen=True)
class SearchResult:
    project_id: int
    project_name: str
    document_id: int
    document_path: str
    document_title: str
    section_id: int
    heading: str
    heading_path: tuple[str, ...]
    number: str
    depth: int
    line_start: int
    line_end: int
    # HTML with the text escaped and the matches in <mark>; and the same text without marks.
    snippet_html: str
    snippet: str
    # From 0 to 1, higher is better; comparable within one answer only.
    score: float
    index_status: IndexStatus
    is_latest: bool
    has_pending_update: bool
    # The text that was found: its hash, and when it was indexed.
    document_hash: str
    indexed_at: datetime
    # Of the project's glossary, the best first; only some, where many stand in the section.
    terms: tuple[TermHere, ...] = ()


@dataclass(frozen=True)
class SearchPage:
    options: SearchOptions
    results: list[SearchResult]
    # How many sections (or groups of them) match; counted up to a limit.
    total: int
    total_is_exact: bool
    # What the reader should know: meaning could not be searched, words were left out, …
    notices: list[str] = field(default_factory=list)
    # What the glossary says, when the query is one of its terms and only one project was asked.
    entry: EntryAsked | None = None
