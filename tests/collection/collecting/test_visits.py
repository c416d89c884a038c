"""Visits in their threads against the one thread that writes: what comes too late, twice, for
another repository than it was, or cannot be written at all."""

import threading
from contextlib import contextmanager
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.translation import get_language

from collection.choices import ResultStatus, RunStatus, State
from collection.models import AuthorAlias, Branch, BulkCollectionRun, Repository
from collection.origins import opening
from collection.origins.data import OriginProblem
from collection.origins.data import Stopped as OriginStopped
from collection.services.collecting import going, writing
from collection.services.ending import cancel
from collection.services.repositories import change_repository, remove_repository
from collection.services.starting import start
from glossary_site.jobs.choices import State as JobState
from glossary_site.jobs.errors import Stop
from projects.access import OPERATOR
from tests.collection.collecting.test_targets import AWAY, check_counts, results
from tests.collection.factories import make_commit
from tests.collection.working import collect, perform_job, shas, work_on

pytestmark = pytest.mark.django_db

BUSY = OriginProblem(State.UNREACHABLE, "Too many requests.", again=True, retry_after=300)


@contextmanager
def once(name, deed, *, before=False):
    """Something happens in the main thread, right before or after a step of it."""
    step = getattr(going.Collector, name)
    done = []

    def with_deed(self, *arguments):
        first = not done
        done.append(1)
        if first and before:
            deed()
        step(self, *arguments)
        if first and not before:
            deed()

    with patch.object(going.Collector, name, with_deed):
        yield


def breaking(origin, *, times=1, problem=AWAY):
    """Its history breaks off before it has begun."""
    history, asked = origin.history, []

    def broken(head, **options):
        asked.append(head)
        if len(asked) <= times:
            raise problem
        yield from history(head, **options)

    origin.history = broken
    return asked


def two_branches(made, **fields):
    repository, origin = made(branch_patterns=["a", "main"], **fields)
    origin.branches["a"] = origin.head
    return repository, origin


class TestAgain:
    def test_one_branch_is_due_while_another_one_is_still_being_read(self, made, project):
        _, origin = two_branches(made)
        history, asked = origin.history, []
        due = threading.Event()

        def slow(head, **options):
            asked.append(head)
            if len(asked) == 1:
                raise AWAY
            if len(asked) == 2:
                due.wait(0.4)  # longer than until the first one is to be tried again
            yield from history(head, **options)

        origin.history = slow
        run = start(actor=OPERATOR, project=project)
        job = perform_job(run.job)
        assert job.state == JobState.SUCCEEDED
        assert results(run) == [("a", "success", 3), ("main", "success", 3)]
        assert len(asked) == 3
        check_counts(run)

    def test_what_has_ended_meanwhile_is_not_visited_for_nothing(self, made, project):
        """Both branches wait, each for a time of its own; the first visit does both."""
        _, origin = two_branches(made)
        breaking(origin, times=2)
        run = collect(project)
        assert results(run) == [("a", "success", 3), ("main", "success", 3)]
        assert origin.asked.count("heads") == 2

    def test_a_visit_is_one_attempt(self, made, project):
        """However much goes wrong in it."""
        _, origin = two_branches(made)
        breaking(origin, times=9, problem=BUSY)
        origin.problems["mailmap"] = BUSY
        run = start(actor=OPERATOR, project=project)
        perform_job(run.job)
        assert list(run.results.values_list("attempts", flat=True)) == [1, 1]
        assert not run.results.filter(in_hand_since__isnull=False).exists()

    def test_one_that_waits_does_not_hold_the_others_of_its_repository(self, made, project):
        """After a crash, too: what was in hand then is due now."""
        two_branches(made)
        collect(project)
        run = start(actor=OPERATOR, project=project)
        later = timezone.now() + timedelta(minutes=5)
        run.results.filter(branch_name="a").update(next_retry_at=later)
        perform_job(run.job)
        assert run.results.get(branch_name="main").status == ResultStatus.SUCCESS

    def test_a_host_that_wants_to_be_left_alone_is(self, made, project, settings):
        """Its other repositories are not asked to hear the same; and lose no attempt."""
        settings.COLLECTION_PARALLEL = 1
        asked = []
        for _number in range(3):
            _, origin = made()
            origin.problems["heads"] = BUSY
            asked.append(origin.asked)
        run = start(actor=OPERATOR, project=project)
        perform_job(run.job)
        assert sorted(map(len, asked)) == [0, 0, 1]
        assert sorted(run.results.values_list("attempts", flat=True)) == [0, 0, 1]
        run.refresh_from_db()
        assert run.job.due_at > timezone.now() + timedelta(minutes=4)

    def test_a_rewritten_history_is_counted_once(self, made, project):
        _, origin = made(commits=3)
        collect(project)
        first = next(iter(origin.commits))
        origin.commit({"a.md": "other"}, parents=[first])
        breaking(origin)
        run = collect(project)
        assert "2 commits are no longer" in run.results.get().note

    def test_and_is_told_of_by_whoever_comes_after_a_kill(self, made, project):
        _, origin = made(commits=3)
        collect(project)
        first, *_rest, old = origin.commits
        new = origin.commit({"a.md": "other"}, parents=[first])
        run = start(actor=OPERATOR, project=project)
        Branch.objects.update(
            head=first, complete=False, rewritten_at=timezone.now(), rewritten_from=old
        )
        work_on(run)
        assert "rewritten" in run.results.get().note
        assert Branch.objects.get().head == new


