"""The vocabulary for reading requests and sections."""

from typing import TYPE_CHECKING

from django.db.models import QuerySet

from glossary_site.jobs.clock import Moment
from indexing.choices import OPEN, RequestStatus

if TYPE_CHECKING:
    from indexing.models import IndexRequest, Section  # noqa: F401 (named in the annotations)
    from projects.models import Document, Project


class IndexRequestQuerySet(QuerySet["IndexRequest"]):
    def for_project(self, project: "Project") -> "IndexRequestQuerySet":
        return self.filter(project=project)

    def open(self) -> "IndexRequestQuerySet":
        """Their documents are about to change in the index."""
        return self.filter(status__in=OPEN)

    def due(self, now: Moment) -> "IndexRequestQuerySet":
        return self.filter(status=RequestStatus.PENDING, due_at__lte=now)

    def listed(self) -> "IndexRequestQuerySet":
        """For lists: with the document's path, without its text."""
        return self.select_related("document").defer("document__content")


class SectionQuerySet(QuerySet["Section"]):
    def of_document(self, document: "Document") -> "SectionQuerySet":
        return self.filter(document=document).order_by("order")

    def listed(self) -> "SectionQuerySet":
        """For lists: without the long texts."""
        return self.defer("content", "heading_words", "words")
