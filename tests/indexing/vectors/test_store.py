"""Vectors go in and come out, quickly, and only those of sections that are there."""

import struct
import time

import numpy as np
import pytest

from indexing.models import Section, SectionVector
from indexing.vectors.packing import pack, unpack
from indexing.vectors.store import remove_other_vectors, vectors_by_text, write
from tests import factories
from tests.indexing.vectors.scene import EMBEDDER, fill, make_documents, replace, some_vectors

pytestmark = pytest.mark.django_db


def vectors_of(embedder: str = EMBEDDER) -> dict[int, np.ndarray]:
    rows = SectionVector.objects.filter(embedder=embedder)
    return {section: unpack(bytes(data)) for section, data in rows.values_list("section", "vector")}


def test_a_vector_survives_being_packed():
    vector = some_vectors(1)[0]
    data = pack(vector)
    assert len(data) == 2 * len(vector)
    assert data[:2] == struct.pack("<e", vector[0])
    assert np.allclose(unpack(data), vector, atol=1e-3)


def test_what_is_written_is_there(project):
    vectors = some_vectors(25)
    _, sections = fill(project, vectors)
    stored = vectors_of()
    assert sorted(stored) == sorted(sections)
    for section, vector in zip(sections, vectors, strict=True):
        assert np.allclose(stored[section], vector, atol=1e-3)


def test_a_second_write_replaces_the_first(project):
    _, sections = fill(project, some_vectors(3))
    other = some_vectors(2, seed=9)
    rows = [(sections[0], other[0]), (sections[1], pack(other[1])), (sections[0], other[1])]
    write(rows, embedder=EMBEDDER, project_id=project.pk)
    stored = vectors_of()
    assert len(stored) == 3
    assert np.allclose(stored[sections[0]], other[1], atol=1e-3)
    assert np.allclose(stored[sections[1]], other[1], atol=1e-3)


def test_sections_that_are_gone_or_of_another_project_get_none(project):
    _, sections = fill(project, some_vectors(3))
    _, foreign = fill(factories.make_project(), some_vectors(1))
    Section.objects.get(pk=sections[2]).delete()
    rows = zip([*sections, *foreign], some_vectors(4), strict=True)
    assert write(rows, embedder="late", project_id=project.pk) == 2
    assert sorted(vectors_of("late")) == sorted(sections[:2])


def test_writing_nothing_is_nothing(project):
    assert write([], embedder=EMBEDDER, project_id=project.pk) == 0


def test_vectors_of_unchanged_texts_can_be_carried_over(project):
    (document,) = make_documents(project, 1)
    vectors = some_vectors(4)
    replace(document, vectors)
    known = vectors_by_text(document_id=document.pk, embedder=EMBEDDER)
    assert sorted(known) == [f"{document.pk}:{n}" for n in range(4)]
    assert known[f"{document.pk}:2"] == pack(vectors[2])
    assert vectors_by_text(document_id=document.pk, embedder="another") == {}

    replaced = replace(document, vectors[:1])
    write([(replaced[0], known[f"{document.pk}:3"])], embedder=EMBEDDER, project_id=project.pk)
    assert np.allclose(vectors_of()[replaced[0]], vectors[3], atol=1e-3)


def test_the_vectors_of_other_embedders_are_removed_and_no_more(project):
    _, sections = fill(project, some_vectors(30), each=3)
    other = factories.make_project()
    _, elsewhere = fill(other, some_vectors(3))
    for owner, some in ((project, sections), (other, elsewhere)):
        rows = list(zip(some, some_vectors(len(some)), strict=True))
        write(rows, embedder="old", project_id=owner.pk)
    assert remove_other_vectors(project_id=project.pk, keep=[EMBEDDER]) == 30
    assert sorted(vectors_of()) == sorted([*sections, *elsewhere])
    assert sorted(vectors_of("old")) == sorted(elsewhere)


def test_thousands_are_written_in_a_moment(project):
    _, sections = fill(project, some_vectors(4000), each=400)
    vectors = some_vectors(4000, dimensions=256)
    started = time.process_time()
    write(zip(sections, vectors, strict=True), embedder="large", project_id=project.pk)
    # Of our own time: the machine may be busy.
    assert time.process_time() - started < 0.8
