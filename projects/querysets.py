"""The vocabulary for reading projects, documents, terms and the glossary."""

from typing import TYPE_CHECKING

from django.db.models import Q, QuerySet

from projects.choices import IN_GLOSSARY, LEFT_OUT, TermStatus

if TYPE_CHECKING:
    from projects.models import (  # noqa: F401 (named in the annotations)
        Document,
        GlossaryEntry,
        Project,
        Term,
    )


class ProjectQuerySet(QuerySet["Project"]):
    def matching(self, text: str) -> "ProjectQuerySet":
        return self.filter(Q(name__icontains=text) | Q(description__icontains=text))


class DocumentQuerySet(QuerySet["Document"]):
    def listed(self) -> "DocumentQuerySet":
        """For lists: everything but the text."""
        return self.defer("content")

    def matching(self, text: str) -> "DocumentQuerySet":
        return self.filter(Q(path__icontains=text) | Q(title__icontains=text))


class TermQuerySet(QuerySet["Term"]):
    def in_glossary(self) -> "TermQuerySet":
        """Those that get an entry, synonyms that are not the primary of their group included."""
        return self.filter(status__in=IN_GLOSSARY)

    def left_out(self) -> "TermQuerySet":
        return self.filter(status__in=LEFT_OUT)

    def required(self) -> "TermQuerySet":
        return self.filter(status=TermStatus.REQUIRED)

    def listed(self) -> "TermQuerySet":
        """For lists: everything but the places."""
        return self.defer("occurrences")

    def matching(self, text: str) -> "TermQuerySet":
        return self.filter(
            Q(text__icontains=text) | Q(reading__icontains=text) | Q(notes__icontains=text)
        )


class EntryQuerySet(QuerySet["GlossaryEntry"]):
    def in_order(self) -> "EntryQuerySet":
        return self.order_by("reading", "key")

    def listed(self) -> "EntryQuerySet":
        """For lists: everything but the evidence."""
        return self.defer("evidence")

    def matching(self, text: str) -> "EntryQuerySet":
        return self.filter(
            Q(term__icontains=text) | Q(reading__icontains=text) | Q(definition__icontains=text)
        )
