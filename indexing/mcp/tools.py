"""A method for each tool. Their docstrings and the descriptions of their parameters are written for
models: they are all a model knows of the tool."""

from collections.abc import Callable
from typing import Annotated, Any
from unicodedata import normalize

from django.db.models import Max
from django.db.models.functions import Left
from django.http import Http404
from django.utils.translation import gettext as _
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from glossary_site.api.views import BIGGEST_ID
from glossary_site.errors import Refusal
from indexing.api.serializers import SearchAnswerSerializer
from indexing.choices import Freshness, Mode
from indexing.mcp import texts
from indexing.mcp.answers import (
    DocumentsAnswer,
    ListedDocument,
    Passage,
    ProjectState,
    SearchAnswer,
    SectionAnswer,
    StatusAnswer,
    TermAnswer,
)
from indexing.mcp.passages import lines_of
from indexing.mcp.terms import look_up
from indexing.models import Section
from indexing.search.grouping import DEEPEST
from indexing.search.options import (
    DEFAULT_LIMIT,
    FURTHEST_OFFSET,
    MOST_RESULTS,
    QUERY_CHARACTERS,
    SearchOptions,
)
from indexing.search.service import search
from indexing.services.states import states_of
from indexing.services.status import index_status
from projects.access import Actor, visible_projects
from projects.management.targets import project_named, projects_meant
from projects.models import Document, DocumentVersion
from projects.models.terms import TERM_LENGTH
from projects.querysets import DocumentQuerySet

MOST_DOCUMENTS = 100

ProjectName = Annotated[
    str | int | None,
    Field(description="Name or id of a project. Without it: all projects you may see."),
]
Id = Annotated[int, Field(ge=1, le=BIGGEST_ID)]
Offset = Annotated[int, Field(ge=0, le=FURTHEST_OFFSET, description="Results to leave out.")]
Pattern = Annotated[str, Field(min_length=1, max_length=1000)]


def answer(text: str, data: Any) -> CallToolResult:
    if isinstance(data, BaseModel):
        data = data.model_dump(mode="json")
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=data)


