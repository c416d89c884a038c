"""The matrix in memory follows the database, reading no more than it must."""

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from indexing.models import IndexedDocument
from indexing.vectors import reading
from indexing.vectors.cache import Newer, cache
from indexing.vectors.matrix import FEW_DEAD, SPARE_ROWS, Matrix
from indexing.vectors.reading import Block
from tests import factories
from tests.indexing.vectors.scene import (
    DIMENSIONS,
    EMBEDDER,
    fill,
    generation_of,
    make_documents,
    replace,
    some_vectors,
)

pytestmark = pytest.mark.django_db


def view_of(project, *, generation=None, dimensions=DIMENSIONS):
    return cache.view(
        project_id=project.pk,
        embedder=EMBEDDER,
        dimensions=dimensions,
        generation=generation_of(project) if generation is None else generation,
    )


def shown(view) -> dict[int, list[float]]:
    return {
        int(section): vector.round(2).tolist()
        for section, vector, alive in zip(view.section_ids, view.matrix, view.alive, strict=True)
        if alive
    }


def expected(sections, vectors) -> dict[int, list[float]]:
    packed = np.asarray(vectors).astype("<f2").astype(np.float32)
    return {section: row.round(2).tolist() for section, row in zip(sections, packed, strict=True)}


@pytest.fixture
def read_rows(monkeypatch):
    """How many vectors were read from the database, by each call."""
    counts = []
    real = reading.blocks

    def counting(*args):
        for block in real(*args):
            counts.append(len(block.section_ids))
            yield block

    monkeypatch.setattr(reading, "blocks", counting)
    return counts


def test_only_what_changed_is_read_again(project, read_rows):
    vectors = some_vectors(100)
    documents, sections = fill(project, vectors)
    assert shown(view_of(project)) == expected(sections, vectors)
    assert read_rows == [100]
    new = replace(documents[4], some_vectors(3, seed=1))
    everything = {
        **expected(sections[:40] + sections[50:], np.delete(vectors, range(40, 50), axis=0)),
        **expected(new, some_vectors(3, seed=1)),
    }
    assert shown(view_of(project)) == everything
    assert read_rows == [100, 3]
    view_of(project)
    assert read_rows == [100, 3]


def test_an_unchanged_project_costs_one_small_query(project):
    fill(project, some_vectors(100))
    generation = generation_of(project)
    view_of(project)
    with CaptureQueriesContext(connection) as queries:
        view_of(project, generation=generation)
    assert len(queries) == 1


def test_a_view_stays_as_it_was(project):
    vectors = some_vectors(100)
    documents, sections = fill(project, vectors)
    old = view_of(project)
    before = shown(old)
    for round_ in range(15):
        # Enough to grow the matrix, and to move it.
        replace(documents[round_ % 10], some_vectors(200, seed=round_))
        view_of(project)
    IndexedDocument.objects.filter(document=documents[9]).delete()
    view_of(project)
    assert shown(old) == before == expected(sections, vectors)
    assert old.generation < view_of(project).generation


def test_deleted_documents_are_struck_out_though_no_generation_tells(project):
    vectors = some_vectors(30)
    documents, sections = fill(project, vectors)
    view_of(project)
    documents[1].delete()
    left = expected(sections[:10] + sections[20:], np.delete(vectors, range(10, 20), axis=0))
    assert shown(view_of(project)) == left
    # One goes and another comes: the number is the same.
    documents[2].delete()
    (late,) = make_documents(project, 1)
    new = replace(late, some_vectors(1))
    assert set(shown(view_of(project))) == {*sections[:10], *new}


def test_documents_without_a_vector_are_no_reason_to_read_again(project, read_rows):
    fill(project, some_vectors(20))
    (silent,) = make_documents(project, 1)
    replace(silent, some_vectors(0))
    view_of(project)
    view_of(project)
    assert read_rows == [20]


def test_the_cache_does_not_go_back(project):
    documents, _ = fill(project, some_vectors(20))
    before = generation_of(project)
    view_of(project)
    replace(documents[0], some_vectors(1))
    # Nobody has read it yet: the older view still serves whoever asks for it.
    assert view_of(project, generation=before).generation == before
    view_of(project)
    with pytest.raises(Newer):
        view_of(project, generation=before)


def test_what_was_not_used_for_longest_goes_first(settings):
    settings.VECTOR_CACHE_MB = 1
    wide = 2048
    rows, per_row = 60, 4 * wide + 17
    projects = [factories.make_project() for _ in range(3)]
    for project in projects:
        fill(project, some_vectors(rows, dimensions=wide))
    first, second, third = projects
    view_of(first, dimensions=wide)
    held = view_of(second, dimensions=wide)
    view_of(first, dimensions=wide)
    assert cache.bytes() == 2 * rows * per_row
    view_of(third, dimensions=wide)
    assert cache.bytes() == 2 * rows * per_row
    assert {key[0] for key in cache._loaded} == {first.pk, third.pk}
    # Whoever still reads what was dropped can go on.
    assert len(shown(held)) == rows


def test_a_project_that_has_no_room_is_not_kept(project, settings):
    fill(project, some_vectors(10))
    settings.VECTOR_CACHE_MB = 0
    assert view_of(project) is None
    assert cache.bytes() == 0


def test_a_failure_half_way_leaves_nothing_half_read(project, monkeypatch):
    vectors = some_vectors(30)
    documents, sections = fill(project, vectors)
    view_of(project)
    new = replace(documents[0], some_vectors(2, seed=3))
    real = reading.blocks

    def failing(*args):
        yield from real(*args)
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr(reading, "blocks", failing)
        with pytest.raises(OSError):
            view_of(project)
    assert set(shown(view_of(project))) == {*sections[10:], *new}


def block(document: int, sections: range) -> Block:
    return Block(
        np.array(sections, dtype=np.int64),
        np.full(len(sections), document, dtype=np.int64),
        some_vectors(len(sections), seed=document).astype("<f2"),
    )


def test_dead_rows_are_left_behind_when_they_are_many():
    matrix = Matrix(DIMENSIONS)
    for document in range(8):
        matrix.add(block(document, range(document * 500, document * 500 + 500)))
    matrix.strike([1, 2])
    matrix.tidy()
    assert matrix.rows == 4000
    matrix.strike([2, 3])
    assert FEW_DEAD < 1500
    matrix.tidy()
    assert matrix.rows == 2500
    view = matrix.view(generation=1, documents=5)
    assert view.alive.all()
    assert sorted(set(view.document_ids.tolist())) == [0, 4, 5, 6, 7]


def test_the_matrix_grows_beyond_what_was_asked_for():
    matrix = Matrix(DIMENSIONS, rows=1)
    matrix.add(block(1, range(SPARE_ROWS)))
    before = matrix.view(generation=1, documents=1)
    matrix.add(block(2, range(SPARE_ROWS, 5 * SPARE_ROWS)))
    after = matrix.view(generation=2, documents=2)
    assert len(before.matrix) == SPARE_ROWS
    assert len(after.matrix) == 5 * SPARE_ROWS
    assert np.array_equal(after.matrix[:SPARE_ROWS], before.matrix)
    assert after.rows_of_sections(np.array([3, SPARE_ROWS, 10**9])).tolist() == [3, SPARE_ROWS]
