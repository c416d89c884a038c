"""Bulk collections over REST: who sees and starts what, one at a time."""

import uuid

import pytest
from django.contrib.auth.models import Permission

from collection.choices import ResultStatus, RunStatus
from collection.models import BulkCollectionResult, BulkCollectionRun
from collection.services.ending import succeed
from glossary_site.jobs.models import JobRun
from projects.choices import Role
from tests.collection.api.conftest import refused
from tests.collection.factories import DAY_ONE, make_branch, make_collection, make_repository
from tests.factories import make_member, make_project, make_user

pytestmark = pytest.mark.django_db
URL = "/api/bulk-collections"
SEED_FIELDS = {
    "run_id",
    "started_at_utc",
    "completed_at_utc",
    "run_status",
    "total_targets",
    "success_count",
    "failed_count",
    "pending_count",
}


@pytest.fixture
def harbour(project):
    return make_repository(project, "harbour")


@pytest.fixture
def elsewhere():
    """A project that nobody here is a member of."""
    return make_project("Elsewhere")


@pytest.fixture
def as_collector(program):
    """Somebody in no project who may collect everything."""
    user = make_user("cora")
    user.user_permissions.add(Permission.objects.get(codename="collect_all"))
    return program(user)


def fail(run, repository, message="The repository is gone."):
    """One of its targets was given up."""
    BulkCollectionResult.objects.filter(run=run, repository=repository).update(
        status=ResultStatus.FAILED,
        error_message=message,
        new_commits_count=None,
        processed_at=DAY_ONE,
    )
    done = run.results.exclude(status=ResultStatus.PENDING)
    good = done.filter(status=ResultStatus.SUCCESS).count()
    BulkCollectionRun.objects.filter(pk=run.pk).update(
        completed_count=good, success_count=good, failed_count=done.count() - good
    )


