"""What is nearest: against the plain definition, with and without filters, kept or not."""

import numpy as np
import pytest

from indexing.vectors.cache import Newer, cache
from indexing.vectors.search import near
from indexing.vectors.store import write
from tests import factories
from tests.indexing.vectors.scene import (
    DIMENSIONS,
    EMBEDDER,
    fill,
    generation_of,
    make_documents,
    raise_generation,
    replace,
    some_vectors,
)

pytestmark = pytest.mark.django_db


def ask(project, vector, *, documents=None, limit=10, also=(), generation=None, embedder=EMBEDDER):
    return near(
        vector,
        project_id=project.pk,
        embedder=embedder,
        generation=generation_of(project) if generation is None else generation,
        documents=documents,
        limit=limit,
        also=also,
    )


@pytest.fixture(params=["kept", "not kept"])
def room(request, settings):
    """Everything is kept in memory; or nothing has room there."""
    if request.param == "not kept":
        settings.VECTOR_CACHE_MB = 0
    return request.param


def test_the_nearest_come_first_with_their_cosines(project, room):
    vectors = some_vectors(300)
    _, sections = fill(project, vectors)
    query = some_vectors(1, seed=5)[0]
    found = ask(project, query, limit=7)
    cosines = vectors @ query
    best = np.argsort(-cosines)[:7]
    assert list(found) == [sections[row] for row in best]
    assert np.allclose(list(found.values()), cosines[best], atol=2e-3)
    assert (cache.bytes() > 0) == (room == "kept")


def test_only_some_documents(project, room):
    vectors = some_vectors(300)
    documents, sections = fill(project, vectors)
    query = some_vectors(1, seed=5)[0]
    for chosen in (documents[3:5], documents[2:29]):
        rows = [row for row in range(300) if documents[row // 10].pk in {d.pk for d in chosen}]
        best = sorted(rows, key=lambda row: -float(vectors[row] @ query))[:8]
        found = ask(project, query, documents=[d.pk for d in chosen], limit=8)
        assert list(found) == [sections[row] for row in best]
    assert len(ask(project, query, documents=[documents[0].pk], limit=50)) == 10
    assert ask(project, query, documents=[], limit=50) == {}


def test_others_are_measured_too(project, room):
    vectors = some_vectors(100)
    documents, sections = fill(project, vectors)
    _, elsewhere = fill(factories.make_project(), some_vectors(1))
    query = vectors[0]
    # One that is found anyway, one outside of the filter, one of another project, one of nowhere.
    also = [sections[0], sections[99], elsewhere[0], 10**9]
    found = ask(project, query, documents=[documents[0].pk], limit=2, also=also)
    assert len(found) == 3
    assert next(iter(found)) == sections[0]
    assert found[sections[99]] == pytest.approx(float(vectors[99] @ query), abs=2e-3)
    assert set(ask(project, query, limit=0, also=also)) == {sections[0], sections[99]}


def test_a_query_of_any_length_and_of_none(project, room):
    vectors = some_vectors(20)
    fill(project, vectors)
    assert ask(project, 40 * vectors[3]) == pytest.approx(ask(project, vectors[3]), abs=1e-5)
    assert set(ask(project, np.zeros(DIMENSIONS)).values()) == {0.0}


def test_nothing_there(project, room):
    query = some_vectors(1)[0]
    assert ask(project, query, also=[1]) == {}
    fill(project, some_vectors(3))
    assert ask(project, query, embedder="another") == {}


def test_a_vector_of_another_length_is_passed_over(project, room):
    vectors = some_vectors(5)
    _, sections = fill(project, vectors)
    write(
        [(sections[0], some_vectors(1, dimensions=8)[0])], embedder=EMBEDDER, project_id=project.pk
    )
    assert set(ask(project, vectors[0])) == set(sections[1:])


def test_equal_ones_in_the_order_of_their_sections(project, room):
    _, sections = fill(project, np.repeat(some_vectors(1), 9, axis=0))
    assert list(ask(project, some_vectors(1)[0], limit=20)) == sections


def test_whoever_has_read_an_older_generation_is_told(project, room):
    vectors = some_vectors(20)
    documents, sections = fill(project, vectors)
    before = generation_of(project)
    new = replace(documents[0], vectors[:10])
    assert set(ask(project, vectors[0], limit=30)) == {*sections[10:], *new}
    with pytest.raises(Newer):
        ask(project, vectors[0], generation=before)


def test_vectors_that_come_later_are_seen_when_the_generation_rises(project, room):
    (document,) = make_documents(project, 1)
    vectors = some_vectors(3)
    sections = replace(document, vectors, embedder="first")
    assert ask(project, vectors[0]) == {}
    write(zip(sections, vectors, strict=True), embedder=EMBEDDER, project_id=project.pk)
    document.indexed.generation = raise_generation(project)
    document.indexed.save()
    assert set(ask(project, vectors[0])) == set(sections)
