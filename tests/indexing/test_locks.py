"""People and workers at the same documents at once: nobody gets in anybody's way."""

import random
import threading
from collections.abc import Callable

import pytest
from django.db import connection

from glossary_site.errors import Refusal
from indexing.models import IndexRequest, Section
from indexing.services import requests
from indexing.services.drain import take_turn
from projects.access import OPERATOR
from projects.choices import Source
from projects.intake.texts import draft_of
from projects.limits import limits
from projects.models import Document, Project
from projects.services.documents import delete_documents, rename_document, store_documents
from projects.services.projects import delete_project
from tests import factories
from tests.indexing.working import TEXT, index

DOCUMENTS = 8
ROUNDS = 8


class AtOnce:
    """Does several things in threads of their own until those that are counted are done."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []
        self._done = threading.Event()
        self._counted: list[threading.Thread] = []
        self._others: list[threading.Thread] = []

    def times(self, count: int, action: Callable[[random.Random], object]) -> None:
        self._counted.append(self._thread(action, lambda turn: turn < count))

    def meanwhile(self, action: Callable[[random.Random], object]) -> None:
        self._others.append(self._thread(action, lambda turn: not self._done.is_set()))

    def run(self) -> list[Exception]:
        for thread in (*self._counted, *self._others):
            thread.start()
        for thread in self._counted:
            thread.join()
        self._done.set()
        for thread in self._others:
            thread.join()
        return self.errors

    def _thread(self, action: Callable[[random.Random], object], goes_on: Callable[[int], bool]):
        chance = random.Random(len(self._counted) + len(self._others))

        def loop() -> None:
            turn = 0
            while goes_on(turn):
                turn += 1
                try:
                    action(chance)
                except Refusal:
                    pass  # Such as a path that is taken by now.
                except Exception as error:
                    self.errors.append(error)
            connection.close()

        return threading.Thread(target=loop)


def upload(project: Project, chance: random.Random) -> None:
    drafts = [
        draft_of(path=f"{n}.md", content=f"{TEXT}\n{chance.random()}\n", limits=limits())
        for n in chance.sample(range(DOCUMENTS), 3)
    ]
    list(store_documents(project=project, drafts=drafts, source=Source.UPLOAD, actor=OPERATOR))


def some(project: Project, chance: random.Random, count: int) -> list[Document]:
    documents = list(Document.objects.filter(project=project).listed())
    return chance.sample(documents, min(count, len(documents)))


@pytest.mark.django_db(transaction=True)
def test_uploads_deletions_and_the_index_do_not_block_each_other(project):
    """Each of them locks rows that the others need; in one order, or two of them wait for each
    other, and one of the two is told that it failed."""
    for number in range(DOCUMENTS):
        factories.make_document(project, f"{number}.md", TEXT)

    def delete(chance: random.Random) -> None:
        ids = [document.pk for document in some(project, chance, 2)]
        delete_documents(project=project, ids=ids, actor=OPERATOR)

    def rename(chance: random.Random) -> None:
        for document in some(project, chance, 1):
            path = f"{chance.randrange(DOCUMENTS)}.md"
            rename_document(document=document, path=path, actor=OPERATOR)

    at_once = AtOnce()
    at_once.times(ROUNDS, lambda chance: upload(project, chance))
    at_once.times(ROUNDS, delete)
    at_once.times(ROUNDS, rename)
    at_once.times(ROUNDS, lambda _: requests.rebuild(project=project, actor=OPERATOR, force=True))
    for _worker in range(2):
        at_once.meanwhile(lambda _: take_turn(project.pk, check=bool, seconds=0.1))
    assert at_once.run() == []

    index(project)
    assert not IndexRequest.objects.open().exists()
    for document in Document.objects.filter(project=project):
        hashes = Section.objects.filter(document=document).values_list("document_hash", flat=True)
        assert set(hashes) == {document.file_hash}


@pytest.mark.django_db(transaction=True)
def test_a_project_is_deleted_while_it_is_indexed(project):
    doomed: list[Project] = []

    def begin_and_delete(chance: random.Random) -> None:
        made = factories.make_project()
        for number in range(3):
            factories.make_document(made, f"{number}.md", TEXT)
        doomed.append(made)
        threading.Event().wait(chance.random() / 20)
        delete_project(project=made, actor=OPERATOR)

    at_once = AtOnce()
    at_once.times(ROUNDS, begin_and_delete)
    at_once.meanwhile(
        lambda _: [take_turn(made.pk, check=bool, seconds=0.1) for made in doomed[-1:]]
    )
    assert at_once.run() == []
    assert not Section.objects.exists()
    assert not IndexRequest.objects.exists()
