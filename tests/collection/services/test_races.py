"""What several do at once to one repository, with real threads."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection, connections, transaction

from collection.choices import ResultStatus, RunStatus
from collection.identities import Identity
from collection.models import AuthorAlias, BulkCollectionRun, Commit, Repository
from collection.services import authors, ending
from collection.services.authors import merge_authors
from collection.services.documents.writing import Writer
from collection.services.ending import cancel, complete, succeed
from collection.services.repositories import add_repository, change_repository, remove_repository
from collection.services.settling import settle
from collection.services.starting import start
from glossary_site.errors import Refusal
from glossary_site.jobs.choices import State
from glossary_site.jobs.services.runs import cancel_run
from glossary_site.live.models import Event
from projects.access import OPERATOR
from projects.services.projects import delete_project
from tests.collection.factories import (
    make_branch,
    make_collection,
    make_commit,
    make_commits,
    make_repository,
)
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


def stalled(module: Any, name: str, *, at: threading.Event, first: bool = False) -> Any:
    """Its first call takes a while, at its end or as it begins: whoever waits for what is locked by
    then has the time to get in the way."""
    real = getattr(module, name)

    def stall() -> None:
        if not at.is_set():
            at.set()
            threading.Event().wait(0.3)

    def slow(*arguments: Any, **more: Any) -> Any:
        if first:
            stall()
        done = real(*arguments, **more)
        stall()
        return done

    return patch.object(module, name, slow)


def test_a_collection_is_stopped_while_its_documents_are_stored(project, caplog):
    """Who stores them has the feed, and looks at the job at the end; who stops it has both."""
    repository = make_repository(project, document_patterns=["*.md"])
    origin = MemoryOrigin()
    origin.commit({"a.md": "# A\n"})
    run = start(actor=OPERATOR, project=project)
    stored = threading.Event()
    with (
        answering({repository.pk: origin}),
        stalled(Writer, "_row", at=stored),
    ):
        thread = collecting(run)
        assert stored.wait(20)
        # SQLite may let them all in only when there is nothing left to stop.
        with suppress(Refusal):
            cancel(run, actor=OPERATOR)
        thread.join(30)
    assert not thread.is_alive()
    run.refresh_from_db()
    assert run.status in (RunStatus.CANCELLED, RunStatus.COMPLETED)
    assert "deadlock" not in caplog.text


@pytest.mark.parametrize("moment", ["its documents are stored", "its end is told"])
def test_its_job_is_cancelled_past_it_while(moment, project, caplog):
    """By an operator who has the job alone, and tells the feed only when that is done: so nobody
    has the one and waits for the other."""
    repository = make_repository(project, document_patterns=["*.md"])
    origin = MemoryOrigin()
    origin.commit({"a.md": "# A\n"})
    run = start(actor=OPERATOR, project=project)
    has_the_feed = threading.Event()
    where = (Writer, "_row") if moment.startswith("its documents") else (ending.news, "happened")
    with answering({repository.pk: origin}), stalled(*where, at=has_the_feed):
        thread = collecting(run)
        assert has_the_feed.wait(20)
        with suppress(Refusal):
            cancel_run(run.job, actor="operator")
        thread.join(30)
    assert not thread.is_alive()
    assert "deadlock" not in caplog.text
    run.refresh_from_db()
    run.job.refresh_from_db()
    if connection.vendor == "postgresql":
        # Who was first is the one with the shorter transaction.
        assert run.job.state == State.CANCELED
    if run.is_running:
        settle()
        run.refresh_from_db()
    ended = {State.CANCELED: RunStatus.CANCELLED, State.SUCCEEDED: RunStatus.COMPLETED}
    assert run.status == ended[run.job.state]


def test_a_project_is_deleted_while_commits_are_written(project):
    """The deletion waits for the repository before it touches anything of it."""
    branch = make_branch(make_repository(project))
    make_commits(branch, 3)
    failed: list[BaseException] = []

    def delete() -> None:
        try:
            delete_project(project=project, actor=OPERATOR)
        except BaseException as error:
            failed.append(error)
        finally:
            connections.close_all()

    deleting = threading.Thread(target=delete)
    with transaction.atomic():
        rows = Repository.objects.select_for_update(no_key=True)
        assert rows.filter(pk=branch.repository_id).exists()
        deleting.start()
        deleting.join(0.5)
        make_commit(branch)
    deleting.join(20)
    assert not failed
    assert not Commit.objects.exists()


def test_people_are_merged_while_a_mail_map_is_read(project, caplog):
    """Both change the same names, and the persons behind them."""
    repository = make_repository(project)
    origin = MemoryOrigin()
    for name in ("Ada", "Bea", "Cid", "Dan"):
        origin.commit({".mailmap": "Ada <a@x> <c@x>"}, author=(name, f"{name[0].lower()}@x"))
    with answering({repository.pk: origin}):
        work_on(start(actor=OPERATOR, project=project))
        origin.commit({".mailmap": "Bea <b@x> <c@x>"})
        run = start(actor=OPERATOR, project=project)
        named = threading.Event()
        with stalled(authors, "_authors", at=named, first=True):
            thread = collecting(run)
            assert named.wait(20)
            others = [Identity("Cid", "c@x"), Identity("Dan", "d@x")]
            merge_authors(
                project=project, into=Identity("Bea", "b@x"), identities=others, actor=OPERATOR
            )
            thread.join(30)
    assert not thread.is_alive()
    run.refresh_from_db()
    assert run.status == RunStatus.COMPLETED
    assert "deadlock" not in caplog.text
    aliases = AuthorAlias.objects.order_by("name").values_list("name", "author__name")
    assert list(aliases) == [("Cid", "Bea"), ("Dan", "Bea")]


def test_a_project_is_deleted_while_a_mail_map_is_read(project, caplog):
    repository = make_repository(project)
    origin = MemoryOrigin()
    origin.commit({".mailmap": "Ada <a@x> <ada@example.com>"})
    run = start(actor=OPERATOR)
    named = threading.Event()
    with (
        answering({repository.pk: origin}),
        stalled(authors, "_proper_names", at=named),
    ):
        thread = collecting(run)
        assert named.wait(20)
        delete_project(project=project, actor=OPERATOR)
        thread.join(30)
    assert not thread.is_alive()
    run.refresh_from_db()
    assert (run.status, run.total_targets) == (RunStatus.COMPLETED, 0)
    assert "deadlock" not in caplog.text


@pytest.mark.parametrize("number", range(5))
def test_stopped_and_completed_at_once(project, number):
    """Never both."""
    repository = make_repository(project)
    run = make_collection(project, [(repository, "main")])
    succeed(run.results.get(), new_commits=0)

    def finish() -> bool:
        with transaction.atomic():
            return complete(BulkCollectionRun.objects.get(pk=run.pk))

    deeds = [finish, lambda: cancel(BulkCollectionRun.objects.get(pk=run.pk), actor=OPERATOR)]
    outcomes = at_once(*(reversed(deeds) if number % 2 else deeds))
    completed, cancelled = reversed(outcomes) if number % 2 else outcomes
    run.refresh_from_db()
    if completed is True:
        assert (run.status, cancelled.code) == (RunStatus.COMPLETED, "collection_not_running")
    else:
        assert (run.status, completed) == (RunStatus.CANCELLED, False)
    types = Event.objects.filter(type__startswith="collection.").values_list("type", flat=True)
    assert list(types) == [f"collection.{run.status}"]
