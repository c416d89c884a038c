"""What goes from step to step, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class SourceDocument:
    """A document as the run reads it: the text that went with this hash."""

    id: int
    path: str
    file_hash: str
    text: str


@dataclass(frozen=True)
class Occurrence:
    """A line of a document where a term stands, and how often it does there. Lines count from 1."""

    document_id: int
    line: int
    count: int = 1


@dataclass(frozen=True)
class Candidate:
    """A term as it was found: under its most usual spelling, with all others merged into it."""

    text: str
    # The same for all spellings that are one term: see `projects/terms/keys.py`.
    key: str
    language: str  # "ja" or "en"
    # How it is read, in hiragana; for English the text in small letters. The order of lists.
    reading: str
    # Higher is more of a term; only the order within one extraction means something.
    score: float
    frequency: int
    document_count: int
    # Spellings found, the most usual first.
    variants: tuple[str, ...] = ()
    # The first ones of each document, and not more than MOST_OCCURRENCES.
    occurrences: tuple[Occurrence, ...] = ()
    # A key of `projects.choices.Category`, or of one of the project's own categories.
    category: str = ""
    required: bool = False
    # Why it is left out of the glossary by itself; empty where it is in.
    excluded_because: str = ""


MOST_OCCURRENCES = 300


@dataclass(frozen=True)
class TermLists:
    """What people have said about terms. Keys are those of `projects/terms/keys.py`."""

    # Key → the spelling that people chose.
    required: Mapping[str, str] = field(default_factory=dict)
    excluded: frozenset[str] = frozenset()
    # Key → category, note.
    categories: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    # Of which people chose anything: spelling, status or category.
    chosen: frozenset[str] = frozenset()
    # Each group: the primary's spelling first.
    synonyms: Sequence[tuple[str, ...]] = ()


NO_LISTS = TermLists()


@dataclass(frozen=True)
class Term:
    """A term that gets an entry."""

    text: str
    key: str
    language: str
    reading: str
    category: str = ""
    score: float = 0.0
    frequency: int = 0
    document_count: int = 0
    variants: tuple[str, ...] = ()
    occurrences: tuple[Occurrence, ...] = ()
    # Other members of its synonym group; what people noted about it.
    synonyms: tuple[str, ...] = ()
    note: str = ""

    @property
    def spellings(self) -> tuple[str, ...]:
        """Everything it may be called in a text, without repetition."""
        return tuple(dict.fromkeys((self.text, *self.variants, *self.synonyms)))


@dataclass(frozen=True)
class Context:
    """A passage in which a term stands, as it stands in the document."""

    document_id: int
    path: str
    file_hash: str
    line_start: int
    line_end: int
    heading_path: tuple[str, ...]
    # Verbatim: a piece of the document's text.
    text: str
    # From 0 to 1: how much of a definition it is, and which pattern says so ("" where none does).
    definitional: float = 0.0
    pattern: str = ""


@dataclass(frozen=True)
class Evidence:
    """What a definition rests on: words that stand in a document, and where."""

    document_id: int
    path: str
    file_hash: str
    line_start: int
    line_end: int
    quote: str
    heading_path: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A term with its definition."""

    term: str
    key: str
    language: str
    reading: str
    definition: str
    confidence: float
    category: str = ""
    aliases: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    # False: what it claims to rest on cannot be found in the documents.
    supported: bool = True
    needs_review: bool = False
    score: float = 0.0
    frequency: int = 0
    prompt_version: str = ""


@dataclass(frozen=True)
class Issue:
    """What is wrong with an entry. `kind` is a value of `runs.choices.IssueKind`."""

    key: str
    kind: str
    description: str
    suggestion: str = ""
    # The other entry, of a contradiction, a duplicate or a missing relation.
    other_key: str = ""
    # It should not be in the glossary at all; the description says why.
    exclude: bool = False


@dataclass(frozen=True)
class Failure:
    """A term for which a step had no result, with a sentence for people."""

    key: str
    term: str
    error: str


Json = dict[str, Any]
