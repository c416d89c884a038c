"""The published glossary of a project, ready to be written in any format."""

from collections.abc import Iterator
from dataclasses import dataclass

from projects.categories import categories_of
from projects.exports.csv import glossary_csv
from projects.exports.data import EntryData
from projects.exports.json import glossary_json
from projects.exports.markdown import glossary_markdown
from projects.models import GlossaryEntry, Project
from projects.querysets import EntryQuerySet

CHUNK = 500


@dataclass(frozen=True)
class Format:
    extension: str
    content_type: str

    @property
    def with_charset(self) -> str:
        # JSON is always UTF-8.
        is_json = self.content_type == "application/json"
        return self.content_type if is_json else f"{self.content_type}; charset=utf-8"


# The first is what a program gets that has no wish.
FORMATS = {
    "json": Format("json", "application/json"),
    "md": Format("md", "text/markdown"),
    "csv": Format("csv", "text/csv"),
}


def export(project: Project, format: str, *, entries: EntryQuerySet | None = None) -> Iterator[str]:
    """The text of the whole glossary, or of the entries given, piece by piece: memory does not
    grow with it. For programs the best entries come first, for people they are in order."""
    rows = GlossaryEntry.objects.filter(project=project) if entries is None else entries
    if format == "md":
        return glossary_markdown(
            data_of(rows.in_order()),
            title=project.name,
            language=project.language,
            categories={category.key: category.label for category in categories_of(project)},
            letters=True,
        )
    best_first = data_of(rows.order_by("-score", "pk"))
    return glossary_json(best_first) if format == "json" else glossary_csv(best_first)


def data_of(entries: EntryQuerySet) -> Iterator[EntryData]:
    return map(entry_data, entries.iterator(chunk_size=CHUNK))


def entry_data(entry: GlossaryEntry) -> EntryData:
    return EntryData(
        term=entry.term,
        key=entry.key,
        reading=entry.reading,
        language=entry.language,
        definition=entry.definition,
        confidence=entry.confidence,
        category=entry.category,
        aliases=entry.aliases,
        related=entry.related,
        evidence=entry.evidence,
        supported=entry.supported,
        needs_review=entry.needs_review,
        score=entry.score,
        frequency=entry.frequency,
        prompt_version=entry.prompt_version,
    )
