"""What a model reads: the same as the data of an answer, in few words."""

from collections.abc import Sequence

from indexing.mcp.answers import (
    DocumentsAnswer,
    Evidence,
    GlossaryTerm,
    Passage,
    ProjectState,
    SectionAnswer,
    TermAnswer,
)
from indexing.search.options import SearchPage, SearchResult


def of_search(page: SearchPage) -> str:
    found = f"{page.total}{'' if page.total_is_exact else ' or more'}"
    parts = [f'{found} result(s) for "{page.options.query}"']
    if page.entry:
        parts.append(f"The glossary, {page.entry.term}: {page.entry.definition}")
    if page.results:
        first = page.options.offset + 1
        parts[0] += f", here {first} to {page.options.offset + len(page.results)}"
        parts += [
            _result(number, result) for number, result in enumerate(page.results, start=first)
        ]
    parts += [f"Note: {notice}" for notice in page.notices]
    return "\n\n".join(parts)


def _result(number: int, result: SearchResult) -> str:
    headings = " › ".join(result.heading_path) or result.document_title
    return (
        f"{number}. {result.document_path}, lines {result.line_start}-{result.line_end}: {headings}"
        f" [{result.index_status.value}]\n"
        f"   project {result.project_id} ({result.project_name}), document {result.document_id}, "
        f"section {result.section_id}, score {result.score:.2f}\n"
        f"   {' '.join(result.snippet.split())}"
        f"{_terms(result)}"
    )


def _terms(result: SearchResult) -> str:
    if not result.terms:
        return ""
    return f"\n   terms of the glossary: {', '.join(term.term for term in result.terms)}"


def of_passage(passage: Passage) -> str:
    head = (
        f"{passage.documentPath}, lines {passage.lineStart}-{passage.lineEnd} "
        f"of {passage.totalLines} (project {passage.projectId}, document {passage.documentId})"
    )
    if isinstance(passage, SectionAnswer):
        head += f"\nSection {passage.sectionNumber or '0'}: {' › '.join(passage.headingPath)}"
        if not passage.isLatest:
            head += "\nThe document has a newer text that is not indexed yet."
    parts = [head, passage.content]
    if passage.nextLine is not None:
        parts.append(
            f"Cut short. Go on with get_document, document_id {passage.documentId}, "
            f"first_line {passage.nextLine}."
        )
    return "\n\n".join(parts)


def of_documents(answer: DocumentsAnswer, offset: int) -> str:
    head = f"{answer.total} document(s)"
    if answer.documents:
        head += f", here {offset + 1} to {offset + len(answer.documents)}"
    return "\n".join(
        [
            head,
            *(
                f"- {row.documentPath}: {row.documentTitle} (project {row.projectId}, "
                f"document {row.documentId}, {row.bytes} bytes, "
                f"{row.indexStatus or 'not indexed yet'}"
                f"{', failed: ' + row.indexError if row.indexError else ''})"
                for row in answer.documents
            ),
        ]
    )


def of_states(states: Sequence[ProjectState]) -> str:
    if not states:
        return "There is no project that you may see."
    return "\n".join(
        f"- project {state.projectId} ({state.projectName}): {state.upToDate} of "
        f"{state.documents} documents up to date, {state.sections} sections; "
        f"{state.pending} pending, {state.processing} processing, {state.failed} failed"
        for state in states
    )


def of_terms(answer: TermAnswer) -> str:
    if answer.entries:
        return "\n\n".join(map(_entry, answer.entries))
    sentence = f'The glossary has no term "{answer.asked}".'
    if not answer.nearest:
        return f"{sentence} Use search to see how documents use it."
    names = ", ".join(f"{near.term} (project {near.projectId})" for near in answer.nearest)
    return f"{sentence} The nearest it has: {names}."


def _entry(entry: GlossaryTerm) -> str:
    lines = [
        f"{entry.term} (project {entry.projectId}, {entry.projectName})",
        entry.definition,
    ]
    if not entry.supported:
        lines.append("Beware: what it says it rests on cannot be found in the documents.")
    if entry.needsReview:
        lines.append("Beware: nobody has reviewed it yet.")
    if entry.aliases:
        lines.append(f"Also called: {', '.join(entry.aliases)}")
    if entry.related:
        lines.append(f"Related: {', '.join(entry.related)}")
    if entry.evidence:
        lines.append("It rests on:")
        lines += map(_evidence, entry.evidence)
    return "\n".join(lines)


def _evidence(piece: Evidence) -> str:
    state = ""
    if piece.documentId is None:
        state = " [the document is gone]"
    elif not piece.isLatest:
        state = " [the document has changed since]"
    return (
        f"- {piece.documentPath}, lines {piece.lineStart}-{piece.lineEnd}{state}: "
        f"{' '.join(piece.quote.split())}"
    )
