"""The index of a project that is deleted."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from indexing.lexical import schema
from indexing.lexical.query import parse
from indexing.lexical.search import find
from indexing.models import Section, SectionVector
from projects.services.projects import delete_project
from tests import factories
from tests.indexing.lexical.corpus import add

pytestmark = pytest.mark.django_db


def found(project) -> set[int]:
    return set(find(parse("harbour"), project_ids=[project.pk], documents=None, limit=9).scores)


def test_it_goes_as_a_whole_and_takes_nothing_of_others_along(project, owner):
    other = factories.make_project("Other")
    (kept,) = add(other, "a harbour")
    mine = add(project, *(f"harbour {number}" for number in range(250)))
    for section in (kept, *mine):
        SectionVector.objects.create(section_id=section, embedder="some", vector=b"\0\0")
    number = project.pk
    with CaptureQueriesContext(
        connection,
    ) as statements:
        delete_project(project=project, actor=owner)
    project.pk = number
    assert not found(project)
    assert found(other) == {kept}
    assert [vector.section_id for vector in SectionVector.objects.all()] == [kept]
    assert Section.objects.get().pk == kept
    assert schema.is_in_step(connection)
    deletions = [
        each["sql"] for each in statements if 'DELETE FROM "indexing_section"' in each["sql"]
    ]
    # In one statement: the database then takes away all of its words in one go, too.
    assert len(deletions) == 1