class TestStarting:
    def test_a_project(self, as_editor, project, harbour, elsewhere):
        make_branch(harbour), make_branch(harbour, "release/1")
        make_repository(project, "paused", enabled=False)
        make_repository(elsewhere)
        make_repository(None)
        response = as_editor.post(URL, {"project": project.pk})
        assert response.status_code == 201, response.content
        run = BulkCollectionRun.objects.get()
        assert response["Location"] == f"{URL}/{run.pk}"
        told = response.json()
        assert told["run_id"] == str(run.pk)
        assert (told["project"], told["status"]) == (project.pk, "running")
        assert (told["triggered_by"], told["actor"]) == ("api", "edda")
        assert (told["total_targets"], told["pending_count"]) == (2, 2)
        assert told["completed_count"] == told["success_count"] == told["failed_count"] == 0
        assert told["completed_at"] is None
        assert JobRun.objects.get(pk=run.job_id).scope == project.stream
        targets = run.results.values_list("repository__name", "branch_name").order_by("pk")
        assert list(targets) == [("harbour", "main"), ("harbour", "release/1")]
        assert as_editor.get(response["Location"]).json() == told

    def test_chosen_repositories_and_branches_since_a_date(self, as_editor, project, harbour):
        quay = make_repository(project, "quay")
        make_branch(quay), make_branch(quay, "next")
        make_branch(harbour)
        response = as_editor.post(
            URL,
            {
                "project": project.pk,
                "repositories": [quay.pk],
                "branches": ["next"],
                "since": "2026-01-01T00:00:00Z",
            },
        )
        assert response.status_code == 201, response.content
        assert response.json()["since"] == "2026-01-01T00:00:00Z"
        result = BulkCollectionResult.objects.get()
        assert (result.repository, result.branch_name) == (quay, "next")

    def test_one_at_a_time(self, as_editor, project, harbour):
        first = as_editor.post(URL, {"project": project.pk}).json()
        told = refused(as_editor.post(URL, {"project": project.pk}), 409, "collection_running")
        assert told["run_id"] == first["run_id"]
        assert BulkCollectionRun.objects.count() == 1

    def test_what_others_collect_is_not_named(self, as_editor, project, harbour, elsewhere):
        make_collection(elsewhere, [(make_repository(elsewhere), "main")])
        told = refused(as_editor.post(URL, {"project": project.pk}), 409, "collection_running")
        assert "run_id" not in told

    def test_nothing_to_collect(self, as_editor, project):
        refused(as_editor.post(URL, {"project": project.pk}), 409, "nothing_to_collect")
        assert not BulkCollectionRun.objects.exists()

    @pytest.mark.parametrize("body", [{}, {"project": None}, {"repositories": [1]}])
    def test_everything_is_for_operators(self, as_owner, as_collector, superuser, program, body):
        refused(as_owner.post(URL, body), 403, "permission_denied")
        for client in (as_collector, program(superuser)):
            assert client.post(URL, body).status_code in (400, 409)

    def test_an_operator_collects_all_projects(self, as_collector, harbour, elsewhere):
        make_repository(elsewhere)
        make_repository(None)
        told = as_collector.post(URL, {}).json()
        assert (told["project"], told["total_targets"]) == (None, 3)

    def test_an_operator_collects_one_project(self, as_collector, project, harbour, elsewhere):
        make_repository(elsewhere)
        told = as_collector.post(URL, {"project": project.pk}).json()
        assert (told["project"], told["total_targets"]) == (project.pk, 1)
        refused(as_collector.post(URL, {"project": 10**9}), 404, "not_found")

    def test_a_project_of_others_is_not_there(self, as_owner, as_viewer, project, elsewhere):
        refused(as_owner.post(URL, {"project": elsewhere.pk}), 404, "not_found")
        refused(as_owner.post(URL, {"project": 10**9}), 404, "not_found")
        refused(as_viewer.post(URL, {"project": project.pk}), 403, "permission_denied")

    def test_repositories_of_others_are_not_there(self, as_owner, project, harbour, elsewhere):
        theirs, shared = make_repository(elsewhere), make_repository(None)
        for repository in (theirs, shared):
            body = {"project": project.pk, "repositories": [harbour.pk, repository.pk]}
            told = refused(as_owner.post(URL, body), 400, "invalid")
            assert str(repository.pk) in told["fields"]["repositories"][0]
        assert not BulkCollectionRun.objects.exists()

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({"project": "x"}, "project"),
            ({"project": 2**63}, "project"),
            ({"project": 0}, "project"),
            ({"project": True}, "project"),
            ({"project": [1]}, "project"),
            ({"repositories": 1}, "repositories"),
            ({"repositories": "1"}, "repositories"),
            ({"repositories": []}, "repositories"),
            ({"repositories": [2**63]}, "repositories"),
            ({"repositories": list(range(1, 1002))}, "repositories"),
            ({"branches": "main"}, "branches"),
            ({"branches": [""]}, "branches"),
            ({"branches": ["a\0b"]}, "branches"),
            ({"branches": ["x" * 256]}, "branches"),
            ({"since": "soon"}, "since"),
            ({"since": "0001-01-01T00:00:00+14:00"}, "since"),
        ],
    )
    def test_what_is_wrong_is_said(self, as_editor, body, field):
        told = refused(as_editor.post(URL, body), 400, "invalid")
        assert list(told["fields"]) == [field]

    def test_a_body_that_is_no_object(self, as_editor):
        refused(as_editor.post(URL, [1]), 400, "invalid")

    def test_nothing_begins_in_the_future(self, as_editor, project, harbour):
        body = {"project": project.pk, "since": "2999-01-01T00:00:00Z"}
        refused(as_editor.post(URL, body), 400, "since_in_future")


