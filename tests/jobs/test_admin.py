"""The administration of background work: filters that answer questions, and actions."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse
from django.utils import timezone
from django_q.models import Schedule

from glossary_site.jobs.choices import Policy, State
from glossary_site.jobs.models import (
    AuditEntry,
    JobDefinition,
    JobLog,
    JobRun,
    LeaderLease,
    TriggerEvent,
    Worker,
)
from glossary_site.jobs.services import definitions
from glossary_site.jobs.services.enqueue import enqueue
from glossary_site.jobs.services.logs import move_old_logs
from tests import factories
from tests.jobs.running import begin, let_lease_lapse, perform, state_of

pytestmark = pytest.mark.django_db

RUNS = "admin:jobs_jobrun_changelist"
DEFINITIONS = "admin:jobs_jobdefinition_changelist"
WORKERS = "admin:jobs_worker_changelist"


@pytest.fixture
def client(superuser, sign_in):
    return sign_in(superuser)


@pytest.fixture
def watcher(db, sign_in):
    """May look at everything here, and do nothing."""
    user = factories.make_user("willa", is_staff=True)
    user.user_permissions.set(
        Permission.objects.filter(content_type__app_label="jobs", codename__startswith="view_")
    )
    return sign_in(user)


def act(client, view: str, action: str, *rows) -> list[str]:
    """What the page says after the action."""
    data = {"action": action, "_selected_action": [row.pk for row in rows]}
    response = client.post(reverse(view), data, follow=True)
    return [str(message) for message in response.context["messages"]]


def listed(client, view: str, **query) -> list:
    return list(client.get(reverse(view), query).context["cl"].result_list)


def define(**fields) -> JobDefinition:
    return definitions.create_definition(
        actor="olive", **{"name": "nightly", "kind": "work.note", "cron": "0 3 * * *", **fields}
    )


def form_of(client, definition: JobDefinition | None = None) -> tuple[str, dict]:
    """The address of the form, and what a browser would send back."""
    view = "admin:jobs_jobdefinition_" + ("change" if definition else "add")
    url = reverse(view, args=[definition.pk] if definition else [])
    form = client.get(url).context["adminform"].form
    values = {name: form[name].value() for name in form.fields}
    return url, {name: value for name, value in values.items() if value not in (None, False)}


class TestRuns:
    def test_filters_tell_stuck_from_starved_from_failed(self, client):
        fine, starved, stuck, failed = (enqueue("work.note") for _ in range(4))
        minutes_ago = timezone.now() - timedelta(minutes=2)
        JobRun.objects.filter(pk=starved.pk).update(due_at=minutes_ago)
        begin(stuck)
        let_lease_lapse(stuck)
        begin(failed).fail(ValueError("no luck"))
        assert listed(client, RUNS, condition="stuck") == [stuck]
        assert listed(client, RUNS, condition="starved") == [starved]
        assert listed(client, RUNS, condition="failed") == [failed]
        assert fine in listed(client, RUNS, condition="nonsense")

    @pytest.mark.parametrize(
        "text", ["{pk}", "the key", "project:7", "no luck", "test:short:1", "{trace_id}"]
    )
    def test_search_finds_by_number_key_scope_error_worker_and_trace(self, client, text):
        enqueue("work.note")
        run = enqueue("work.note", idempotency_key="the key", scope="project:7", retries=0)
        begin(run).fail(ValueError("no luck"))
        JobRun.objects.filter(pk=run.pk).update(trace_id="c0ffee")
        run.refresh_from_db()
        query = text.format(pk=run.pk, trace_id=run.trace_id)
        assert listed(client, RUNS, q=query) == [run]

    def test_the_page_shows_the_log_wherever_it_is(self, client):
        run = enqueue("work.note")
        begin(run).fail(ValueError("no luck"))
        JobLog.objects.create(run=run, message="<b>bold</b>")
        url = reverse("admin:jobs_jobrun_change", args=[run.pk])
        before = client.get(url).content.decode()
        assert "ValueError: no luck" in before
        assert "&lt;b&gt;bold&lt;/b&gt;" in before
        assert reverse("admin:jobs_jobrun_change", args=[run.next_attempt.pk]) in before
        long_ago = timezone.now() - timedelta(days=20)
        JobRun.objects.filter(pk=run.pk).update(created_at=long_ago, finished_at=long_ago)
        assert move_old_logs() == 1
        assert "&lt;b&gt;bold&lt;/b&gt;" in client.get(url).content.decode()

    def test_cancel_says_what_could_not_be_cancelled(self, client):
        waiting, over = enqueue("work.note"), perform(enqueue("work.note"))
        said = act(client, RUNS, "cancel", waiting, over)
        assert said == [f"Job {over.pk} has ended already: Succeeded.", "Done for 1 row."]
        assert state_of(waiting) == State.CANCELED
        entry = AuditEntry.objects.get()
        assert (entry.actor, entry.action, entry.target_id) == ("root", "cancel", str(waiting.pk))

    def test_retry_makes_another_attempt(self, client):
        run = enqueue("work.note", retries=0)
        begin(run).fail(ValueError("no luck"))
        assert act(client, RUNS, "retry_now", run) == ["Done for 1 row."]
        assert JobRun.objects.get(retry_of=run).state == State.PENDING
        other = perform(enqueue("work.note"))
        assert act(client, RUNS, "retry_now", other) == [
            f"Job {other.pk} cannot be tried again: Succeeded."
        ]

    def test_rows_cannot_be_changed_by_hand(self, client):
        run = enqueue("work.note")
        url = reverse("admin:jobs_jobrun_change", args=[run.pk])
        assert client.post(url, {"state": "SUCCEEDED"}).status_code == 403
        assert client.get(reverse("admin:jobs_jobrun_add")).status_code == 403
        assert state_of(run) == State.PENDING


class TestDefinitions:
    def test_one_is_made_and_changed_through_the_services(self, client):
        url, form = form_of(client)
        data = {**form, "name": "nightly", "kind": "work.note", "cron": "0  3 * * *"}
        assert client.post(url, {**data, "payload": '{"line": "a"}'}).status_code == 302
        definition = JobDefinition.objects.get()
        assert (definition.cron, definition.payload) == ("0 3 * * *", {"line": "a"})
        assert definition.schedule == Schedule.objects.get()

        url, form = form_of(client, definition)
        assert client.post(url, {**form, "policy": "allow", "retries": "0"}).status_code == 302
        definition.refresh_from_db()
        assert (definition.policy, definition.retries) == (Policy.ALLOW, 0)
        assert (definition.version, definition.enabled) == (2, True)
        actions = AuditEntry.objects.order_by("pk").values_list("actor", "action")
        assert list(actions) == [("root", "create"), ("root", "change")]

    @pytest.mark.parametrize(
        ("field", "value", "words"),
        [
            ("cron", "61 * * * *", "not a cron expression"),
            ("payload", '{"nobody": 1}', "cannot take this payload"),
            ("payload", "[1]", "A payload is a JSON object"),
            ("payload", "{", "Enter a valid JSON"),
            ("kind", "work.fail", "Select a valid choice"),
            ("timeout_seconds", "0", "at least one second"),
            ("name", "other", "already exists"),
        ],
    )
    def test_the_form_says_what_is_wrong(self, client, field, value, words):
        define(name="other")
        definition = define()
        url, form = form_of(client, definition)
        response = client.post(url, {**form, field: value})
        assert response.status_code == 200
        assert words in str(response.context["adminform"].form.errors)
        definition.refresh_from_db()
        assert definition.version == 1

    def test_of_two_who_type_at_once_the_second_is_told(self, client):
        definition = define()
        url, form = form_of(client, definition)
        definitions.disable(definition, actor="edda")
        response = client.post(url, {**form, "cron": "0 4 * * *"}, follow=True)
        assert "was changed in the meantime" in response.content.decode()
        definition.refresh_from_db()
        assert (definition.cron, definition.enabled) == ("0 3 * * *", False)

    def test_one_whose_kind_is_gone_keeps_it_until_somebody_chooses_another(self, client):
        definition = define()
        JobDefinition.objects.update(kind="old.kind")
        url, form = form_of(client, definition)
        assert form["kind"] == "old.kind"
        response = client.post(url, form)
        assert "There is no work of the kind" in str(response.context["adminform"].form.errors)
        assert act(client, DEFINITIONS, "disable", definition) == ["Done for 1 row."]

    def test_switches_and_running_by_hand(self, client):
        definition = define()
        assert act(client, DEFINITIONS, "disable", definition) == ["Done for 1 row."]
        assert not Schedule.objects.exists()
        assert act(client, DEFINITIONS, "enable", definition) == ["Done for 1 row."]
        assert Schedule.objects.exists()
        assert act(client, DEFINITIONS, "run_now", definition) == ["Done for 1 row."]
        run = JobRun.objects.get()
        assert act(client, DEFINITIONS, "run_now", definition) == [
            f"“nightly” is at work already: job {run.pk}."
        ]

    def test_removing_one_by_one_and_not_those_that_the_site_needs(self, client):
        mine, needed = define(), define(name="logs", kind="site.move_old_logs")
        assert "delete_selected" not in str(client.get(reverse(DEFINITIONS)).content)
        for definition in (mine, needed):
            url = reverse("admin:jobs_jobdefinition_delete", args=[definition.pk])
            assert client.post(url, {"post": "yes"}).status_code == 302
        assert JobDefinition.objects.get() == needed
        assert "Switch it off instead" in client.get(reverse(DEFINITIONS)).content.decode()
        assert AuditEntry.objects.filter(action="delete").count() == 1


class TestWorkers:
    def test_a_node_is_drained_and_put_back(self, client):
        rows = [
            Worker.objects.create(name=f"w{pid}", node="n", role="short", host="h", pid=pid)
            for pid in (1, 2)
        ]
        assert act(client, WORKERS, "drain", *rows) == ["Done for 1 row."]
        assert Worker.objects.filter(draining=True).count() == 2
        assert act(client, WORKERS, "put_back", rows[0]) == ["Done for 1 row."]
        assert not Worker.objects.filter(draining=True).exists()
        Worker.objects.update(stopped_at=timezone.now())
        assert act(client, WORKERS, "drain", rows[0]) == ["No worker is running on the node “n”."]
        assert listed(client, WORKERS, present="no") == listed(client, WORKERS)
        assert listed(client, WORKERS, present="yes") == []


def test_every_list_and_row_opens_and_is_searched(client):
    run = enqueue("work.note")
    JobLog.objects.create(run=run, message="x")
    Worker.objects.create(name="w", node="n", role="short", host="h", pid=1)
    LeaderLease.objects.create()
    TriggerEvent.objects.create(type="t", dedupe_key="k")
    AuditEntry.objects.create(actor="a", action="b", target_type="c", target_id="d")
    define()
    for model in (JobRun, JobLog, Worker, LeaderLease, TriggerEvent, AuditEntry, JobDefinition):
        name = model._meta.model_name
        listing = reverse(f"admin:jobs_{name}_changelist")
        for query in ("", "?q=7", "?q=words", "?q=%00"):
            assert client.get(listing + query).status_code == 200, (name, query)
        row = reverse(f"admin:jobs_{name}_change", args=[model.objects.first().pk])
        assert client.get(row).status_code == 200, name


def test_who_may_only_look_sees_and_changes_nothing(watcher):
    definition = define()
    run = enqueue("work.note")
    assert watcher.get(reverse(RUNS)).status_code == 200
    url = reverse("admin:jobs_jobdefinition_change", args=[definition.pk])
    assert watcher.get(url).status_code == 200
    assert watcher.post(url, {"name": "mine"}).status_code == 403
    assert watcher.get(reverse("admin:jobs_jobdefinition_add")).status_code == 403
    for view, action, row in (
        (RUNS, "cancel", run),
        (DEFINITIONS, "disable", definition),
        (DEFINITIONS, "run_now", definition),
    ):
        act(watcher, view, action, row)
    definition.refresh_from_db()
    assert (state_of(run), definition.enabled) == (State.PENDING, True)
    assert JobRun.objects.count() == 1


def test_the_permissions_are_given_to_people_in_the_administration(client, owner):
    page = client.get(reverse("admin:people_user_change", args=[owner.pk]))
    choices = page.context["adminform"].form.fields["user_permissions"].queryset
    for permission in ("view_jobrun", "change_jobrun", "add_triggerevent"):
        assert choices.filter(content_type__app_label="jobs", codename=permission).exists()
