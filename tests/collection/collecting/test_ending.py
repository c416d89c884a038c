"""Stopping a collection, going on with one, and the safety net below both."""

import threading
from contextlib import contextmanager, suppress
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from collection.choices import ResultStatus, RunStatus
from collection.models import BulkCollectionResult, BulkCollectionRun
from collection.origins.git.mirror import mirror_folder, mirror_ids
from collection.services import retention
from collection.services.collecting import going
from collection.services.ending import cancel, complete, give_up, jobs_of, succeed
from collection.services.settling import MOST_STALLS, settle
from collection.services.starting import resume, start
from glossary_site.errors import Refusal
from glossary_site.jobs.choices import State
from glossary_site.jobs.services import transitions
from glossary_site.live.models import Event
from projects.access import OPERATOR
from projects.models import Project
from projects.services.projects import delete_project
from tests.collection.collecting.test_targets import check_counts, results
from tests.collection.factories import make_collection, make_repository
from tests.collection.working import collect, shas, work_on
from tests.factories import make_project
from tests.jobs.running import begin

pytestmark = pytest.mark.django_db


@contextmanager
def stopped_after(run, writes):
    """Somebody stops it when so many groups of messages have been written."""
    write = going.Collector._write
    seen = []

    def counted(self, messages):
        write(self, messages)
        seen.extend(messages)
        if len(seen) >= writes:
            with suppress(Refusal):
                cancel(run, actor=OPERATOR)

    with patch.object(going.Collector, "_write", counted):
        yield


class TestCancelling:
    def test_pending_targets_stay_pending_and_can_be_resumed(self, made, project, settings):
        settings.COLLECTION_PARALLEL = 1
        for number in range(4):
            made(f"r{number}")
        run = start(actor=OPERATOR, project=project)
        with stopped_after(run, 4):
            run = work_on(run)
        assert run.status == RunStatus.CANCELLED
        assert run.completed_at is not None
        assert 0 < run.pending_count < 4
        check_counts(run)
        done = run.success_count
        again = resume(run, actor=OPERATOR)
        assert (again.continues, again.total_targets) == (run, 4 - done)
        again = work_on(again)
        assert again.status == RunStatus.COMPLETED
        for repository in project.repositories.all():
            assert len(shas(repository)) == 3
        check_counts(run)
        check_counts(again)

    def test_nothing_is_written_after_it(self, made, project):
        """The worker learns of it at its next write, before anything of it is taken."""
        repository, _ = made(commits=250)
        run = start(actor=OPERATOR, project=project)
        with stopped_after(run, 1):
            work_on(run)
        there = shas(repository)
        job = jobs_of(run).order_by("-pk").first()
        assert job.state == State.CANCELED
        assert len(there) < 250
        work_on(resume(run, actor=OPERATOR))
        assert len(shas(repository)) == 250

    def test_one_whose_branches_nobody_knew_yet(self, made, project):
        """What is resumed are those that are followed, not the default branch."""
        _, origin = made(branch_patterns=["release/*"])
        for name in ("release/1", "release/2"):
            origin.commit({"b.md": name}, branch=name, parents=[origin.head])
        run = start(actor=OPERATOR, project=project)
        cancel(run, actor=OPERATOR)
        again = resume(run, actor=OPERATOR)
        cancel(again, actor=OPERATOR)
        run = work_on(resume(again, actor=OPERATOR))
        assert results(run) == [("release/1", "success", 4), ("release/2", "success", 4)]
        check_counts(run)

    def test_what_is_known_by_name_is_all_that_is_resumed(self, made, project):
        _, origin = made(branch_patterns=["release/*"])
        for name in ("release/1", "release/2"):
            origin.commit({"b.md": name}, branch=name, parents=[origin.head])
        collect(project)
        run = start(actor=OPERATOR, project=project)
        succeed(run.results.get(branch_name="release/1"), new_commits=0)
        cancel(run, actor=OPERATOR)
        run = work_on(resume(run, actor=OPERATOR))
        assert results(run) == [("release/2", "success", 0)]

    def test_it_has_ended_already(self, made, project):
        made()
        run = collect(project)
        with pytest.raises(Refusal) as refused:
            cancel(run, actor=OPERATOR)
        assert refused.value.code == "collection_not_running"
        assert refused.value.details["run_status"] == RunStatus.COMPLETED

    def test_it_is_not_completed_while_something_is_pending(self, project):
        run = make_collection(project, [(make_repository(project), "main")])
        assert not complete(run)
        run.refresh_from_db()
        assert run.is_running

    def test_a_project_that_is_deleted(self, made, project):
        """Its own collections go with it; one of all goes on without it."""
        other = make_project()
        kept = make_repository(other)
        made()
        run = start(actor=OPERATOR)
        assert run.total_targets == 2
        delete_project(project=project, actor=OPERATOR)
        run.refresh_from_db()
        assert list(run.results.values_list("repository", flat=True)) == [kept.pk]
        assert run.is_running
        check_counts(run)
        cancel(run, actor=OPERATOR)
        mine = start(actor=OPERATOR, project=other)
        delete_project(project=other, actor=OPERATOR)
        assert not BulkCollectionRun.objects.filter(pk=mine.pk).exists()
        assert not Project.objects.exists()


