"""Sections that go."""

from django.db.models import QuerySet

from indexing.models import Section, SectionVector
from projects.models import Project


def delete_sections_of(project: Project) -> None:
    """All of them. Their documents are locked."""
    delete_sections(Section.objects.filter(project=project))


def delete_sections(sections: QuerySet[Section]) -> None:
    """Straight by statement: Django would load every row to look for what hangs on it."""
    vectors = SectionVector.objects.filter(section__in=sections)
    vectors._raw_delete(vectors.db)
    sections._raw_delete(sections.db)
