"""The REST interface to background work."""

import pytest
from rest_framework.test import APIClient

from glossary_site.jobs.choices import State
from glossary_site.jobs.models import AuditEntry, JobLog, JobRun, TriggerEvent, Worker
from glossary_site.jobs.services.definitions import create_definition
from glossary_site.people.services import create_token
from tests.jobs.scene import (
    NODE,
    ago,
    changed,
    ended,
    failed,
    lead,
    make_node,
    make_operator,
    make_person,
    make_watcher,
    running,
    waiting,
)

pytestmark = pytest.mark.django_db


def program(user) -> APIClient:
    client = APIClient()
    client.default_format = "json"
    _token, secret = create_token(user=user, name="tests")
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


@pytest.fixture
def watcher(db) -> APIClient:
    return program(make_watcher())


@pytest.fixture
def operator(db) -> APIClient:
    return program(make_operator())


class TestPermissions:
    def test_watching_and_operating_are_two_permissions(self, owner, watcher, operator):
        run = waiting()
        cancel = f"/api/jobs/{run.pk}/cancel"
        for path in ("/api/operations", "/api/jobs", "/api/workers", "/api/job-definitions"):
            refused = program(owner).get(path)
            assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
            assert watcher.get(path).status_code == 200
        assert watcher.post(cancel).status_code == 403
        assert operator.post(cancel).status_code == 200

    def test_a_missing_job_is_told_only_to_those_who_may_know(self, owner, watcher):
        assert watcher.get("/api/jobs/999999").status_code == 404
        assert program(owner).get("/api/jobs/999999").status_code == 403


class TestOverview:
    def test_has_what_the_page_has(self, watcher):
        node = make_node()
        lead()
        run = running("work.slog", worker=node["long"])
        waiting("work.slog", since=90)
        lost = failed()
        definition = create_definition(
            actor="tests", name="nightly", kind="work.note", cron="17 3 * * *"
        )
        seen = watcher.get("/api/operations").json()
        (reason,) = seen["reasons"]
        assert (reason["code"], reason["level"]) == ("starved", "warn")
        assert seen["leader"]["leads"] is True
        assert seen["leader"]["epoch"] == 3
        (only,) = seen["nodes"]
        assert (only["node"], only["draining"]) == (NODE, False)
        assert {line["role"]: line["jobs"] for line in only["workers"]} == {
            "short": [],
            "long": [run.pk],
            "keeper": [],
        }
        assert seen["lanes"][1] | {"oldest": None} == {
            "lane": "long",
            "waiting": 1,
            "oldest": None,
            "later": 0,
            "next_due": None,
            "workers": 1,
            "busy": 1,
        }
        assert [line["kind"] for line in seen["queue"]] == ["work.slog"]
        assert [(line["job"]["id"], line["stuck"]) for line in seen["in_hand"]] == [(run.pk, False)]
        assert seen["failures"] == 1
        assert [job["id"] for job in seen["newest_failures"]] == [lost.pk]
        assert [slot["definition"] for slot in seen["next_slots"]] == [definition.pk]


class TestJobs:
    def ids(self, client, query: str = "") -> list[int]:
        return [row["id"] for row in client.get(f"/api/jobs?{query}").json()["results"]]

    def test_list_and_filters(self, watcher):
        note = waiting("work.note", scope="project:7")
        slog = running("work.slog")
        lost = failed()
        assert self.ids(watcher) == [lost.pk, slog.pk, note.pk]
        assert self.ids(watcher, "ordering=id") == [note.pk, slog.pk, lost.pk]
        assert self.ids(watcher, "active=true") == [slog.pk, note.pk]
        assert self.ids(watcher, "active=false") == [lost.pk]
        assert self.ids(watcher, "state=RUNNING&state=FAILED") == [lost.pk, slog.pk]
        assert self.ids(watcher, "scope=project:7") == [note.pk]
        assert self.ids(watcher, "kind=work.slog&lane=long") == [slog.pk]
        assert self.ids(watcher, f"q=%23{note.pk}") == [note.pk]
        wrong = watcher.get("/api/jobs?state=SLEEPING")
        assert (wrong.status_code, wrong.json()["code"]) == (400, "invalid")

    def test_one_with_its_facts_and_its_reason(self, watcher):
        run = waiting(idempotency_key="once")
        seen = watcher.get(f"/api/jobs/{run.pk}").json()
        assert (seen["state"], seen["idempotency_key"]) == ("PENDING", "once")
        assert seen["reason"]["code"] == "no_worker"
        assert seen["next_attempt"] is None
        assert watcher.get(f"/api/jobs/{ended().pk}").json()["reason"] is None

    def test_cancel(self, operator):
        run = running()
        seen = operator.post(f"/api/jobs/{run.pk}/cancel", {"reason": "Not needed."}).json()
        assert (seen["state"], seen["error"]) == ("CANCELED", "Not needed.")
        again = operator.post(f"/api/jobs/{run.pk}/cancel")
        assert (again.status_code, again.json()["code"]) == (409, "run_not_active")
        assert AuditEntry.objects.get(action="cancel").actor == "oprah"

    def test_retry_answers_with_the_attempt(self, operator):
        run = failed()
        attempt = operator.post(f"/api/jobs/{run.pk}/retry").json()
        assert (attempt["retry_of"], attempt["attempt"]) == (run.pk, 2)
        assert operator.get(f"/api/jobs/{run.pk}").json()["next_attempt"] == attempt["id"]
        done = operator.post(f"/api/jobs/{ended().pk}/retry")
        assert (done.status_code, done.json()["code"]) == (409, "run_not_failed")

    def test_logs_in_pages(self, watcher):
        run = running()
        for number in range(5):
            JobLog.objects.create(run=run, message=f"line {number}", level="warning")
        first = watcher.get(f"/api/jobs/{run.pk}/logs?limit=3").json()
        assert [line["message"] for line in first["lines"]] == ["line 0", "line 1", "line 2"]
        assert first["lines"][0]["level"] == "warning"
        rest = watcher.get(f"/api/jobs/{run.pk}/logs?after={first['last']}").json()
        assert [line["message"] for line in rest["lines"]] == ["line 3", "line 4"]
        end = watcher.get(f"/api/jobs/{run.pk}/logs?after={rest['last']}").json()
        assert end == {"lines": [], "last": rest["last"]}