class TestSeeing:
    @pytest.fixture
    def everything(self, project, harbour, elsewhere):
        """A run over all projects; one of ours before it, and one of others."""
        mine = make_collection(project, [(harbour, "main")], status=RunStatus.COMPLETED)
        theirs = make_repository(elsewhere, "mole")
        foreign = make_collection(elsewhere, [(theirs, "main")], status=RunStatus.COMPLETED)
        shared = make_repository(None, "atlas")
        targets = [(harbour, "main"), (theirs, "main"), (shared, "main")]
        over_all = make_collection(None, targets, started_at=DAY_ONE.replace(day=6))
        return {"mine": mine, "foreign": foreign, "over_all": over_all}

    def ids(self, response) -> list[str]:
        return [row["run_id"] for row in response.json()["results"]]

    def test_members_see_theirs_and_what_is_over_all(self, as_viewer, everything):
        seen = [str(everything[name].pk) for name in ("over_all", "mine")]
        assert self.ids(as_viewer.get(URL)) == seen
        assert self.ids(as_viewer.get(f"{URL}?ordering=started")) == seen[::-1]
        assert self.ids(as_viewer.get(f"{URL}?status=running")) == seen[:1]
        one = f"{URL}/{everything['foreign'].pk}"
        for address in (one, f"{one}/results", f"{one}/summary"):
            refused(as_viewer.get(address), 404, "not_found")

    def test_those_in_no_project_see_nothing(self, program, outsider, everything):
        assert self.ids(program(outsider).get(URL)) == []
        refused(program(outsider).get(f"{URL}/{everything['over_all'].pk}"), 404, "not_found")

    def test_operators_see_all(self, as_collector, everything, project):
        assert len(self.ids(as_collector.get(URL))) == 3
        mine = self.ids(as_collector.get(f"{URL}?project={project.pk}"))
        assert mine == [str(everything["mine"].pk)]

    def test_of_all_projects_members_see_their_results(self, as_viewer, as_collector, everything):
        run = everything["over_all"]
        told = as_viewer.get(f"{URL}/{run.pk}/results").json()
        assert [row["repository_name"] for row in told["results"]] == ["harbour", "atlas"]
        assert "mole" not in as_viewer.get(f"{URL}/{run.pk}/results").content.decode()
        assert as_collector.get(f"{URL}/{run.pk}/results").json()["count"] == 3

    def test_of_all_projects_members_are_told_their_counts(
        self, as_viewer, as_collector, everything, harbour
    ):
        """How many branches others have, and how much they work on them, is nobody's business."""
        run = everything["over_all"]
        theirs = run.results.get(repository__name="mole")
        succeed(theirs, new_commits=70)
        fail(run, harbour)
        BulkCollectionRun.objects.filter(pk=run.pk).update(new_commits=70)
        counts = ("total_targets", "success_count", "failed_count", "pending_count", "new_commits")
        one = f"{URL}/{run.pk}"
        for client, expected in ((as_viewer, (2, 0, 1, 1, 0)), (as_collector, (3, 1, 1, 1, 70))):
            listed = client.get(URL).json()["results"][0]
            for told in (listed, client.get(one).json(), client.get(f"{one}/summary").json()):
                assert tuple(told[name] for name in counts) == expected
        # Nothing of it was written.
        run.refresh_from_db()
        assert run.total_targets == 3

    def test_the_summary_has_the_names_that_programs_know(self, as_viewer, everything):
        run = everything["over_all"]
        told = as_viewer.get(f"{URL}/{run.pk}/summary").json()
        assert set(told) >= SEED_FIELDS
        assert told["run_id"] == str(run.pk)
        assert told["started_at_utc"] == "2026-01-06T12:00:00Z"
        assert (told["completed_at_utc"], told["run_status"]) == (None, "running")
        assert (told["total_targets"], told["pending_count"]) == (2, 2)
        assert (told["success_count"], told["failed_count"], told["new_commits"]) == (0, 0, 0)

    def test_results_by_status(self, as_viewer, everything, harbour):
        run = everything["over_all"]
        fail(run, harbour)
        told = as_viewer.get(f"{URL}/{run.pk}/results?status=failed").json()
        (row,) = told["results"]
        assert row["error_message"] == "The repository is gone."
        assert (row["run_id"], row["branch_name"]) == (str(run.pk), "main")
        assert row["new_commits_count"] is None
        pending = as_viewer.get(f"{URL}/{run.pk}/results?status=pending").json()["results"]
        assert [row["error_message"] for row in pending] == [None]
        by_repository = as_viewer.get(f"{URL}/{run.pk}/results?repository={harbour.pk}").json()
        assert by_repository["results"] == told["results"]

    @pytest.mark.parametrize("query", ["status=x", "repository=x", "ordering=error_message"])
    def test_what_results_cannot_be_narrowed_by(self, as_viewer, everything, query):
        address = f"{URL}/{everything['mine'].pk}/results?{query}"
        refused(as_viewer.get(address), 400, "invalid")

    def test_what_is_no_run(self, as_viewer, everything):
        refused(as_viewer.get(f"{URL}/{uuid.uuid4()}"), 404, "not_found")
        refused(as_viewer.get(f"{URL}/7"), 404, "not_found")

    def test_however_many_it_takes_as_many_queries(
        self, as_viewer, project, django_assert_num_queries
    ):
        def more(number: int):
            targets = [(make_repository(project), "main") for _number in range(number)]
            return make_collection(project, targets, status=RunStatus.COMPLETED)

        run = more(1)
        as_viewer.get("/api/me")  # the first time, the use of the token is noted
        with django_assert_num_queries(5):
            as_viewer.get(URL)
        with django_assert_num_queries(6):
            as_viewer.get(f"{URL}/{run.pk}/results")
        for _number in range(5):
            run = more(5)
        with django_assert_num_queries(5):
            assert as_viewer.get(URL).json()["count"] == 6
        with django_assert_num_queries(6):
            assert as_viewer.get(f"{URL}/{run.pk}/results").json()["count"] == 5


