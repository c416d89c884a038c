"""What a run has made, for a file: its entries, or the terms alone where it wrote none."""

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from io import StringIO
from typing import Any

from projects.categories import categories_of
from projects.exports import EntryData, glossary_csv, glossary_json, glossary_markdown
from projects.exports.csv import BETWEEN, MARK, defused
from projects.exports.json import as_json
from projects.models import Project
from projects.order import by_index
from runs.models import Run, RunTerm
from runs.services.publishing import entries_of
from runs.services.rows import documents_of

CHUNK = 500
# Lines that are shown of a term which has no definition.
MOST_PLACES = 3
COLUMNS = [each.name for each in fields(EntryData)]
TERM_COLUMNS = ("term", "category", "aliases", "score", "occurrences")


def export_entries(run: Run, format: str, *, title: str = "") -> Iterator[str]:
    """Its last word, piece by piece. For programs the best terms come first, for people they are in
    order."""
    rows = entries_of(run).values(*COLUMNS)
    if format == "md":
        in_order = rows.order_by(by_index(project="run__project"), "pk").iterator(chunk_size=CHUNK)
        data = (EntryData(**row) for row in in_order)
        return _markdown(run.project, data, title=title, letters=True)
    best_first = rows.order_by("order").iterator(chunk_size=CHUNK)
    data = (EntryData(**row) for row in best_first)
    return glossary_json(data) if format == "json" else glossary_csv(data)


def export_terms(
    run: Run, format: str, *, limit: int | None = None, title: str = ""
) -> Iterator[str]:
    """The terms that would get an entry, the best first."""
    terms = _terms(run, limit)
    if format == "md":
        return _markdown(run.project, terms, title=title, letters=False)
    return _terms_json(terms) if format == "json" else _terms_csv(terms)


def _markdown(
    project: Project, data: Iterable[EntryData], *, title: str, letters: bool
) -> Iterator[str]:
    return glossary_markdown(
        data,
        title=title or project.name,
        language=project.language,
        categories={category.key: category.label for category in categories_of(project)},
        letters=letters,
    )


def _terms(run: Run, limit: int | None) -> Iterator[EntryData]:
    """As entries that nobody has written yet, with the first lines where they stand."""
    rows = RunTerm.objects.filter(run=run, excluded_because="").order_by("order")
    sources = {each.id: (each.path, each.text.split("\n")) for each in documents_of(run)}
    for row in rows[:limit]:
        yield EntryData(
            term=row.text,
            key=row.key,
            reading=row.reading,
            language=row.language,
            definition="",
            category=row.category,
            aliases=[name for name in (*row.variants, *row.synonyms) if name != row.text],
            evidence=list(_places(row.occurrences, sources)),
            score=row.score,
            frequency=row.frequency,
        )


def _places(
    occurrences: Iterable[list[int]], sources: dict[int, tuple[str, list[str]]]
) -> Iterator[dict[str, Any]]:
    shown = 0
    for document_id, line, _count in occurrences:
        path, lines = sources.get(document_id, ("", []))
        if shown < MOST_PLACES and line <= len(lines):
            shown += 1
            yield {"path": path, "line_start": line, "quote": lines[line - 1].strip()}


def _terms_json(terms: Iterable[EntryData]) -> Iterator[str]:
    """The shape of a glossary without definitions: nobody is confident of what nobody said."""
    yield '{"entries": ['
    for number, term in enumerate(terms):
        told = {**as_json(term), "confidence": None}
        del told["definition"]
        yield ",\n" if number else "\n"
        yield json.dumps(told, ensure_ascii=False)
    yield "\n]}\n"


def _terms_csv(terms: Iterable[EntryData]) -> Iterator[str]:
    yield MARK + _csv_line(TERM_COLUMNS)
    for term in terms:
        aliases = BETWEEN.join(term.aliases)
        words = map(defused, (term.term, term.category, aliases))
        yield _csv_line((*words, round(term.score, 4), term.frequency))


def _csv_line(cells: Iterable[object]) -> str:
    line = StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()
