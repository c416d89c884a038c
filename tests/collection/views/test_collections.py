"""The history of collections, and the form that starts one."""

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from collection.choices import ResultStatus, RunStatus
from collection.models import BulkCollectionRun
from tests import factories
from tests.collection.factories import make_collection, make_repository
from tests.collection.views.visiting import HTMX, send, visit, words_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def elsewhere(db):
    project = factories.make_project("Elsewhere")
    return make_repository(project, "Secret plans")


class TestHistory:
    def test_tells_of_each_newest_first(self, reading, project, repository):
        make_collection(
            project,
            [(repository, "main")],
            status=RunStatus.COMPLETED,
            new_commits=1234,
            started_at="2026-01-05T12:00Z",
            completed_at="2026-01-05T12:01:30Z",
        )
        make_collection(
            project,
            [(repository, "main"), (repository, "wip")],
            status=RunStatus.CANCELLED,
            failed_count=1,
            started_at="2026-01-06T12:00Z",
            completed_at="2026-01-06T12:00:05Z",
        )
        page = visit(reading, "collection-runs", project.pk)
        newest, oldest = page.context["rows"]
        assert (newest.tally.total, newest.tally.failed, newest.tally.pending) == (2, 1, 1)
        assert (oldest.tally.succeeded, oldest.tally.new_commits) == (1, 1234)
        words = words_of(page.text)
        assert "Cancelled" in words
        assert "1,234" in words
        assert "1 min" in words

    def test_of_one_over_all_projects_each_sees_its_own(
        self, reading, operating, project, repository, elsewhere
    ):
        run = make_collection(
            None,
            [(repository, "main"), (elsewhere, "main"), (elsewhere, "wip")],
            status=RunStatus.CANCELLED,
            failed_count=2,
        )
        run.results.filter(repository=elsewhere).update(
            status=ResultStatus.FAILED, error_message="No.", processed_at=run.completed_at
        )
        [mine] = visit(reading, "collection-runs", project.pk).context["rows"]
        assert (mine.tally.total, mine.tally.failed) == (1, 0)
        [all] = visit(operating, "collection-runs", project.pk).context["rows"]
        assert (all.tally.total, all.tally.failed) == (3, 2)

    def test_those_of_other_projects_are_not_in_it(self, reading, project, elsewhere):
        make_collection(elsewhere.project, [(elsewhere, "main")])
        assert visit(reading, "collection-runs", project.pk).context["rows"] == []

    def test_its_part_alone(self, reading, project, repository):
        make_collection(project, [(repository, "main")])
        page = visit(reading, "collection-runs", project.pk, headers=HTMX)
        assert "<html" not in page.text
        assert 'id="start-collection"' not in page.text
        assert "Running" in words_of(page.text)

    def test_a_long_one_asks_no_more_of_the_database(
        self, editing, project, repository, django_assert_max_num_queries
    ):
        for number in range(20):
            own = number % 2
            make_collection(
                project if own else None, [(repository, "main")], status=RunStatus.COMPLETED
            )
        with django_assert_max_num_queries(15):
            page = visit(editing, "collection-runs", project.pk)
        assert len(page.context["rows"]) == 20

    def test_an_outsider_sees_none(self, sign_in, outsider, project):
        address = reverse("collection-runs", args=[project.pk])
        assert sign_in(outsider).get(address).status_code == 404


class TestStarting:
    def test_everything_that_is_not_paused(self, editing, project, repository):
        make_repository(project, "Asleep", enabled=False)
        page = send(editing, "collection-start", project.pk, which="all")
        run = BulkCollectionRun.objects.get()
        assert page.context["run"] == run
        assert [result.repository for result in run.results.all()] == [repository]

    def test_chosen_ones_since_a_day(self, editing, project, repository):
        ledger = make_repository(project, "Ledger")
        send(
            editing,
            "collection-start",
            project.pk,
            which="chosen",
            repository=[ledger.pk],
            since="2024-01-31",
        )
        run = BulkCollectionRun.objects.get()
        assert [result.repository for result in run.results.all()] == [ledger]
        assert run.since == datetime(2024, 1, 31, tzinfo=UTC)

    @pytest.mark.parametrize(
        ("wish", "sentence"),
        [
            ({"which": "chosen"}, "Choose at least one repository."),
            ({"since": "the other day"}, "“the other day” is no date."),
            ({"since": "2024-02-31"}, "“2024-02-31” is no date."),
            ({"since": "2999-01-01"}, "in the future"),
            ({"repository": "0"}, "are not there any more"),
            ({"repository": "all"}, "are not there any more"),
        ],
        ids=["none", "no-date", "impossible", "future", "gone", "no-number"],
    )
    def test_what_cannot_be_is_told(self, editing, project, repository, wish, sentence):
        page = send(editing, "collection-start", project.pk, **wish)
        assert sentence in page.text
        assert page.context["rows"] == []

    def test_those_of_another_project_cannot_be_chosen(
        self, editing, project, repository, elsewhere
    ):
        send(editing, "collection-start", project.pk, repository=elsewhere.pk)
        assert not BulkCollectionRun.objects.exists()

    def test_while_one_is_running_the_way_to_it_is_shown(self, editing, project, repository):
        run = make_collection(project, [(repository, "main")])
        page = send(editing, "collection-start", project.pk)
        assert "A collection is running already." in page.text
        link = reverse("collection-run", args=[project.pk, run.pk])
        assert f'<a href="{link}">Look at it</a>' in page.text

    def test_but_not_to_one_that_is_none_of_ones_business(
        self, editing, project, repository, elsewhere
    ):
        run = make_collection(elsewhere.project, [(elsewhere, "main")])
        page = send(editing, "collection-start", project.pk)
        assert "A collection of another project is running." in page.text
        assert str(run.pk) not in page.text

    def test_one_of_another_project_of_mine_is_linked_there(
        self, editing, editor, project, repository, elsewhere
    ):
        factories.make_member(elsewhere.project, "viewer", editor)
        run = make_collection(elsewhere.project, [(elsewhere, "main")])
        page = send(editing, "collection-start", project.pk)
        assert reverse("collection-run", args=[elsewhere.project_id, run.pk]) in page.text

    def test_one_comes_back_to_where_the_button_was(self, editing, project, repository):
        make_collection(project, [(repository, "main")])
        back = reverse("repository", args=[project.pk, repository.pk])
        page = send(editing, "collection-start", project.pk, repository=repository.pk, next=back)
        assert page.redirect_chain[-1][0] == back

    @pytest.mark.parametrize("where", ["https://example.com/", "//example.com", "-1", "x\0"])
    def test_and_never_to_another_site(self, editing, project, where):
        page = send(editing, "collection-start", project.pk, next=where)
        assert page.redirect_chain[-1][0] == reverse("collection-runs", args=[project.pk])

    def test_with_nothing_to_collect(self, editing, project):
        assert "There is nothing to collect." in send(editing, "collection-start", project.pk).text

    def test_is_for_editors(self, reading, sign_in, outsider, project, repository):
        address = reverse("collection-start", args=[project.pk])
        assert reading.post(address).status_code == 403
        assert sign_in(outsider).post(address).status_code == 404
        assert 'id="start-collection"' not in visit(reading, "collection-runs", project.pk).text
        assert not BulkCollectionRun.objects.exists()
