"""From the sections that were found to what people and programs are shown."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from django.db.models import Exists, F, OuterRef, QuerySet

from indexing.choices import IndexStatus
from indexing.lexical.query import Query
from indexing.lexical.snippets import snippet
from indexing.models import IndexRequest, Section
from indexing.search.grouping import Group
from indexing.search.options import EntryAsked, SearchResult
from indexing.search.terms import Text, look_up
from indexing.services.states import status_of

SNIPPET_CHARACTERS = 240


def answers(
    groups: Sequence[Group], query: Query, project_ids: Sequence[int]
) -> tuple[list[SearchResult], EntryAsked | None]:
    """Texts and states in one query; one more, where a section stands for others; and what the
    glossary has to say about them and the query."""
    sections = _found().in_bulk([group.best_id for group in groups])
    above = {group.section_id for group in groups if group.section_id is not None} - set(sections)
    headings = sections | (Section.objects.listed().in_bulk(above) if above else {})
    results = [
        _answer(group, sections[group.best_id], headings.get(group.section_id), query)
        for group in groups
        if group.best_id in sections
    ]
    texts = [
        Text(pk, section.project_id, f"{section.heading}\n\n{section.content}")
        for pk, section in sections.items()
    ]
    terms, entry = look_up(texts, query, project_ids)
    return [replace(result, terms=terms.get(result.section_id, ())) for result in results], entry


@cache
def _found() -> QuerySet[Section]:
    """What is shown of a section. Put together once: that takes longer than the database does."""
    coming = IndexRequest.objects.open().filter(document=OuterRef("document"))
    return (
        Section.objects.select_related("document", "project")
        .only(
            "project__name",
            "document__path",
            "document__title",
            "document__file_hash",
            "heading",
            "heading_path",
            "number",
            "depth",
            "line_start",
            "line_end",
            "content",
            "document_hash",
        )
        .order_by()
        .annotate(has_open=Exists(coming), indexed_at=F("document__indexed__indexed_at"))
    )


def _answer(group: Group, best: Section, shown: Section | None, query: Query) -> SearchResult:
    document = best.document
    is_latest = best.document_hash == document.file_hash
    has_pending_update: bool = best.has_open  # type: ignore[attr-defined]
    text = snippet(best.content or best.heading, query, length=SNIPPET_CHARACTERS)
    return SearchResult(
        project_id=best.project_id,
        project_name=best.project.name,
        document_id=document.pk,
        document_path=document.path,
        document_title=document.title,
        section_id=best.pk,
        heading=shown.heading if shown else "",
        heading_path=tuple(shown.heading_path) if shown else (),
        number=shown.number if shown else "",
        depth=shown.depth if shown else 0,
        line_start=best.line_start,
        line_end=best.line_end,
        snippet_html=text.html,
        snippet=text.text,
        score=round(group.score, 4),
        index_status=status_of(is_latest=is_latest, has_pending_update=has_pending_update)
        or IndexStatus.OUTDATED,
        is_latest=is_latest,
        has_pending_update=has_pending_update,
        document_hash=best.document_hash,
        indexed_at=best.indexed_at,  # type: ignore[attr-defined]
    )