class TestWorkers:
    def test_list(self, watcher):
        make_node()
        make_node("other/worker-b2")
        Worker.objects.filter(node=NODE, role="long").update(stopped_at=ago(seconds=1))
        rows = watcher.get(f"/api/workers?node={NODE}").json()["results"]
        assert [row["role"] for row in rows] == ["keeper", "short"]
        assert watcher.get("/api/workers").json()["count"] == 5

    def test_drain_and_undrain(self, operator):
        make_node()
        drained = operator.post(f"/api/workers/{NODE}/drain")
        assert drained.json() == {"node": NODE, "draining": True, "processes": 3}
        assert Worker.objects.filter(draining=True).count() == 3
        # As a program writes it that encodes what it puts into an address.
        operator.post(f"/api/workers/{NODE.replace('/', '%2F')}/undrain")
        assert not Worker.objects.filter(draining=True).exists()
        missing = operator.post("/api/workers/nowhere%00/drain")
        assert (missing.status_code, missing.json()["code"]) == (404, "no_such_node")


class TestDefinitions:
    @pytest.fixture
    def address(self, db) -> str:
        definition = create_definition(
            actor="tests", name="nightly", kind="work.note", cron="17 3 * * *"
        )
        return f"/api/job-definitions/{definition.pk}"

    def test_the_switch(self, operator, address):
        assert operator.get(address).json()["next_run"] is not None
        off = operator.patch(address, {"enabled": False}).json()
        assert (off["enabled"], off["next_run"]) == (False, None)
        assert operator.get("/api/job-definitions?enabled=true").json()["count"] == 0
        assert operator.patch(address, {}).json()["enabled"] is False
        assert operator.patch(address, {"enabled": True}).json()["next_run"] is not None

    def test_run_now(self, operator, address):
        started = operator.post(f"{address}/run")
        assert (started.status_code, started.json()["state"]) == (201, "PENDING")
        again = operator.post(f"{address}/run")
        assert (again.status_code, again.json()["code"]) == (409, "definition_active")
        assert again.json()["run_id"] == started.json()["id"]


class TestEvents:
    EVENT = {"type": "push", "payload": {"branch": "main"}, "dedupe_key": "push:41"}

    @pytest.fixture
    def sender(self, db) -> APIClient:
        return program(make_person("ci", "add_triggerevent"))

    def test_starts_work_once(self, sender):
        create_definition(actor="tests", name="on push", kind="work.note", event_type="push")
        first = sender.post("/api/events", self.EVENT)
        run = JobRun.objects.get()
        assert (first.status_code, first.json()["runs"]) == (201, [run.pk])
        second = sender.post("/api/events", self.EVENT)
        assert (second.status_code, second.json()) == (200, first.json())
        assert (JobRun.objects.count(), TriggerEvent.objects.count()) == (1, 1)
        assert TriggerEvent.objects.get().created_by == "ci"

    def test_another_event_with_the_same_key_is_refused(self, sender):
        sender.post("/api/events", self.EVENT)
        other = sender.post("/api/events", {**self.EVENT, "payload": {"branch": "other"}})
        assert (other.status_code, other.json()["code"]) == (409, "dedupe_conflict")

    def test_needs_its_own_permission_and_nothing_else_comes_with_it(self, sender, operator):
        refused = operator.post("/api/events", self.EVENT)
        assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
        assert sender.get("/api/jobs").status_code == 403

    @pytest.mark.parametrize(
        "wrong",
        [
            {"type": ""},
            {"type": "x" * 101},
            {"dedupe_key": " "},
            {"payload": ["a list"]},
            {"payload": {"nul": "\0"}},
            {"type": 7},
        ],
    )
    def test_what_is_wrong_is_refused(self, sender, wrong):
        response = sender.post("/api/events", {**self.EVENT, **wrong})
        assert response.status_code == 400
        assert not TriggerEvent.objects.exists()


def test_cancelling_what_has_ended_changes_nothing(operator):
    run = changed(ended(state=State.TIMED_OUT), error="too long")
    answer = operator.post(f"/api/jobs/{run.pk}/cancel")
    assert answer.json()["state"] == "TIMED_OUT"
    assert changed(run).error == "too long"
