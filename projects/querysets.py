"""The vocabulary for reading projects and documents."""

from typing import TYPE_CHECKING

from django.db.models import Q, QuerySet

if TYPE_CHECKING:
    from projects.models import Document, Project  # noqa: F401 (named in the annotations)


class ProjectQuerySet(QuerySet["Project"]):
    def matching(self, text: str) -> "ProjectQuerySet":
        return self.filter(Q(name__icontains=text) | Q(description__icontains=text))


class DocumentQuerySet(QuerySet["Document"]):
    def listed(self) -> "DocumentQuerySet":
        """For lists: everything but the text."""
        return self.defer("content")

    def matching(self, text: str) -> "DocumentQuerySet":
        return self.filter(Q(path__icontains=text) | Q(title__icontains=text))
