"""On a server that has pgvector: set up by itself, in step with the truth, near enough."""

import threading
import time

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection, connections, transaction

from indexing.models import IndexedDocument, SectionVector
from indexing.vectors import pgvector, pgvector_schema
from indexing.vectors.cache import Newer, cache
from indexing.vectors.search import near
from indexing.vectors.store import remove_other_vectors, write
from projects.access import OPERATOR
from projects.services.projects import create_project
from tests.indexing.vectors import pgserver
from tests.indexing.vectors.scene import (
    DIMENSIONS,
    EMBEDDER,
    fill,
    generation_of,
    raise_generation,
    replace,
    some_vectors,
    topics,
)

pytestmark = pytest.mark.xdist_group("pgvector")

FEW = 400
WIDE = 64


@pytest.fixture(scope="module")
def host(django_db_setup):
    with pgserver.running_server() as host:
        yield host


@pytest.fixture(scope="module")
def migrated(host, django_db_blocker):
    """A database with our tables, and without the extension, to copy from."""
    pgserver.make_database(host, "model")
    with django_db_blocker.unblock(), pgserver.as_default_database(host, "model"):
        call_command("migrate", verbosity=0)
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS indexing_pgvector CASCADE")
            cursor.execute("DROP EXTENSION IF EXISTS vector CASCADE")
    return "model"


@pytest.fixture
def fresh(host, migrated, django_db_blocker, request, monkeypatch):
    """A copy of it for each test, as the database of this process and its threads."""
    monkeypatch.setattr(pgvector, "FEWEST_ROWS", FEW)
    monkeypatch.setattr(pgvector_schema, "FEWEST_ROWS", FEW)
    name = f"of_{abs(hash(request.node.name))}"
    pgserver.make_database(host, name, template=migrated)
    with django_db_blocker.unblock(), pgserver.as_default_database(host, name):
        yield name
    with pgserver.connect(host) as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def site(fresh):
    return create_project(actor=OPERATOR, name="Harbour")


def ask(project, vector, *, documents=None, limit=10, also=(), generation=None):
    return near(
        vector,
        project_id=project.pk,
        embedder=EMBEDDER,
        generation=generation_of(project) if generation is None else generation,
        documents=documents,
        limit=limit,
        also=also,
    )


def ours(*, order: str = "section_id") -> list[tuple[int, str]]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT section_id, embedder FROM indexing_pgvector ORDER BY {order}")
        return cursor.fetchall()


def truth() -> list[tuple[int, str]]:
    return list(SectionVector.objects.order_by("section_id").values_list("section_id", "embedder"))


def indexes() -> list[str]:
    return [name for name in pgvector._indexes() if name.startswith(pgvector.INDEX_PREFIX)]


def recent() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM indexing_pgvector WHERE NOT settled")
        return cursor.fetchone()[0]