class TestCounting:
    def test_a_target_ends_once(self, project):
        run = make_collection(project, [(make_repository(project), "main")])
        result = run.results.get()
        assert succeed(result, new_commits=2)
        assert not give_up(result, "Too late.")
        assert not succeed(result, new_commits=3)
        check_counts(run)
        result.refresh_from_db()
        assert (result.status, result.new_commits_count) == (ResultStatus.SUCCESS, 2)

    @pytest.mark.parametrize(
        "fields",
        [
            {"status": "odd"},
            {"completed_count": 1, "success_count": 1, "failed_count": 1},
            {"completed_count": 1},
            {"completed_at": timezone.now()},
            {"status": RunStatus.CANCELLED},
        ],
        ids=["status", "over_total", "completed_not_success", "end_of_running", "no_end"],
    )
    def test_what_the_database_refuses_of_a_collection(self, project, fields):
        run = make_collection(project, [(make_repository(project), "main")])
        with pytest.raises(IntegrityError), transaction.atomic():
            BulkCollectionRun.objects.filter(pk=run.pk).update(**fields)

    @pytest.mark.parametrize(
        "fields",
        [
            {"status": "odd"},
            {"status": ResultStatus.SUCCESS, "processed_at": timezone.now()},
            {"status": ResultStatus.FAILED, "processed_at": timezone.now()},
            {"processed_at": timezone.now()},
        ],
        ids=["status", "success_without_count", "failure_without_message", "end_of_pending"],
    )
    def test_what_it_refuses_of_a_target(self, project, fields):
        run = make_collection(project, [(make_repository(project), "main")])
        with pytest.raises(IntegrityError), transaction.atomic():
            BulkCollectionResult.objects.filter(run=run).update(**fields)

    def test_two_running_ones(self, project):
        make_collection(project)
        with pytest.raises(IntegrityError), transaction.atomic():
            make_collection(None)

    def test_the_same_target_twice(self, project):
        repository = make_repository(project)
        with pytest.raises(IntegrityError), transaction.atomic():
            make_collection(project, [(repository, "main"), (repository, "main")])


def test_each_project_is_told_of_its_own_part(made, project):
    """And not how much there is in those of others."""
    made(commits=2)
    other = make_project()
    bad = make_repository(other, address="https://git.example.com/gone.git")
    run = start(actor=OPERATOR)
    run.results.filter(repository=bad).update(commits_so_far=7)
    give_up(run.results.get(repository=bad), "Nothing there.")
    work_on(run)
    told = Event.objects.filter(type="collection.completed").order_by("stream")
    parts = [
        [event.payload[name] for name in ("targets", "succeeded", "failed", "new_commits")]
        for event in told
    ]
    assert parts == [[1, 1, 0, 2], [1, 0, 1, 7]]
    assert [event.stream.name for event in told] == [project.stream, other.stream]


