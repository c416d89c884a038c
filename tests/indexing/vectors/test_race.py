"""Documents are replaced and deleted while others search: each answer is of one moment."""

import threading
import time

import numpy as np
import pytest
from django.db import connections

from indexing.models import ProjectIndex
from indexing.vectors import reading
from indexing.vectors.cache import Newer, cache
from indexing.vectors.search import near
from tests.indexing.vectors.scene import (
    EMBEDDER,
    fill,
    generation_of,
    replace_many,
    some_vectors,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("races")]

SECONDS = 1.5
DOCUMENTS = 12
SECTIONS = 6


class History:
    """Which sections made up the project at each generation, as the writer left them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.of_generation: dict[int, frozenset[int]] = {}
        self.answers = 0
        self.newer = 0
        self.wrong: list[str] = []
        self.over = threading.Event()


def write(project, documents, sections, history):
    """Every so often two documents at once, which an answer has to show both new or both old."""
    rng = np.random.default_rng(7)
    version = 1
    while not history.over.is_set():
        version += 1
        chosen = [documents[n] for n in rng.choice(len(documents), 2, replace=False)]
        batch = [
            (document, some_vectors(int(rng.integers(1, 2 * SECTIONS)), seed=version))
            for document in chosen
        ]
        # Nobody can have seen it before it is in the history.
        with history.lock:
            sections.update(replace_many(batch, version=version))
            now = frozenset(section for ids in sections.values() for section in ids)
            history.of_generation[generation_of(project)] = now
        time.sleep(0.002)


def read(project, history, seed):
    query = some_vectors(1, seed=seed)[0]
    while not history.over.is_set():
        generation = ProjectIndex.objects.values_list("generation", flat=True).get(project=project)
        try:
            found = near(
                query,
                project_id=project.pk,
                embedder=EMBEDDER,
                generation=generation,
                documents=None,
                limit=10_000,
            )
        except Newer:
            history.newer += 1
            continue
        with history.lock:
            expected = history.of_generation[generation]
        if set(found) != expected:
            missing, extra = expected - set(found), set(found) - expected
            history.wrong.append(f"{generation}: {len(missing)} missing, {len(extra)} too many")
        history.answers += 1


def in_threads(history, *works):
    failures = []

    def run(work, arguments):
        try:
            work(*arguments)
        except Exception as error:
            failures.append(repr(error))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=work) for work in works]
    for thread in threads:
        thread.start()
    time.sleep(SECONDS)
    history.over.set()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    assert failures == []


@pytest.mark.parametrize("megabytes", [512, 0], ids=["kept", "not kept"])
def test_every_answer_is_of_one_generation(project, settings, megabytes):
    settings.VECTOR_CACHE_MB = megabytes
    documents, _ = fill(project, some_vectors(DOCUMENTS * SECTIONS), each=SECTIONS)
    history, sections = History(), replace_many([(d, some_vectors(SECTIONS)) for d in documents])
    now = frozenset(section for ids in sections.values() for section in ids)
    history.of_generation[generation_of(project)] = now
    in_threads(
        history,
        (write, (project, documents, sections, history)),
        *((read, (project, history, seed)) for seed in range(3)),
    )
    assert history.wrong == []
    # The race took place.
    assert len(history.of_generation) > 10
    assert history.answers > 10


def test_many_readers_load_a_project_once(project, monkeypatch):
    fill(project, some_vectors(400))
    generation = generation_of(project)
    loads = []
    real = reading.blocks

    def slowly(*args):
        loads.append(1)
        time.sleep(0.1)
        yield from real(*args)

    monkeypatch.setattr(reading, "blocks", slowly)
    gate = threading.Barrier(8)
    views = []

    def load():
        gate.wait(10)
        views.append(
            cache.view(
                project_id=project.pk, embedder=EMBEDDER, dimensions=16, generation=generation
            )
        )
        connections.close_all()

    threads = [threading.Thread(target=load) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(loads) == 1
    assert len({id(view) for view in views}) == 1
    assert len(views) == 8


def test_documents_that_go_meanwhile(project):
    """Deletions raise no generation; an answer has whole documents all the same."""
    documents, ids = fill(project, some_vectors(40 * SECTIONS), each=SECTIONS)
    generation = generation_of(project)
    document_of = {section: n // SECTIONS for n, section in enumerate(ids)}
    history, gone = History(), []

    def delete():
        for n, document in enumerate(documents[:30]):
            document.delete()
            gone.append(n)
            time.sleep(0.01)

    def look():
        while not history.over.is_set():
            known = list(gone)
            try:
                found = near(
                    some_vectors(1)[0],
                    project_id=project.pk,
                    embedder=EMBEDDER,
                    generation=generation,
                    documents=None,
                    limit=10_000,
                )
            except Newer:
                continue
            whole = [document_of[section] for section in found]
            if len(whole) != SECTIONS * len(set(whole)) or set(whole) & set(known):
                history.wrong.append(f"{len(whole)} sections of {len(set(whole))} documents")
            history.answers += 1

    in_threads(history, (delete, ()), (look, ()), (look, ()))
    assert history.wrong == []
    assert len(gone) == 30


@pytest.mark.parametrize("loaded_first", [True, False])
def test_a_reader_in_an_older_transaction_sees_the_past_or_is_told(project, loaded_first):
    """Whether others have read on, or it is the first to read at all."""
    vectors = some_vectors(20)
    documents, sections = fill(project, vectors)
    before = generation_of(project)
    began, changed = threading.Event(), threading.Event()
    answers = []

    def ask(generation):
        try:
            return set(
                near(
                    vectors[0],
                    project_id=project.pk,
                    embedder=EMBEDDER,
                    generation=generation,
                    documents=None,
                    limit=50,
                )
            )
        except Newer:
            return Newer

    def read_in_the_past():
        snapshot = "BEGIN"
        if connections["default"].vendor == "postgresql":
            snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ"
        with connections["default"].cursor() as cursor:
            cursor.execute(snapshot)
            cursor.execute("SELECT COUNT(*) FROM indexing_section")
            began.set()
            changed.wait(20)
            answers.append(ask(before))
            cursor.execute("ROLLBACK")
        answers.append(ask(generation_of(project)))
        connections.close_all()

    reader = threading.Thread(target=read_in_the_past)
    reader.start()
    assert began.wait(20)
    new = replace_many([(documents[0], vectors[:5])])[documents[0].pk]
    documents[1].delete()
    now = generation_of(project)
    if loaded_first:
        assert ask(now) == set(new)
    changed.set()
    reader.join(20)
    assert answers == [Newer if loaded_first else set(sections), set(new)]
    assert ask(now) == set(new)
