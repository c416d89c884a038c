"""The administration of repositories and collections: filters that answer questions, a form that
never shows a secret, and actions."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse
from django.utils import timezone

from collection.choices import Kind, ResultStatus, RunStatus, State
from collection.models import Branch, BulkCollectionResult, BulkCollectionRun, Commit, Repository
from collection.origins.data import OriginProblem
from collection.services.starting import start
from glossary_site.jobs.models import AuditEntry
from glossary_site.secrets import decrypt, encrypt
from projects.access import OPERATOR
from tests import factories
from tests.collection.factories import (
    make_branch,
    make_collection,
    make_commits,
    make_repository,
)
from tests.collection.made import MemoryOrigin
from tests.collection.working import answering

pytestmark = pytest.mark.django_db

REPOSITORIES = "admin:collection_repository_changelist"
RUNS = "admin:collection_bulkcollectionrun_changelist"
ADDRESS = "https://93.184.215.14/team/app.git"
TOKEN = "glpat-very-secret"


@pytest.fixture
def client(superuser, sign_in):
    return sign_in(superuser)


@pytest.fixture
def collector(db, sign_in):
    """May collect for the whole site, and nothing else."""
    user = factories.make_user("cora", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="collect_all"))
    return sign_in(user)


@pytest.fixture
def watcher(db, sign_in):
    """May look at everything here, and do nothing."""
    user = factories.make_user("willa", is_staff=True)
    permissions = Permission.objects.filter(content_type__app_label="collection")
    user.user_permissions.set(permissions.filter(codename__startswith="view_"))
    return sign_in(user)


def act(client, url: str, action: str, *rows) -> list[str]:
    """What the page says after the action."""
    data = {"action": action, "_selected_action": [row.pk for row in rows]}
    response = client.post(reverse(url), data, follow=True)
    return [str(message) for message in response.context["messages"]]


def listed(client, url: str, **query) -> set:
    return {row.pk for row in client.get(reverse(url), query).context["cl"].result_list}


def form(**fields) -> dict[str, str]:
    values = {
        "project": "",
        "address": ADDRESS,
        "kind": "",
        "name": "",
        "username": "",
        "new_secret": "",
        "branch_patterns": "",
        "since_0": "",
        "since_1": "",
        "document_patterns": "",
        "document_folder": "",
        "document_branch": "",
    }
    return values | fields


class TestTheForm:
    ADD = "admin:collection_repository_add"

    def change(self, repository) -> str:
        return reverse("admin:collection_repository_change", args=[repository.pk])

    @pytest.mark.parametrize("who", ["client", "collector"])
    def test_adding_one_for_all_projects(self, request, who):
        client = request.getfixturevalue(who)
        data = form(new_secret=f"{TOKEN}\n", branch_patterns="main\nrelease/*\n")
        assert client.post(reverse(self.ADD), data).status_code == 302
        repository = Repository.objects.get()
        assert (repository.project, repository.name, repository.kind) == (None, "app", Kind.GIT)
        assert repository.branch_patterns == ["main", "release/*"]
        assert decrypt(repository.secret) == TOKEN
        assert AuditEntry.objects.get(action="add").after["secret"] == "stored"

    def test_adding_one_to_a_project(self, client, project):
        data = form(project=project.pk, document_patterns="docs/*.md", document_folder="manual")
        assert client.post(reverse(self.ADD), data).status_code == 302
        repository = Repository.objects.get()
        assert (repository.project, repository.document_patterns) == (project, ["docs/*.md"])

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("address", "ext::sh -c id"),
            ("branch_patterns", "a..b"),
            ("document_patterns", "*.md"),
            ("new_secret", "two\nlines"),
            ("username", "a:b"),
        ],
        ids=["address", "branches", "documents", "secret", "user name"],
    )
    def test_what_is_wrong_is_said_at_its_field(self, client, field, value):
        response = client.post(reverse(self.ADD), form(**{field: value}))
        assert response.status_code == 200
        assert response.context["adminform"].form.errors.keys() == {field}
        assert not Repository.objects.exists()

    def test_what_is_there_already(self, client):
        make_repository(None, "first", address=ADDRESS)
        response = client.post(reverse(self.ADD), form(address=f"{ADDRESS}/"), follow=True)
        assert "here already, as “first”" in response.text
        assert Repository.objects.count() == 1

    def test_the_secret_is_never_shown(self, client, project):
        repository = make_repository(project, address=ADDRESS, secret=encrypt(TOKEN))
        page = client.get(self.change(repository)).text
        assert TOKEN not in page
        assert repository.secret not in page
        assert "stored" in page
        typed = client.post(self.change(repository), form(new_secret="typed\nin two lines")).text
        assert TOKEN not in typed
        assert "in two lines" not in typed

    def test_changing_one_keeps_what_is_not_changed(self, client, project):
        repository = make_repository(
            project, "app", address=ADDRESS, secret=encrypt(TOKEN), branch_patterns=["main"]
        )
        data = form(name="Renamed", kind=Kind.GIT, branch_patterns="main", since_0="2026-01-31")
        data["since_1"] = "00:00:00"
        assert client.post(self.change(repository), data).status_code == 302
        repository.refresh_from_db()
        assert (repository.name, repository.project) == ("Renamed", project)
        assert decrypt(repository.secret) == TOKEN
        assert AuditEntry.objects.get(action="change").after.keys() == {"name", "since"}
        data["clear_secret"] = "on"
        client.post(self.change(repository), data)
        repository.refresh_from_db()
        assert repository.secret == ""

    def test_another_address_drops_the_secret(self, client, project):
        repository = make_repository(project, "app", address=ADDRESS, secret=encrypt(TOKEN))
        elsewhere = ADDRESS.replace("app", "other")
        client.post(self.change(repository), form(name="app", kind=Kind.GIT, address=elsewhere))
        repository.refresh_from_db()
        assert (repository.address, repository.secret) == (elsewhere, "")

    def test_removing_one_tells_in_numbers_what_goes(
        self, client, project, django_assert_max_num_queries
    ):
        repository = make_repository(project, "app")
        make_commits(make_branch(repository), 30)
        url = reverse("admin:collection_repository_delete", args=[repository.pk])
        with django_assert_max_num_queries(20):
            page = client.get(url).text
        assert "commits: 30" in page
        assert page.count("Change number") == 0
        assert client.post(url, {"post": "yes"}).status_code == 302
        assert not Repository.objects.exists()
        assert not Commit.objects.exists()
        assert AuditEntry.objects.filter(action="remove").exists()

    def test_only_for_those_who_may(self, watcher, project):
        repository = make_repository(project)
        assert watcher.get(self.change(repository)).status_code == 200
        assert watcher.post(self.change(repository), form()).status_code == 403
        assert watcher.get(reverse(self.ADD)).status_code == 403
        url = reverse("admin:collection_repository_delete", args=[repository.pk])
        assert watcher.post(url, {"post": "yes"}).status_code == 403
        act(watcher, REPOSITORIES, "pause", repository)
        repository.refresh_from_db()
        assert repository.enabled


class TestRepositories:
    def test_filters(self, client, project):
        now = timezone.now()
        ready = make_repository(project, checked_at=now)
        denied = make_repository(project, state=State.DENIED, checked_at=now)
        moved = make_repository(project, state=State.MOVED, state_message="x", checked_at=now)
        trouble = make_repository(project, documents_error="x", checked_at=now)
        paused = make_repository(project, enabled=False)
        shared = make_repository(None, state=State.NEW)
        make_branch(ready, rewritten_at=now)
        make_branch(moved, rewritten_at=now - timedelta(days=30))
        wanted = {
            "failing": {denied.pk},
            "attention": {moved.pk},
            "documents": {trouble.pk},
            "rewritten": {ready.pk},
            "forgotten": {shared.pk},
            "paused": {paused.pk},
            "shared": {shared.pk},
        }
        found = {name: listed(client, REPOSITORIES, condition=name) for name in wanted}
        assert found == wanted

    def test_testing_the_connection(self, client, project):
        good, bad = make_repository(project, "good"), make_repository(project, "bad")
        origins = {good.pk: MemoryOrigin(), bad.pk: MemoryOrigin()}
        origins[good.pk].commit({"a.md": "A"})
        origins[bad.pk].problems["heads"] = OriginProblem(State.DENIED, "The token is wrong.")
        with answering(origins):
            said = act(client, REPOSITORIES, "test_connection", good, bad)
        assert sorted(said) == [
            "bad: Access denied. The token is wrong.",
            "good: Ready. 1 branch is followed.",
        ]

    def test_collecting_chosen_ones(self, client, project):
        mine, other = make_repository(project), make_repository(project)
        assert act(client, REPOSITORIES, "collect", mine, other) == [
            "A collection of 2 branches was started."
        ]
        run = BulkCollectionRun.objects.get()
        assert (run.project, run.triggered_by, run.total_targets) == (project, "admin", 2)
        assert "running already" in act(client, REPOSITORIES, "collect", mine)[0]

    def test_collecting_over_several_projects(self, client, project):
        rows = [make_repository(project), make_repository(None)]
        act(client, REPOSITORIES, "collect", *rows)
        assert BulkCollectionRun.objects.get().project is None

    def test_pausing_and_going_on(self, collector, project):
        rows = [make_repository(project), make_repository(None)]
        act(collector, REPOSITORIES, "pause", *rows)
        assert not Repository.objects.filter(enabled=True).exists()
        act(collector, REPOSITORIES, "go_on", rows[0])
        assert Repository.objects.get(enabled=True) == rows[0]


class TestRuns:
    def test_filters(self, client, project):
        repository = make_repository(project)
        targets = [(repository, "main")]
        now = timezone.now()
        bad = make_collection(
            project, targets, status=RunStatus.COMPLETED, failed_count=1, success_count=0,
            completed_count=0,
        )  # fmt: skip
        left = make_collection(project, targets, status=RunStatus.CANCELLED)
        everyone = make_collection(None, targets, status=RunStatus.COMPLETED)
        wanted = {"failures": {bad.pk}, "left": {left.pk}, "all": {everyone.pk}, "stuck": set()}
        assert {name: listed(client, RUNS, condition=name) for name in wanted} == wanted
        running = start(actor=OPERATOR, project=project)
        assert listed(client, RUNS, condition="stuck") == set()
        rows = BulkCollectionRun.objects.filter(pk=running.pk)
        rows.update(progress_at=now - timedelta(hours=1))
        assert listed(client, RUNS, condition="stuck") == {running.pk}
        running.results.update(next_retry_at=now + timedelta(minutes=5))
        assert listed(client, RUNS, condition="stuck") == set()
        running.results.update(next_retry_at=None)
        rows.update(progress_at=now, job=None)
        assert listed(client, RUNS, condition="stuck") == {running.pk}

    def test_starting_everything(self, client, collector, watcher, project):
        make_repository(project)
        make_repository(None)
        button = reverse("admin:collection_bulkcollectionrun_start")
        assert button in collector.get(reverse(RUNS)).text
        assert button not in watcher.get(reverse(RUNS)).text
        assert client.get(button).status_code == 405
        watcher.post(button)
        assert not BulkCollectionRun.objects.exists()
        page = collector.post(button, follow=True)
        assert "A collection of 2 branches was started." in page.text
        run = BulkCollectionRun.objects.get()
        assert (run.project, run.actor.username) == (None, "cora")

    def test_cancelling_resuming_and_retrying(self, client, project):
        make_repository(project)
        run = start(actor=OPERATOR, project=project)
        assert act(client, RUNS, "cancel", run) == ["Done for 1 row."]
        run.refresh_from_db()
        assert run.status == RunStatus.CANCELLED
        assert "ended already" in act(client, RUNS, "cancel", run)[0]
        act(client, RUNS, "resume", run)
        again = BulkCollectionRun.objects.get(continues=run)
        assert (again.triggered_by, again.status) == ("admin", RunStatus.RUNNING)
        act(client, RUNS, "cancel", again)
        again.results.update(
            status=ResultStatus.FAILED, error_message="x", processed_at=timezone.now()
        )
        act(client, RUNS, "retry_failed", again)
        assert BulkCollectionRun.objects.get(continues=again).total_targets == 1

    def test_nobody_else_may(self, watcher, project):
        make_repository(project)
        run = start(actor=OPERATOR, project=project)
        act(watcher, RUNS, "cancel", run)
        run.refresh_from_db()
        assert run.is_running

    def test_why_it_failed(self, client, project):
        repository = make_repository(project)
        run = make_collection(
            project,
            [(repository, name) for name in ("a", "b", "c")],
            status=RunStatus.CANCELLED,
            failed_count=3,
        )
        for name, error in (("a", "No answer."), ("b", "No answer."), ("c", "Denied.")):
            run.results.filter(branch_name=name).update(
                status=ResultStatus.FAILED, error_message=error, processed_at=timezone.now()
            )
        url = reverse("admin:collection_bulkcollectionrun_change", args=[run.pk])
        page = client.get(url).text
        assert "<div>2 × No answer.</div><div>1 × Denied.</div>" in page
        link = f"run__run_id__exact={run.pk}&amp;status__exact=failed"
        assert link in page
        rows = listed(
            client,
            "admin:collection_bulkcollectionresult_changelist",
            run__run_id__exact=run.pk,
            status__exact="failed",
        )
        assert rows == set(run.results.values_list("pk", flat=True))

    def test_results(self, client, project):
        repository = make_repository(project)
        run = make_collection(project, [(repository, name) for name in "abcd"])
        now = timezone.now()
        rows = {row.branch_name: row for row in run.results.all()}
        result = BulkCollectionResult.objects
        result.filter(pk=rows["a"].pk).update(in_hand_since=now)
        result.filter(pk=rows["b"].pk).update(next_retry_at=now)
        result.filter(pk=rows["c"].pk).update(
            status=ResultStatus.FAILED, error_message="x", processed_at=now
        )
        result.filter(pk=rows["d"].pk).update(note="The history was rewritten.")
        wanted = {"in_hand": "a", "waiting": "b", "lately": "c", "noted": "d"}
        url = "admin:collection_bulkcollectionresult_changelist"
        found = {name: listed(client, url, condition=name) for name in wanted}
        assert found == {name: {rows[branch].pk} for name, branch in wanted.items()}


def test_branches_and_their_commits(client, project):
    done = make_branch(make_repository(project), complete=True, rewritten_at=timezone.now())
    waiting = make_branch(done.repository, "next")
    commits = make_commits(done, 2)
    make_commits(waiting, 1)
    url = "admin:collection_branch_changelist"
    assert listed(client, url, condition="waiting") == {waiting.pk}
    assert listed(client, url, condition="rewritten") == {done.pk}
    assert Branch.objects.count() == 2
    url = "admin:collection_commit_changelist"
    assert listed(client, url, branch__id__exact=done.pk) == {each.pk for each in commits}
    assert listed(client, url, q=commits[0].sha[:12]) == {commits[0].pk}