class TestTheSafetyNet:
    def test_one_whose_worker_died_goes_on(self, made, project):
        repository, _ = made()
        run = start(actor=OPERATOR, project=project)
        abandon(run)
        assert settle() == 1
        run = work_on(run)
        assert run.status == RunStatus.COMPLETED
        assert len(shas(repository)) == 3

    def test_one_that_is_worked_on_is_left_alone(self, made, project):
        made()
        start(actor=OPERATOR, project=project)
        assert settle() == 0

    def test_one_that_never_gets_anywhere_is_given_up(self, made, project):
        made()
        run = start(actor=OPERATOR, project=project)
        for _try in range(MOST_STALLS + 1):
            abandon(run)
            settle()
            run.refresh_from_db()
        assert run.status == RunStatus.COMPLETED
        assert "again and again" in run.results.get().error_message
        assert results(run) == [("HEAD", "failed", None)]
        check_counts(run)

    def test_one_whose_job_was_cancelled_by_an_operator(self, made, project):
        made()
        run = start(actor=OPERATOR, project=project)
        transitions.end(run.job, State.CANCELED, error="stopped")
        settle()
        run.refresh_from_db()
        assert run.status == RunStatus.CANCELLED

    def test_one_that_was_finished_but_for_its_status(self, project):
        run = make_collection(project, [(make_repository(project), "main")])
        succeed(run.results.get(), new_commits=0)
        assert settle() == 1
        run.refresh_from_db()
        assert run.status == RunStatus.COMPLETED

    def test_targets_that_went_with_a_project(self, project):
        """Deleted while a visit was under way that had just found them again."""
        run = make_collection(None, [(make_repository(project), "main")])
        Project.objects.all().delete()
        assert settle() == 1
        run.refresh_from_db()
        assert (run.status, run.total_targets) == (RunStatus.COMPLETED, 0)


class TestRetention:
    def test_old_ones_go_and_running_ones_stay(self, project, settings):
        repository = make_repository(project)
        target = [(repository, "main")]
        now = timezone.now()
        old = now - timedelta(days=91)
        make_collection(project, target, status=RunStatus.COMPLETED, completed_at=old)
        young = make_collection(
            project, target, status=RunStatus.COMPLETED, completed_at=now - timedelta(days=89)
        )
        running = make_collection(project, target, started_at=old)
        assert retention.remove_old_runs() == 1
        assert set(BulkCollectionRun.objects.all()) == {young, running}
        settings.COLLECTION_RETENTION_DAYS = 0
        assert retention.remove_old_runs() == 0

    def test_copies_of_repositories_that_are_gone(self, project, settings, tmp_path):
        settings.DATA_DIR = tmp_path
        kept = make_repository(project)
        for pk in (kept.pk, kept.pk + 1):
            mirror_folder(pk).mkdir(parents=True)
        assert retention.remove_stray_copies() == 1
        assert mirror_ids() == [kept.pk]


@pytest.mark.django_db(transaction=True)
def test_many_start_at_once_and_one_runs():
    project = make_project()
    make_repository(project)
    said = []
    gate = threading.Barrier(6)

    def begin():
        try:
            gate.wait(10)
            start(actor=OPERATOR, project=project)
            said.append("started")
        except Refusal as refusal:
            said.append(refusal.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=begin) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(said) == ["collection_running"] * 5 + ["started"]
    assert BulkCollectionRun.objects.count() == BulkCollectionResult.objects.count() == 1


def abandon(run):
    """Its worker dies, and its job is given up."""
    run.refresh_from_db()
    session = begin(run.job)
    transitions.end(session.run, State.FAILED, error="killed", again=transitions.Again.NEVER)
