"""Sections straight into the table, as the indexer would write them; and BM25 written plainly."""

import math
from collections.abc import Sequence

from django.utils import timezone

from indexing.lexical.analysis import words_of
from indexing.models import Section
from projects.models import Document, Project
from tests import factories


def write(document: Document, texts: Sequence[tuple[str, str]], first: int = 0) -> list[Section]:
    """A section for each heading and text."""
    now = timezone.now()
    return Section.objects.bulk_create(
        Section(
            project_id=document.project_id,
            document=document,
            order=order,
            depth=1,
            heading=heading,
            heading_path=[heading],
            line_start=1,
            line_end=1,
            content=text,
            token_count=1,
            document_hash=document.file_hash,
            text_hash=document.file_hash,
            heading_words=" ".join(words_of(heading)),
            words=" ".join(words_of(text)),
            created_at=now,
        )
        for order, (heading, text) in enumerate(texts, first)
    )


def add(project: Project, *texts: str | tuple[str, str]) -> list[int]:
    """A document of its own with these sections; the numbers of the sections."""
    pairs = [("", text) if isinstance(text, str) else text for text in texts]
    return [section.pk for section in write(factories.make_document(project), pairs)]


def bm25(sections: Sequence[Section], words: Sequence[str]) -> dict[int, float]:
    """As FTS5 describes it: headings three times, k1 1.2, b .75, no idf below a millionth."""
    bags = {each.pk: (each.heading_words.split(), each.words.split()) for each in sections}
    average = sum(len(heading) + len(text) for heading, text in bags.values()) / len(bags)
    scores: dict[int, float] = {}
    for word in dict.fromkeys(words):
        hits = {
            pk: 3 * heading.count(word) + text.count(word) for pk, (heading, text) in bags.items()
        }
        frequency = sum(1 for count in hits.values() if count)
        idf = max(math.log((len(bags) - frequency + 0.5) / (frequency + 0.5)), 1e-6)
        for pk, count in hits.items():
            if count:
                length = sum(map(len, bags[pk]))
                scores[pk] = scores.get(pk, 0) + idf * count * 2.2 / (
                    count + 1.2 * (0.25 + 0.75 * length / average)
                )
    return scores
