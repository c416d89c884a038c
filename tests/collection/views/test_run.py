"""One collection: what people see of it while it goes on and afterwards, and what they can do."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from collection.choices import ResultStatus, RunStatus
from collection.models import BulkCollectionResult, BulkCollectionRun
from collection.services.starting import start
from tests import factories
from tests.collection.factories import make_collection, make_repository
from tests.collection.views.visiting import part, send, visit, words_of

pytestmark = pytest.mark.django_db


def page_of(client, project, run, **options):
    return visit(client, "collection-run", project.pk, run.pk, **options)


def fail(run: BulkCollectionRun, *names: str) -> None:
    """These branches, as the services would."""
    for name in names:
        run.results.filter(branch_name=name).update(
            status=ResultStatus.FAILED,
            error_message=f"The host of {name} is asleep.",
            processed_at=timezone.now(),
        )
    run.failed_count += len(names)
    run.save()


@pytest.fixture
def running(project, repository) -> BulkCollectionRun:
    """Four targets: one done, one failed, one in hand, one that waits for another try."""
    now = timezone.now()
    run = make_collection(
        project,
        [(repository, name) for name in ("done", "failed", "now", "later")],
        started_at=now - timedelta(minutes=3),
        progress_at=now - timedelta(seconds=7),
        completed_count=1,
        success_count=1,
    )
    run.results.filter(branch_name="done").update(
        status=ResultStatus.SUCCESS, new_commits_count=40, commits_so_far=40, processed_at=now
    )
    fail(run, "failed")
    run.results.filter(branch_name="now").update(
        in_hand_since=now - timedelta(seconds=20), commits_so_far=1200, commits_expected=5000
    )
    run.results.filter(branch_name="later").update(
        next_retry_at=now + timedelta(seconds=45), attempts=1, last_error="Too many requests."
    )
    return run


class TestWhileItRuns:
    def test_how_far_it_is(self, reading, project, running):
        page = page_of(reading, project, running)
        words = words_of(page.text)
        assert "2 / 4 targets" in words
        assert "1 succeeded" in words
        assert "1 failed" in words
        assert "2 pending" in words
        assert "1,240 new commits" in words
        assert "last progress" in words
        assert 'aria-valuenow="2"' in page.text
        assert 'aria-valuetext="2 of 4, 1 failed"' in page.text

    def test_the_failed_part_of_the_bar_begins_where_the_good_one_ends(
        self, reading, project, running
    ):
        page = page_of(reading, project, running).text
        assert '<rect class="bar-good" width="25.0%"' in page
        assert '<rect class="bar-bad" x="25.0%" width="25.0%"' in page

    def test_the_bar_is_drawn_in_every_language(self, reading, project, running, settings):
        reading.cookies.load({settings.LANGUAGE_COOKIE_NAME: "ja"})
        page = page_of(reading, project, running).text
        assert '<html lang="ja"' in page
        assert 'width="25.0%"' in page

    def test_what_is_in_hand_what_waits_and_what_failed(self, reading, project, running):
        words = words_of(page_of(reading, project, running).text)
        assert "1,200 of 5,000 commits" in words
        assert "Too many requests." in words
        assert "tried 1 time" in words
        assert "The host of failed is asleep." in words

    def test_many_failures_are_in_the_table(self, reading, project, repository):
        names = [f"topic/{n}" for n in range(8)]
        run = make_collection(project, [(repository, name) for name in names])
        fail(run, *names)
        page = page_of(reading, project, run)
        assert len(page.context["failures"]) == 5
        assert "and 3 more" in words_of(page.text)
        assert len(page.context["listing"].page) == 8

    @pytest.mark.parametrize("name", ["collection-head", "results"])
    def test_its_parts_are_the_same_alone(self, reading, project, running, name):
        whole = page_of(reading, project, running)
        alone = page_of(reading, project, running, headers=part(name))
        assert "<html" not in alone.text
        assert f'id="{name}"' in alone.text
        assert words_of(alone.text).strip() in words_of(whole.text)

    def test_that_nobody_works_on_it_is_told(self, editing, editor, project, repository):
        run = start(actor=editor, project=project)
        run.job.due_at = timezone.now() - timedelta(minutes=1)
        run.job.save()
        assert "No worker is running" in page_of(editing, project, run).text

    def test_a_live_part_asks_little_of_the_database(
        self, reading, project, running, django_assert_max_num_queries
    ):
        extra = [make_repository(project) for _ in range(20)]
        BulkCollectionResult.objects.bulk_create(
            BulkCollectionResult(
                run=running, repository=each, branch_name="main", in_hand_since=timezone.now()
            )
            for each in extra
        )
        with django_assert_max_num_queries(19):
            page_of(reading, project, running, headers=part("collection-head"))
        with django_assert_max_num_queries(14):
            page_of(reading, project, running, headers=part("results"))


class TestResults:
    def test_by_status(self, reading, project, running):
        page = page_of(reading, project, running, status="failed")
        assert [row.branch_name for row in page.context["listing"].page] == ["failed"]
        counts = {tab.key: tab.count for tab in page.context["tabs"]}
        assert counts == {"": 4, "failed": 1, "pending": 2, "success": 1}

    def test_a_status_that_is_none_shows_all(self, reading, project, running):
        page = page_of(reading, project, running, status="asleep")
        assert len(page.context["listing"].page) == 4

    def test_by_words_of_the_error(self, reading, project, running):
        page = page_of(reading, project, running, q="ASLEEP")
        assert [row.branch_name for row in page.context["listing"].page] == ["failed"]

    def test_in_pages(self, reading, project, repository):
        run = make_collection(project, [(repository, f"topic/{n:03}") for n in range(120)])
        page = page_of(reading, project, run, page="3")
        assert len(page.context["listing"].page) == 20

    def test_a_branch_whose_name_is_not_known_yet(self, reading, project, repository):
        run = make_collection(project, [(repository, "HEAD")])
        assert "default branch" in words_of(page_of(reading, project, run).text)


class TestDeeds:
    def test_stopping(self, editing, project, running):
        page = send(editing, "collection-cancel", project.pk, running.pk)
        assert "The collection is stopped." in page.text
        running.refresh_from_db()
        assert running.status == RunStatus.CANCELLED
        again = send(editing, "collection-cancel", project.pk, running.pk)
        assert "has ended already" in again.text

    def test_the_rest_and_the_failed_are_offered_afterwards(self, editing, project, running):
        send(editing, "collection-cancel", project.pk, running.pk)
        words = words_of(page_of(editing, project, running).text)
        assert "Collect the rest (2)" in words
        assert "Retry the failed (1)" in words

    def test_retrying_the_failed(self, editing, project, running):
        send(editing, "collection-cancel", project.pk, running.pk)
        page = send(editing, "collection-retry", project.pk, running.pk)
        following = page.context["run"]
        assert following.continues == running
        assert [result.branch_name for result in following.results.all()] == ["failed"]
        assert reverse("collection-run", args=[project.pk, running.pk]) in page.text
        assert "Went on in the one of" in words_of(page_of(editing, project, running).text)

    def test_collecting_the_rest(self, editing, project, running):
        send(editing, "collection-cancel", project.pk, running.pk)
        page = send(editing, "collection-resume", project.pk, running.pk)
        names = {result.branch_name for result in page.context["run"].results.all()}
        assert names == {"now", "later"}

    def test_with_nothing_left(self, editing, project, repository):
        run = make_collection(project, [(repository, "main")], status=RunStatus.COMPLETED)
        for deed in ("retry", "resume"):
            page = send(editing, f"collection-{deed}", project.pk, run.pk)
            assert "There is nothing left of it to collect" in page.text
        assert BulkCollectionRun.objects.count() == 1

    @pytest.mark.parametrize("deed", ["cancel", "retry", "resume"])
    def test_are_for_editors(self, reading, sign_in, outsider, project, running, deed):
        address = reverse(f"collection-{deed}", args=[project.pk, running.pk])
        assert reading.post(address).status_code == 403
        assert sign_in(outsider).post(address).status_code == 404
        assert address not in page_of(reading, project, running).text

    @pytest.mark.parametrize("deed", ["cancel", "retry", "resume"])
    def test_over_all_projects_they_are_for_operators(
        self, editing, operating, project, repository, deed
    ):
        run = make_collection(None, [(repository, "main")])
        address = reverse(f"collection-{deed}", args=[project.pk, run.pk])
        assert editing.post(address).status_code == 403
        assert 'id="collection-stop"' not in page_of(editing, project, run).text
        assert 'id="collection-stop"' in page_of(operating, project, run).text
        assert operating.post(address).status_code == 302

    def test_a_page_asks_by_post(self, editing, project, running):
        address = reverse("collection-cancel", args=[project.pk, running.pk])
        assert editing.get(address).status_code == 405


class TestOverAllProjects:
    def test_each_sees_its_own_targets(self, reading, operating, project, repository):
        other = factories.make_project("Elsewhere")
        secret = make_repository(other, "Secret plans")
        run = make_collection(None, [(repository, "main"), (secret, "main")])
        fail(run, "main")
        mine = page_of(reading, project, run)
        assert "Secret plans" not in mine.text
        assert "1 / 1 targets" in words_of(mine.text)
        assert "Secret plans" in page_of(operating, project, run).text

    def test_it_is_looked_at_again_though_no_feed_tells_of_it(self, operating, project, shared):
        """While it runs: the repositories in it may be of no project."""
        run = make_collection(None, [(shared, "main")])
        assert page_of(operating, project, run).text.count(", every ") == 2
        ended = make_collection(None, [(shared, "main")], status=RunStatus.COMPLETED)
        assert ", every " not in page_of(operating, project, ended).text

    def test_a_project_without_a_target_in_it_has_no_page(self, reading, project):
        other = make_repository(factories.make_project("Elsewhere"))
        run = make_collection(None, [(other, "main")])
        address = reverse("collection-run", args=[project.pk, run.pk])
        assert reading.get(address).status_code == 404