class TestAnotherWish:
    def test_an_earlier_beginning(self, made, project):
        """It is said in the middle of a visit that goes by the later one."""
        repository, origin = made(commits=5)
        when = [commit.data.committed_date for commit in origin.commits.values()]
        Repository.objects.update(since=when[3])
        history = origin.history
        changed = threading.Event()

        def slow(head, **options):
            assert changed.wait(10)
            yield from history(head, **options)

        def change():
            known = Repository.objects.get(pk=repository.pk)
            change_repository(repository=known, actor=OPERATOR, since=when[1])
            changed.set()

        origin.history = slow
        with once("_write", change):
            run = collect(project)
        assert shas(repository) == list(origin.commits)[1:]
        assert results(run) == [("main", "success", 4)]

    def test_another_place(self, made, project):
        """What the old one says of itself, its keys above all, is not written to the new one."""
        repository, origin = made()
        origin.host_keys = "old.example.com ssh-ed25519 AAAA"
        heads = origin.heads
        changed = threading.Event()

        def slow():
            assert changed.wait(10)
            return heads()

        def move():
            Repository.objects.update(address="ssh://git@new.example.com/x", host_keys="")
            del origin.host_keys
            changed.set()

        origin.heads = slow
        with once("_begin_visits", move):
            run = collect(project)
        assert origin.asked.count("heads") == 2
        assert results(run) == [("main", "success", 3)]
        repository.refresh_from_db()
        assert repository.host_keys == ""

    def test_keys_that_were_forgotten_meanwhile(self, made, project):
        repository, origin = made(host_keys="old")
        origin.host_keys = "old and new"
        with once("_begin_visits", lambda: Repository.objects.update(host_keys="")):
            collect(project)
        repository.refresh_from_db()
        assert repository.host_keys == ""
        collect(project)
        repository.refresh_from_db()
        assert repository.host_keys == "old and new"

    def test_a_later_beginning_of_one_collection_is_for_first_ones(self, made, project):
        """Not for the rest of a branch that was left in the middle of what had come to it."""
        repository, origin = made(commits=6)
        old, last = list(origin.commits)[3], origin.head
        origin.branches["main"] = list(origin.commits)[2]
        collect(project)
        origin.branches["main"] = last
        data = origin.commits[old].data
        make_commit(Branch.objects.get(), sha=old, committed_date=data.committed_date)
        Branch.objects.update(head=old, complete=False)
        collect(project, since=data.committed_date + timedelta(days=30))
        assert shas(repository) == list(origin.commits)