def uses_of(index: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute("SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = %s", [index])
        return cursor.fetchone()[0]


def scanned(vectors, sections, query, limit, rows=None) -> list[int]:
    chosen = np.arange(len(vectors)) if rows is None else np.asarray(rows)
    best = chosen[np.argsort(-(vectors[chosen] @ query))[:limit]]
    return [sections[row] for row in best]


def test_vectors_from_before_the_extension_are_taken_in(site):
    vectors = topics(FEW)
    _, sections = fill(site, vectors)
    assert pgvector_schema.ensure()
    assert ours() == truth()
    assert len(indexes()) == 1
    found = ask(site, vectors[7], limit=5)
    assert list(found) == scanned(vectors, sections, vectors[7], 5)
    assert found[sections[7]] == pytest.approx(1, abs=2e-3)
    # It was not the matrix that answered.
    assert cache.bytes() == 0


def test_it_can_be_called_again_and_again(site):
    fill(site, topics(FEW))
    assert pgvector_schema.ensure()
    before = indexes()
    assert pgvector_schema.ensure()
    assert indexes() == before
    assert ours() == truth()


def test_a_small_project_is_scanned(site):
    assert pgvector_schema.ensure()
    vectors = topics(FEW - 1)
    fill(site, vectors)
    assert pgvector_schema.ensure()
    assert indexes() == []
    assert ours() == truth()
    assert len(ask(site, vectors[0])) == 10
    assert cache.bytes() > 0


def test_what_is_written_changed_and_removed_is_followed(site):
    assert pgvector_schema.ensure()
    vectors = topics(FEW + 50)
    documents, sections = fill(site, vectors)
    assert pgvector_schema.ensure()
    # Replaced with its document.
    new = replace(documents[0], vectors[:10])
    assert set(ask(site, vectors[3], limit=1)) == {new[3]}
    # Another vector for the same section.
    write([(new[0], -vectors[3])], embedder=EMBEDDER, project_id=site.pk)
    assert next(iter(ask(site, -vectors[3], limit=1))) == new[0]
    # Another embedder, and away with it.
    write(zip(sections[10:20], vectors, strict=False), embedder="old", project_id=site.pk)
    assert len(ours()) == FEW + 60
    assert remove_other_vectors(project_id=site.pk, keep=[EMBEDDER]) == 10
    documents[1].delete()
    assert ours() == truth()
    assert len(ours()) == FEW + 40
    site.delete()
    assert ours() == truth() == []


def test_new_rows_are_found_before_and_after_they_are_in_the_index(site):
    vectors = topics(FEW + 200)
    documents, sections = fill(site, vectors[:FEW])
    assert pgvector_schema.ensure()
    assert recent() == 0
    late, added = fill(site, vectors[FEW:])
    assert recent() == 200
    everything = sections + added
    for query in vectors[:: FEW // 8]:
        assert list(ask(site, query, limit=5)) == scanned(vectors, everything, query, 5)
    within = ask(site, vectors[-1], documents=[documents[0].pk, late[-1].pk], limit=50)
    assert set(within) == {*sections[:10], *added[-10:]}
    assert pgvector_schema.ensure()
    assert recent() == 0
    for query in vectors[:: FEW // 8]:
        assert list(ask(site, query, limit=5)) == scanned(vectors, everything, query, 5)
    assert cache.bytes() == 0


def test_too_many_new_rows_are_scanned_in_memory(site):
    fill(site, topics(FEW))
    assert pgvector_schema.ensure()
    vectors = topics(FEW, seed=1)
    _, sections = fill(site, vectors)
    assert list(ask(site, vectors[3], limit=1)) == [sections[3]]
    assert cache.bytes() > 0


def test_the_tables_can_still_be_emptied(site):
    fill(site, topics(FEW))
    assert pgvector_schema.ensure()
    call_command("flush", interactive=False, verbosity=0)
    assert ours() == truth() == []


def test_others_are_measured_too(site):
    vectors = topics(FEW)
    documents, sections = fill(site, vectors)
    assert pgvector_schema.ensure()
    also = [sections[0], sections[-1], 10**12]
    found = ask(site, vectors[0], documents=[documents[0].pk], limit=2, also=also)
    assert len(found) == 3
    assert next(iter(found)) == sections[0]
    assert found[sections[-1]] == pytest.approx(float(vectors[-1] @ vectors[0]), abs=3e-3)
    assert set(ask(site, vectors[0], limit=0, also=also)) == {sections[0], sections[-1]}


def test_filters_return_as_many_as_there_are(site):
    vectors = topics(6 * FEW, dimensions=WIDE)
    documents, sections = fill(site, vectors)
    other = create_project(actor=OPERATOR, name="Elsewhere")
    fill(other, topics(FEW, seed=3, dimensions=WIDE))
    assert pgvector_schema.ensure()
    # The documents that are least like what is asked for, few and many of them.
    query = vectors[0]
    far = np.argsort([float((vectors[n : n + 10] @ query).max()) for n in range(0, 6 * FEW, 10)])
    for number in (1, 3, 100):
        rows = [row for n in far[:number] for row in range(10 * n, 10 * n + 10)]
        chosen = [documents[n].pk for n in far[:number]]
        found = ask(site, query, documents=chosen, limit=50)
        assert len(found) == min(50, 10 * number)
        best = scanned(vectors, sections, query, 50, rows)
        assert len(set(found) & set(best)) >= 0.9 * len(best)
    assert ask(site, query, documents=[], limit=50) == {}
    # Those of another project are many, and all in one index.
    assert len(ask(other, query, limit=FEW)) == FEW
    assert cache.bytes() == 0


def test_it_finds_nine_of_ten_that_the_scan_finds(site):
    vectors = topics(5000, dimensions=WIDE, about=200)
    _, sections = fill(site, vectors, each=200)
    assert pgvector_schema.ensure()
    queries = topics(30, seed=2, dimensions=WIDE, about=200)
    found = sum(
        len(set(ask(site, query, limit=50)) & set(scanned(vectors, sections, query, 50)))
        for query in queries
    )
    assert cache.bytes() == 0
    assert found / (50 * len(queries)) >= 0.9
    # By the index, not by looking at everything.
    assert uses_of(*indexes()) >= len(queries)


def test_an_answer_of_another_generation_is_none(site):
    fill(site, topics(FEW))
    assert pgvector_schema.ensure()
    before = generation_of(site)
    raise_generation(site)
    with pytest.raises(Newer):
        ask(site, topics(1)[0], generation=before)


def test_vectors_of_nothing_and_of_no_number_do_no_harm(site):
    vectors = topics(FEW)
    _, sections = fill(site, vectors)
    assert pgvector_schema.ensure()
    broken = np.full(DIMENSIONS, np.nan)
    rows = [(sections[0], np.zeros(DIMENSIONS)), (sections[1], broken)]
    write(rows, embedder=EMBEDDER, project_id=site.pk)
    assert ours() == truth()
    assert len(ask(site, vectors[5], limit=10)) == 10
    assert set(ask(site, vectors[5], limit=0, also=sections[:2]).values()) == {0.0}


def test_a_length_that_changes_under_its_key_is_passed_over(site):
    vectors = topics(FEW)
    _, sections = fill(site, vectors)
    assert pgvector_schema.ensure()
    write([(sections[0], some_vectors(1, dimensions=8)[0])], embedder=EMBEDDER, project_id=site.pk)
    assert sections[0] not in ask(site, vectors[0], limit=FEW, also=sections)


def test_the_index_of_an_embedder_that_went_goes(site):
    vectors = topics(FEW)
    _, sections = fill(site, vectors)
    assert pgvector_schema.ensure()
    (old,) = indexes()
    write(zip(sections, vectors, strict=True), embedder="it's new", project_id=site.pk)
    remove_other_vectors(project_id=site.pk, keep=["it's new"])
    assert pgvector_schema.ensure()
    (new,) = indexes()
    assert new != old


def test_when_the_extension_is_dropped_the_scan_goes_on(site):
    vectors = topics(FEW)
    documents, sections = fill(site, vectors)
    assert pgvector_schema.ensure()
    ask(site, vectors[0])
    with connection.cursor() as cursor:
        cursor.execute("DROP EXTENSION vector CASCADE")
    # This process still believes in it.
    assert list(ask(site, vectors[4], limit=1)) == [sections[4]]
    assert cache.bytes() > 0
    new = replace(documents[0], vectors[:10])
    documents[1].delete()
    assert set(ask(site, vectors[4], limit=1)) == {new[4]}
    # And when it comes back, all is taken in anew.
    assert pgvector_schema.ensure()
    assert ours() == truth()


def test_whoever_may_not_switch_it_on_does_without(host, fresh, site, caplog):
    pgserver_role = f"{fresh}_plain"
    with pgserver.connect(host) as admin:
        admin.execute(f"CREATE ROLE {pgserver_role} LOGIN")
    with pgserver.connect(host, fresh) as admin:
        admin.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {pgserver_role}")
        admin.execute(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {pgserver_role}")
        # As it is for an extension that is not trusted, whatever this build says of it.
        admin.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    vectors = topics(FEW)
    _, sections = fill(site, vectors)
    with pgserver.as_default_database(host, fresh, user=pgserver_role):
        assert not pgvector_schema.ensure()
        assert list(ask(site, vectors[4], limit=1)) == [sections[4]]
        write([(sections[0], vectors[0])], embedder=EMBEDDER, project_id=site.pk)
    with pgserver.connect(host) as admin:
        admin.execute(f"DROP OWNED BY {pgserver_role}")
    with pgserver.connect(host, fresh) as admin:
        admin.execute(f"DROP OWNED BY {pgserver_role}")
        admin.execute(f"DROP ROLE {pgserver_role}")


def test_an_index_that_was_left_half_built_is_built_again(site):
    fill(site, topics(FEW))
    assert pgvector_schema.ensure()
    (name,) = indexes()
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = to_regclass(%s)", [name]
        )
    assert indexes() == []
    assert pgvector_schema.ensure()
    assert indexes() == [name]


def test_a_writer_who_began_before_the_table_was_there_loses_nothing(site):
    """Its vectors are not to be seen when the table is filled, and it did not see the table."""
    vectors = topics(FEW)
    documents, _ = fill(site, vectors)
    wrote, go_on = threading.Event(), threading.Event()

    def write_slowly():
        with transaction.atomic():
            replace(documents[0], some_vectors(10, seed=5))
            wrote.set()
            go_on.wait(20)
        connections.close_all()

    writer = threading.Thread(target=write_slowly)
    writer.start()
    assert wrote.wait(20)
    done = []

    def set_up():
        done.append(pgvector_schema.ensure())
        connections.close_all()

    setting_up = threading.Thread(target=set_up)
    setting_up.start()
    time.sleep(0.3)
    assert not done
    go_on.set()
    writer.join(20)
    setting_up.join(20)
    assert done == [True]
    assert ours() == truth()


def test_it_is_in_step_when_set_up_under_load(site):
    """Writers replace documents while the table is made, filled and indexed."""
    vectors = topics(FEW)
    documents, _ = fill(site, vectors)
    over, failures = threading.Event(), []

    def rewrite(mine):
        seed = 0
        try:
            while not over.is_set():
                seed += 1
                replace(mine[seed % len(mine)], some_vectors(10, seed=seed), version=seed)
        except Exception as error:
            failures.append(repr(error))
        finally:
            connections.close_all()

    writers = [threading.Thread(target=rewrite, args=(documents[n::2],)) for n in range(2)]
    for writer in writers:
        writer.start()
    for _ in range(5):
        assert pgvector_schema.ensure()
        time.sleep(0.1)
    over.set()
    for writer in writers:
        writer.join(20)
    assert failures == []
    assert ours() == truth()
    assert len(truth()) == FEW
    assert IndexedDocument.objects.count() == len(documents)