class Tools:
    """What can be asked, on behalf of one person."""

    def __init__(self, actor: Callable[[], Actor]) -> None:
        # Looked up with each call: rights are lost while a server runs.
        self._actor = actor

    def search(
        self,
        query: Annotated[
            str,
            Field(
                description='Words or a question, Japanese or English. "an exact phrase", '
                "prefix*, and -word to leave out what has it. "
                f"At most {QUERY_CHARACTERS} characters are looked at."
            ),
        ],
        project: ProjectName = None,
        mode: Annotated[
            Mode,
            Field(
                description="hybrid is the best choice unless you need exact words (lexical) or "
                "only the meaning counts (vector)."
            ),
        ] = Mode.HYBRID,
        limit: Annotated[int, Field(ge=1, le=MOST_RESULTS)] = DEFAULT_LIMIT,
        offset: Offset = 0,
        depth: Annotated[
            list[Annotated[int, Field(ge=0, le=DEEPEST)]] | None,
            Field(
                description="Answer with sections of these heading depths only (1 to 6; 0 is the "
                "whole document). What is found deeper counts for the section above it."
            ),
        ] = None,
        path: Annotated[
            list[Pattern] | None,
            Field(
                description="Only documents whose path matches one of these .gitignore patterns."
            ),
        ] = None,
        exclude_path: Annotated[
            list[Pattern] | None,
            Field(description="No documents whose path matches one of these .gitignore patterns."),
        ] = None,
        index_status: Annotated[
            Freshness,
            Field(
                description="latest_only leaves out documents that changed and are not indexed "
                "anew yet."
            ),
        ] = Freshness.ALL,
    ) -> Annotated[CallToolResult, SearchAnswer]:
        """Find the sections of the team's documents that answer a question or contain some words.

        Use this first for anything about the team's own subjects, words, procedures or decisions.
        Results come best first, each with the document's path, the headings, the lines and a
        snippet. Read on with get_section (by sectionId) or get_document (by path or id and lines).
        [updating] or [outdated] means that the document has a newer text than the one found.
        """
        wanted = str(project) if project is not None else None
        page = search(
            SearchOptions(
                query=query,
                project_ids=tuple(p.pk for p in projects_meant(wanted, self._actor())),
                mode=mode,
                limit=limit,
                offset=offset,
                depths=tuple(dict.fromkeys(depth or ())),
                include=tuple(path or ()),
                exclude=tuple(exclude_path or ()),
                freshness=index_status,
            )
        )
        return answer(texts.of_search(page), SearchAnswerSerializer(page).data)

    def look_up_term(
        self,
        term: Annotated[
            str,
            Field(
                min_length=1,
                max_length=TERM_LENGTH,
                description="A term or another name of it, Japanese or English. Plural, capitals, "
                "hyphens and long-vowel marks do not matter.",
            ),
        ],
        project: ProjectName = None,
    ) -> Annotated[CallToolResult, TermAnswer]:
        """What the team means by a term: its definition in their glossary, its other names, related
        terms, and the passages of documents that it rests on, each with path and lines.

        Use this when a word may have a meaning of the team's own. Where no glossary has the term,
        the answer says so and names the nearest ones; search shows how documents use it.
        """
        wanted = str(project) if project is not None else None
        found = look_up(term, projects_meant(wanted, self._actor()))
        return answer(texts.of_terms(found), found)

    def get_document(
        self,
        path: Annotated[
            str | None, Field(description="The document's path, exactly as other tools give it.")
        ] = None,
        document_id: Annotated[Id | None, Field(description="Instead of the path.")] = None,
        project: ProjectName = None,
        first_line: Annotated[int, Field(ge=1, description="Counted from 1.")] = 1,
        last_line: Annotated[
            int | None, Field(ge=1, description="Included. Without it: to the end.")
        ] = None,
    ) -> Annotated[CallToolResult, Passage]:
        """Read a document as Markdown, whole or some of its lines.

        Name it by path or by document_id. A long one is cut short: nextLine says where to read on.
        Always the text the document has now, indexed or not.
        """
        document = self._document(path, document_id, project)
        lines = lines_of(document.content, first_line, last_line)
        passage = Passage(
            **_names(document),
            documentHash=document.file_hash,
            lineStart=lines.first,
            lineEnd=lines.last,
            totalLines=lines.total,
            content=lines.content,
            nextLine=lines.next,
        )
        return answer(texts.of_passage(passage), passage)

    def get_section(
        self,
        section_id: Annotated[Id, Field(description="The sectionId of a search result.")],
        with_subsections: Annotated[
            bool, Field(description="Also the text of the sections below it.")
        ] = False,
    ) -> Annotated[CallToolResult, SectionAnswer]:
        """Read one section that a search has found, as Markdown.

        Its own text, up to the next heading; with_subsections gives everything below it, too. It
        is the text that was found: isLatest is false when the document has a newer one by now.
        """
        visible = visible_projects(self._actor())
        section = (
            Section.objects.filter(project__in=visible)
            .select_related("document__project")
            .defer("document__content", "content", "words", "heading_words")
            .filter(pk=section_id)
            .first()
        )
        if section is None:
            raise Http404(
                _(
                    "There is no such section. When a document is indexed anew, its sections get "
                    "new numbers: search again."
                )
            )
        document = section.document
        text = (
            DocumentVersion.objects.filter(document=document, file_hash=section.document_hash)
            .order_by("-number")
            .values_list("content", flat=True)
            .first()
        )
        lines = lines_of(text or "", section.line_start, _last_line(section, with_subsections))
        passage = SectionAnswer(
            **_names(document),
            documentHash=section.document_hash,
            lineStart=lines.first,
            lineEnd=lines.last,
            totalLines=lines.total,
            content=lines.content,
            nextLine=lines.next,
            sectionId=section.pk,
            heading=section.heading,
            headingPath=section.heading_path,
            sectionNumber=section.number,
            depth=section.depth,
            isLatest=section.document_hash == document.file_hash,
        )
        return answer(texts.of_passage(passage), passage)

    def list_documents(
        self,
        project: ProjectName = None,
        folder: Annotated[
            str, Field(description="How the path begins, such as guide/ (case matters).")
        ] = "",
        contains: Annotated[
            str, Field(max_length=1000, description="Letters of the path or the title.")
        ] = "",
        limit: Annotated[int, Field(ge=1, le=MOST_DOCUMENTS)] = 50,
        offset: Annotated[int, Field(ge=0, le=BIGGEST_ID)] = 0,
    ) -> Annotated[CallToolResult, DocumentsAnswer]:
        """List documents by path, with title, size, last change and state in the index.

        Use it to see what there is, or to find the path of a document whose name you know in part.
        To find what documents say, use search.
        """
        wanted = str(project) if project is not None else None
        rows = self._documents(wanted).listed()
        if folder:
            prefix = normalize("NFC", folder)
            rows = rows.alias(head=Left("path", len(prefix))).filter(head=prefix)
        if contains:
            rows = rows.matching(normalize("NFC", contains))
        page = list(rows.order_by("path", "pk")[offset : offset + limit])
        states = states_of(document.pk for document in page)
        found = DocumentsAnswer(
            total=rows.count(),
            documents=[
                ListedDocument(
                    **_names(document),
                    bytes=document.byte_size,
                    version=document.version,
                    changedAt=document.updated_at,
                    indexStatus=states[document.pk].status if document.pk in states else None,
                    indexError=states[document.pk].error if document.pk in states else "",
                )
                for document in page
            ],
        )
        return answer(texts.of_documents(found, offset), found)

    def index_status(self, project: ProjectName = None) -> Annotated[CallToolResult, StatusAnswer]:
        """Which projects there are, how many documents each has, and whether the index is up to
        date: pending and processing count texts that a search does not find yet."""
        wanted = str(project) if project is not None else None
        states = []
        for found in projects_meant(wanted, self._actor()):
            overview = index_status(found)
            states.append(
                ProjectState(
                    projectId=found.pk,
                    projectName=found.name,
                    documents=overview.documents,
                    upToDate=overview.up_to_date,
                    sections=overview.sections,
                    pending=overview.pending,
                    processing=overview.processing,
                    failed=overview.failed,
                    oldestPendingAt=overview.oldest_pending_at,
                    etaSeconds=overview.eta_seconds,
                )
            )
        return answer(texts.of_states(states), StatusAnswer(projects=states))

    def _documents(self, project: str | None) -> DocumentQuerySet:
        actor = self._actor()
        documents = Document.objects.select_related("project")
        if project:
            return documents.filter(project=project_named(project, actor))
        return documents.filter(project__in=visible_projects(actor))

    def _document(
        self, path: str | None, document_id: int | None, project: str | int | None
    ) -> Document:
        rows = self._documents(str(project) if project is not None else None)
        match path, document_id:
            case str(), None:
                rows = rows.filter(path=normalize("NFC", path))
            case None, int():
                rows = rows.filter(pk=document_id)
            case _:
                raise Refusal(
                    "one_of_two", _("Name the document by its path or by its id."), status=400
                )
        found = list(rows.order_by("pk")[:2])
        if not found:
            raise Http404(_("There is no such document. list_documents shows those there are."))
        if len(found) > 1:
            names = ", ".join(rows.values_list("project__name", flat=True))
            raise Refusal(
                "ambiguous_path",
                _("Several projects have this document: %(names)s. Say which project.")
                % {"names": names},
            )
        return found[0]


def _names(document: Document) -> dict[str, Any]:
    return {
        "documentId": document.pk,
        "documentPath": document.path,
        "documentTitle": document.title,
        "projectId": document.project_id,
        "projectName": document.project.name,
    }


def _last_line(section: Section, with_subsections: bool) -> int:
    """Of the section, or of the last one below it: the sections that follow up to the next one
    whose heading is not deeper. The text before the first heading has nothing below it but, as
    depth 0, the whole document."""
    if not with_subsections:
        return section.line_end
    following = Section.objects.filter(document=section.document_id, order__gt=section.order)
    end = following.filter(depth__lte=section.depth, part=0).order_by("order").first()
    below = following.filter(order__lt=end.order) if end is not None else following
    return below.aggregate(last=Max("line_end"))["last"] or section.line_end