class TestSteering:
    def test_cancelled_once(self, as_editor, project, harbour):
        address = f"{URL}/{as_editor.post(URL, {'project': project.pk}).json()['run_id']}"
        response = as_editor.delete(address)
        assert response.status_code == 200
        told = response.json()
        assert (told["status"], told["pending_count"]) == ("cancelled", 1)
        assert told["completed_at"]
        again = refused(as_editor.delete(address), 409, "collection_not_running")
        assert again["run_status"] == "cancelled"

    def test_the_rest_is_resumed(self, as_editor, project, harbour):
        run = make_collection(project, [(harbour, "main")], status=RunStatus.CANCELLED)
        response = as_editor.post(f"{URL}/{run.pk}/resume")
        assert response.status_code == 201, response.content
        told = response.json()
        assert response["Location"] == f"{URL}/{told['run_id']}"
        assert (told["continues"], told["total_targets"]) == (str(run.pk), 1)
        refused(as_editor.post(f"{URL}/{run.pk}/resume"), 409, "collection_running")

    def test_only_the_failed_are_tried_again(self, as_editor, project, harbour):
        targets = [(harbour, "main"), (make_repository(project, "quay"), "main")]
        run = make_collection(project, targets, status=RunStatus.COMPLETED)
        refused(as_editor.post(f"{URL}/{run.pk}/retry"), 409, "nothing_to_collect")
        fail(run, harbour)
        response = as_editor.post(f"{URL}/{run.pk}/retry")
        assert response.status_code == 201, response.content
        told = response.json()
        assert response["Location"] == f"{URL}/{told['run_id']}"
        assert (told["continues"], told["total_targets"]) == (str(run.pk), 1)
        again = BulkCollectionRun.objects.get(pk=told["run_id"])
        assert again.results.get().repository == harbour

    @pytest.mark.parametrize(
        ("method", "rest"), [("delete", ""), ("post", "/retry"), ("post", "/resume")]
    )
    def test_who_may(self, program, as_viewer, as_collector, project, harbour, method, rest):
        """Editors of its project; over all projects, operators alone."""
        one = make_collection(project, [(harbour, "main")], status=RunStatus.COMPLETED)
        over_all = make_collection(None, [(harbour, "main")], status=RunStatus.COMPLETED)
        editor = program(make_member(project, Role.EDITOR))

        def codes(client) -> list[str]:
            addresses = [f"{URL}/{run.pk}{rest}" for run in (one, over_all)]
            return [getattr(client, method)(address).json()["code"] for address in addresses]

        ended = "collection_not_running" if method == "delete" else "nothing_to_collect"
        denied = "permission_denied"
        assert codes(as_viewer) == [denied, denied]
        assert codes(editor) == [ended, denied]
        assert codes(as_collector) == [ended, ended]
        assert codes(program(make_user("nobody"))) == ["not_found", "not_found"]
