"""What several do at once to one repository, with real threads."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, connections

from collection.choices import ResultStatus, RunStatus
from collection.models import BulkCollectionRun, Commit, Repository
from collection.services.repositories import add_repository, change_repository, remove_repository
from collection.services.starting import start
from glossary_site.errors import Refusal
from projects.access import OPERATOR
from tests.collection.factories import make_repository
from tests.collection.made import MemoryOrigin
from tests.collection.working import answering, work_on

pytestmark = pytest.mark.django_db(transaction=True)

ADDRESS = "https://93.184.215.14/team/app.git"


def at_once(*deeds: Callable[[], Any]) -> list[Any]:
    """What came of each, or the refusal."""
    barrier = threading.Barrier(len(deeds))

    def does(deed: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return deed()
        except Refusal as refusal:
            return refusal
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(deeds)) as pool:
        return list(pool.map(does, deeds))


@pytest.mark.parametrize("for_all", [False, True], ids=["project", "all projects"])
def test_several_add_the_same(project, for_all):
    def add() -> Repository:
        whose = None if for_all else project
        return add_repository(project=whose, address=ADDRESS, actor=OPERATOR)

    outcomes = at_once(add, add, add)
    (added,) = [each for each in outcomes if isinstance(each, Repository)]
    assert Repository.objects.get() == added
    refusals = [each for each in outcomes if isinstance(each, Refusal)]
    assert [each.code for each in refusals] == ["repository_exists"] * 2
    assert all(each.details == {"repository_id": added.pk} for each in refusals)


def test_one_removes_what_another_changes(project):
    repository = make_repository(project)
    mine, theirs = Repository.objects.get(), Repository.objects.get()
    outcomes = at_once(
        lambda: remove_repository(repository=mine, actor=OPERATOR),
        lambda: change_repository(repository=theirs, actor=OPERATOR, name="Other"),
    )
    assert outcomes[0] == 0
    assert isinstance(outcomes[1], Repository) or outcomes[1].code == "repository_gone"
    assert not Repository.objects.filter(pk=repository.pk).exists()


class Halting(MemoryOrigin):
    """Stays in the middle of its history until it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.go_on = threading.Event(), threading.Event()
        for number in range(250):
            self.commit({"a.md": f"{number}"})

    def history(self, *arguments, **more):
        for batch in super().history(*arguments, **more):
            yield batch
            self.reached.set()
            assert self.go_on.wait(20)


def collecting(run: BulkCollectionRun) -> threading.Thread:
    def work() -> None:
        try:
            work_on(run)
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_repository_goes_while_it_is_collected(project):
    """The collection does not fall over, and the others of it come to a good end."""
    repository, other = make_repository(project), make_repository(project)
    origins = {repository.pk: Halting(), other.pk: MemoryOrigin()}
    origins[other.pk].commit({"a.md": "A"})
    run = start(actor=OPERATOR, project=project)
    halting = origins[repository.pk]
    with answering(origins):
        thread = collecting(run)
        assert halting.reached.wait(20)
        remove_repository(repository=repository, actor=OPERATOR)
        halting.go_on.set()
        thread.join(30)
    assert not thread.is_alive()
    run.refresh_from_db()
    assert (run.status, run.total_targets) == (RunStatus.COMPLETED, 1)
    assert (run.success_count, run.failed_count) == (1, 0)
    assert run.results.get().status == ResultStatus.SUCCESS
    assert set(Commit.objects.values_list("repository", flat=True)) == {other.pk}


def test_repositories_go_while_everything_is_written(project, settings):
    """Whoever waits for whom: nobody waits for ever."""
    settings.COLLECTION_PARALLEL = 4
    repositories = [make_repository(project) for _number in range(6)]
    origins = {}
    for each in repositories:
        origin = origins[each.pk] = MemoryOrigin()
        for number in range(40):
            origin.commit({"a.md": f"{number}"})
    run = start(actor=OPERATOR, project=project)
    with answering(origins):
        thread = collecting(run)
        for each in repositories[::2]:
            remove_repository(repository=each, actor=OPERATOR)
        thread.join(30)
    assert not thread.is_alive()
    run.refresh_from_db()
    assert (run.status, run.total_targets, run.success_count) == (RunStatus.COMPLETED, 3, 3)
    assert Commit.objects.count() == 3 * 40


class Reading(MemoryOrigin):
    """Stays before the first of its files until it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.go_on = threading.Event(), threading.Event()
        self.commit({"a.md": "# A\n", "b.md": "# B\n"})

    def contents(self, *arguments, **more):
        self.reached.set()
        assert self.go_on.wait(20)
        yield from super().contents(*arguments, **more)


def test_a_repository_goes_while_its_documents_are_read(project):
    repository, other = (
        make_repository(project, document_patterns=["*.md"]),
        make_repository(project),
    )
    origins = {repository.pk: Reading(), other.pk: MemoryOrigin()}
    origins[other.pk].commit({"a.md": "A"})
    run = start(actor=OPERATOR, project=project)
    reading = origins[repository.pk]
    with answering(origins):
        thread = collecting(run)
        assert reading.reached.wait(20)
        remove_repository(repository=repository, actor=OPERATOR, delete_documents=True)
        reading.go_on.set()
        thread.join(30)
    assert not thread.is_alive()
    run.refresh_from_db()
    assert (run.status, run.total_targets, run.success_count) == (RunStatus.COMPLETED, 1, 1)
    assert not project.documents.exists()
