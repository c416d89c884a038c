"""The data of each answer. Clients get this description and may check the answers against it.

The names are those of the search in the REST API.
"""

from datetime import datetime

from pydantic import BaseModel, Field

from indexing.choices import IndexStatus


class TermHere(BaseModel):
    id: int
    term: str
    url: str


class EntryAsked(TermHere):
    definition: str
    aliases: list[str]
    supported: bool
    needsReview: bool


class FoundSection(BaseModel):
    documentPath: str
    heading: str
    score: float = Field(description="From 0 to 1, higher is better, within one answer.")
    indexStatus: IndexStatus
    isLatest: bool = Field(description="Whether this is the text the document has now.")
    hasPendingUpdate: bool
    headingPath: list[str]
    sectionNumber: str
    depth: int
    lineStart: int
    lineEnd: int
    snippet: str
    snippetHtml: str
    documentId: int
    documentTitle: str
    projectId: int
    projectName: str
    sectionId: int = Field(description="For get_section.")
    documentHash: str
    indexedAt: datetime
    terms: list[TermHere] = Field(
        description="Terms of the team's glossary in this section, for look_up_term."
    )


class SearchAnswer(BaseModel):
    query: str
    total: int
    totalIsExact: bool = Field(description="False: there are more than total.")
    results: list[FoundSection]
    notices: list[str]
    entry: EntryAsked | None = Field(
        description="What the glossary says, when the query is one of its terms and one project "
        "was asked; else null."
    )


class Passage(BaseModel):
    """Lines of a document."""

    documentId: int
    documentPath: str
    documentTitle: str
    documentHash: str
    projectId: int
    projectName: str
    lineStart: int
    lineEnd: int
    totalLines: int
    content: str
    nextLine: int | None = Field(
        description="Where to read on, when the answer was cut short; else null."
    )


class SectionAnswer(Passage):
    sectionId: int
    heading: str
    headingPath: list[str]
    sectionNumber: str
    depth: int
    isLatest: bool = Field(description="Whether this is the text the document has now.")


class ListedDocument(BaseModel):
    documentId: int
    documentPath: str
    documentTitle: str
    projectId: int
    projectName: str
    bytes: int
    version: int
    changedAt: datetime
    indexStatus: IndexStatus | None = Field(description="Null: not in the index yet.")
    indexError: str = Field(description="Why it could not be indexed; empty where it could.")


class DocumentsAnswer(BaseModel):
    total: int
    documents: list[ListedDocument]


class ProjectState(BaseModel):
    projectId: int
    projectName: str
    documents: int
    upToDate: int = Field(description="Documents whose present text is the one that is found.")
    sections: int
    pending: int
    processing: int
    failed: int
    oldestPendingAt: datetime | None
    etaSeconds: float | None


class StatusAnswer(BaseModel):
    projects: list[ProjectState]


class Evidence(BaseModel):
    """Words of a document that a definition rests on."""

    documentId: int | None = Field(description="Null: the document is gone.")
    documentPath: str
    lineStart: int
    lineEnd: int
    headingPath: list[str]
    quote: str
    isLatest: bool = Field(
        description="Whether the lines were counted in the text the document has now."
    )


class GlossaryTerm(BaseModel):
    entryId: int
    projectId: int
    projectName: str
    term: str
    definition: str
    category: str
    aliases: list[str]
    related: list[str]
    confidence: float = Field(description="From 0 to 1.")
    supported: bool = Field(
        description="False: what it says it rests on cannot be found in the documents."
    )
    needsReview: bool = Field(description="Written by a machine that was not sure.")
    evidence: list[Evidence]


class NearTerm(BaseModel):
    term: str
    projectId: int
    projectName: str


class TermAnswer(BaseModel):
    asked: str
    entries: list[GlossaryTerm] = Field(description="Empty: no glossary has the term.")
    nearest: list[NearTerm] = Field(description="Terms like it, where there is no entry.")