class TestTheMailMap:
    MAP = {".mailmap": "Ada Lovelace <ada@example.com> <old@example.com>"}

    def test_commits_on_any_branch_may_be_by_somebody_it_knows(self, made, project):
        _, origin = two_branches(made)
        origin.commit(self.MAP)
        origin.branches["a"] = origin.head
        collect(project)
        origin.commit({"b.md": "x"}, branch="a", author=("Ada", "old@example.com"))
        collect(project)
        assert AuthorAlias.objects.get().author.name == "Ada Lovelace"

    def test_it_is_read_where_a_kill_came_before(self, made, project):
        """The branch that had news is the last one to end, and then its map has been read."""
        _, origin = two_branches(made)
        origin.commit(self.MAP)
        origin.branches["a"] = origin.head
        collect(project)
        origin.commit({"b.md": "x"}, branch="a", author=("Ada", "old@example.com"))
        run = start(actor=OPERATOR, project=project)
        with patch.object(going, "take_mailmap", side_effect=OperationalError("killed")):
            perform_job(run.job)
        assert run.results.get(branch_name="a").status == ResultStatus.PENDING
        work_on(run)
        assert AuthorAlias.objects.get().author.name == "Ada Lovelace"

    def test_of_a_repository_whose_default_branch_is_not_followed(self, made, project):
        _, origin = made(branch_patterns=["release/*"])
        origin.commit(
            {**self.MAP}, branch="release/1", parents=[origin.head], author=("A", "old@example.com")
        )
        run = collect(project)
        assert results(run) == [("release/1", "success", 4)]
        assert AuthorAlias.objects.get().author.name == "Ada Lovelace"


class TestRemoved:
    @pytest.mark.timeout(30)
    def test_before_its_documents_are_read(self, made, project):
        gone, _ = made(document_patterns=["*.md"])
        made()
        run = start(actor=OPERATOR, project=project)
        remove = lambda: remove_repository(repository=gone, actor=OPERATOR)  # noqa: E731
        with once("_take_documents", remove, before=True):
            run = work_on(run)
        assert run.status == RunStatus.COMPLETED
        assert results(run) == [("main", "success", 3)]


class TestWhatCannotBeWritten:
    def test_is_the_trouble_of_one_repository(self, made, project, caplog):
        good, _ = made("good")
        bad, _ = made("bad")
        store = writing.store_commits

        def poisoned(errand, *arguments):
            if errand.result.repository_id == bad.pk:
                raise ValueError("/secret/path")
            return store(errand, *arguments)

        with patch.object(writing, "store_commits", poisoned):
            run = collect(project)
        assert run.status == RunStatus.COMPLETED
        assert run.results.get(repository=good).status == ResultStatus.SUCCESS
        failed = run.results.get(repository=bad)
        assert failed.status == ResultStatus.FAILED
        assert "ValueError" in failed.error_message
        assert "/secret/path" not in failed.error_message
        assert "/secret/path" in caplog.text
        check_counts(run)

    def test_documents(self, made, project):
        repository, _ = made(document_patterns=["*.md"])
        with patch.object(going, "take_documents", side_effect=ValueError("/secret/path")):
            run = collect(project)
        assert results(run) == [("main", "success", 3)]
        repository.refresh_from_db()
        assert "ValueError" in repository.documents_error
        assert "/secret/path" not in repository.documents_error

    def test_in_the_language_of_the_project(self, made, project):
        project.language = "ja"
        project.save()
        made(commits=0)
        with patch.object(writing, "_", lambda text: f"{get_language()}: {text}"):
            run = collect(project)
        assert run.results.get().note == "ja: The repository is empty."


class TestStopping:
    @pytest.mark.timeout(30)
    def test_while_documents_are_read(self, made, project):
        """They are read in the main thread, which looks at nothing else meanwhile."""
        _, origin = made(document_patterns=["*.md"])
        sessions, stops, late = [], [], threading.Event()
        begin = going.Collector.__init__

        def noted(self, run, session):
            sessions.append(session)
            begin(self, run, session)

        def opened(repository, *, stopped):
            stops.append(stopped)
            return origin

        def touches(head, **more):
            cancel(BulkCollectionRun.objects.get(), actor=OPERATOR)
            sessions[0].stop(Stop.CANCELED)  # as the pulse does
            while not stops[0]():
                if late.wait(0.05):
                    return
            raise OriginStopped
            yield

        origin.touches = touches
        opening.ORIGINS["git"] = opened
        timer = threading.Timer(5, late.set)
        timer.start()
        with patch.object(going.Collector, "__init__", noted):
            run = collect(project)
        timer.cancel()
        assert not late.is_set()
        assert run.status == RunStatus.CANCELLED
        assert run.results.get().status == ResultStatus.PENDING


def test_repositories_that_wait_for_their_host_cost_nothing(made, project, settings):
    settings.COLLECTION_PER_HOST = 1
    queries = []
    for number in (5, 25):
        for _repository in range(number):
            made()
        with CaptureQueriesContext(connection) as captured:
            run = collect(project)
        assert run.success_count == run.total_targets
        queries.append(len(captured))
        Repository.objects.all().delete()
    assert queries[1] < 6 * queries[0]
