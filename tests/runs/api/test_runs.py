"""Runs over REST: what programs start, look at, stop, try again and publish."""

from datetime import timedelta

import pytest
from django.utils import timezone

from glossary_site.jobs.choices import State
from glossary_site.jobs.models import JobRun
from projects.access import OPERATOR
from projects.choices import TermStatus
from projects.models import GlossaryEntry
from projects.services.terms import list_term
from projects.terms.keys import key_of
from runs.choices import Scope, Status, Step
from runs.models import Run, RunFailure, RunLog, RunStep
from runs.services.ending import cancel
from tests.factories import make_document, make_project
from tests.runs.api.asking import ended, made, program, refused
from tests.runs.made import add_entries
from tests.runs.within import run_to_end, work_on
from tests.runs.working import start_run

pytestmark = pytest.mark.django_db


class TestStarting:
    def test_a_run_begins_for_a_worker(self, client, runs, harbour, editor):
        response = client.post(runs, {"scope": "full"})
        assert response.status_code == 201
        told = response.json()
        run = Run.objects.get()
        assert told["id"] == run.pk
        assert (told["scope"], told["status"]) == ("full", "pending")
        assert (told["triggered_by"], told["actor"]) == ("api", "edda")
        assert (told["started_at"], told["error_message"]) == (None, None)
        assert [step["step"] for step in told["steps"]] == list(Step.values)
        assert run.job.state == State.PENDING
        assert work_on(run).status == Status.COMPLETED
        told = client.get(f"{runs}/{run.pk}").json()
        assert told["status"] == "completed"
        assert told["started_at"] < told["finished_at"]
        assert all(step["finished_at"] for step in told["steps"])

    def test_the_limit_goes_with_it(self, client, runs, harbour):
        assert client.post(runs, {"scope": "full", "limit": 2}).status_code == 201
        assert work_on(Run.objects.get()).refined.count() <= 2

    def test_one_at_a_time(self, client, runs, harbour):
        first = client.post(runs, {"scope": "full"}).json()
        body = refused(client.post(runs, {"scope": "extract"}), 409, "run_already_active")
        assert body["run_id"] == first["id"]
        assert Run.objects.count() == 1

    @pytest.mark.parametrize(
        ("scope", "code"),
        [
            ("full", "no_documents"),
            ("from_terms", "no_documents"),
            ("review", "no_documents"),
        ],
    )
    def test_what_is_missing_is_said(self, client, runs, scope, code):
        refused(client.post(runs, {"scope": scope}), 409, code)

    @pytest.mark.parametrize(
        ("scope", "code"),
        [
            ("from_terms", "no_terms"),
            ("generate", "no_terms"),
            ("provisional_to_refined", "no_provisional"),
            ("review", "no_provisional"),
            ("refine", "no_review"),
        ],
    )
    def test_what_is_missing_beside_documents(self, client, runs, harbour, scope, code):
        refused(client.post(runs, {"scope": scope}), 409, code)
        assert not Run.objects.exists()

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({"scope": "everything"}, "scope"),
            ({}, "scope"),
            ({"scope": "full", "limit": 0}, "limit"),
            ({"scope": "full", "limit": "many"}, "limit"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, client, runs, harbour, body, field):
        assert field in refused(client.post(runs, body), 400, "invalid")["fields"]

    def test_a_folder_of_the_server_is_nobodys_to_name(self, client, runs, tmp_path):
        (tmp_path / "secret.md").write_text("# Secret\n\nA secret is a fact.\n")
        answer = client.post(runs, {"scope": "full", "doc_root": str(tmp_path)})
        assert list(refused(answer, 400, "invalid")["fields"]) == ["doc_root"]

    def test_viewers_may_not(self, runs, harbour, viewer):
        refused(program(viewer).post(runs, {"scope": "full"}), 403, "permission_denied")


class TestLooking:
    def test_the_newest_first_in_pages(self, client, runs, harbour, django_assert_max_num_queries):
        made = [ended(harbour).pk for _each in range(3)]
        body = client.get(runs).json()
        assert [run["id"] for run in body["results"]] == made[::-1]
        body = client.get(runs, {"page_size": 2, "page": 2}).json()
        assert [run["id"] for run in body["results"]] == made[:1]
        assert body["count"] == 3
        with django_assert_max_num_queries(6):
            client.get(runs)

    def test_narrowed_by_status_and_scope(self, client, runs, harbour):
        done = ended(harbour)
        stopped = start_run(harbour, Scope.EXTRACT)
        cancel(stopped, actor=OPERATOR)

        def listed(**query):
            return [run["id"] for run in client.get(runs, query).json()["results"]]

        assert listed(status="completed") == [done.pk]
        assert listed(scope="extract") == [stopped.pk]
        assert listed(status="running") == []
        refused(client.get(runs, {"status": "unknown"}), 400, "invalid")

    def test_the_current_one_is_the_active_else_the_newest(self, client, runs, harbour):
        refused(client.get(f"{runs}/current"), 404, "not_found")
        done = ended(harbour)
        assert client.get(f"{runs}/current").json()["id"] == done.pk
        active = start_run(harbour)
        assert client.get(f"{runs}/current").json()["id"] == active.pk

    def test_a_run_of_another_project_is_none_of_this(self, client, runs, harbour):
        other = make_project("Elsewhere")
        make_document(other)
        foreign = ended(other)
        for tail in ("", "/logs", "/terms", "/refined", "/failures"):
            refused(client.get(f"{runs}/{foreign.pk}{tail}"), 404, "not_found")
        assert Run.objects.get(pk=foreign.pk).status == Status.COMPLETED

    def test_what_it_cost(self, client, runs, harbour):
        run = ended(harbour, cost_nano=1_234_567, requests=7, served=3, provider="openai")
        told = client.get(f"{runs}/{run.pk}").json()
        assert (told["cost"], told["requests"], told["served"]) == ("0.001234567", 7, 3)


class TestStopping:
    def test_in_the_language_of_whoever_asks(self, client, runs, harbour):
        """The log is for everybody, and in the project's."""
        run = start_run(harbour)
        for status, code in ((200, ""), (409, "run_not_active")):
            answer = client.delete(f"{runs}/{run.pk}", headers={"Accept-Language": "ja"})
            assert (answer.status_code, answer.json().get("code", "")) == (status, code)
        assert answer.json()["detail"] == "この実行はすでに終了しています（中止）。"
        assert RunLog.objects.get(run=run).message.startswith("Stopped by")

    def test_delete_cancels(self, client, runs, harbour):
        run = start_run(harbour)
        response = client.delete(f"{runs}/{run.pk}")
        assert response.status_code == 200
        assert response.json()["status"] == "cancelled"
        assert JobRun.objects.get(pk=run.job_id).state == State.CANCELED

    def test_what_has_ended_stays_as_it_ended(self, client, runs, harbour):
        run = ended(harbour)
        body = refused(client.delete(f"{runs}/{run.pk}"), 409, "run_not_active")
        assert body["run_status"] == "completed"
        assert Run.objects.get().status == Status.COMPLETED


class TestAgain:
    def test_failures_are_tried_alone(self, client, runs, harbour):
        run = run_to_end(harbour)
        lost = run.provisional.first()
        RunFailure.objects.create(
            run=run, step=Step.GENERATE, key=lost.key, term=lost.term, error="No answer."
        )
        run.provisional.filter(key=lost.key).delete()
        run.refined.filter(key=lost.key).delete()
        Run.objects.filter(pk=run.pk).update(failure_count=1)
        (failure,) = client.get(f"{runs}/{run.pk}/failures").json()["results"]
        assert (failure["step"], failure["term_name"]) == ("generate", lost.term)
        response = client.post(f"{runs}/{run.pk}/retry-failures")
        assert response.status_code == 201
        again = Run.objects.get(pk=response.json()["id"])
        assert (response.json()["base"], again.options["only"]) == (run.pk, [lost.key])
        assert work_on(again).status == Status.COMPLETED
        assert again.refined.filter(key=lost.key).exists()

    def test_nothing_failed_nothing_to_try(self, client, runs, harbour):
        run = ended(harbour)
        refused(client.post(f"{runs}/{run.pk}/retry-failures"), 409, "nothing_to_retry")

    def test_the_rest_of_one_that_was_stopped(self, client, runs, harbour):
        run = start_run(harbour)
        cancel(run, actor=OPERATOR)
        response = client.post(f"{runs}/{run.pk}/resume")
        assert response.status_code == 201
        again = Run.objects.get(pk=response.json()["id"])
        assert work_on(again).status == Status.COMPLETED
        refused(client.post(f"{runs}/{again.pk}/resume"), 409, "nothing_to_resume")


class TestPublishing:
    def test_a_runs_entries_become_the_glossary(self, client, runs, harbour):
        run = made(harbour)
        response = client.post(f"{runs}/{run.pk}/publish")
        assert response.status_code == 200, response.content
        told = response.json()
        assert told["created"] == run.refined.count() == GlossaryEntry.objects.count() > 0
        assert (told["updated"], told["unchanged"], told["locked"]) == (0, 0, 0)
        assert client.get(f"{runs}/{run.pk}").json()["published_at"] is not None
        assert client.post(f"{runs}/{run.pk}/publish").json()["unchanged"] == told["created"]

    def test_what_people_have_excluded_is_left_out(self, client, runs, harbour):
        run = made(harbour)
        list_term(project=harbour, text="quay", status=TermStatus.EXCLUDED, actor=OPERATOR)
        told = client.post(f"{runs}/{run.pk}/publish").json()
        assert (told["created"], told["excluded"]) == (1, 1)
        assert GlossaryEntry.objects.get().key == "berth"

    def test_what_was_taken_back_is_not_published(self, client, runs, harbour):
        run = made(harbour)

        def published() -> set[bool]:
            one, listed = client.get(f"{runs}/{run.pk}").json(), client.get(runs).json()
            rows = [one, client.get(f"{runs}/current").json(), *listed["results"]]
            return {row["published_at"] is not None for row in rows}

        batch = client.post(f"{runs}/{run.pk}/publish").json()["batch"]
        assert published() == {True}
        undo = runs.replace("/runs", f"/glossary/publications/{batch}/undo")
        assert client.post(undo).status_code == 200
        assert published() == {False}

    def test_only_some_of_them_in_any_spelling(self, client, runs, harbour):
        run = made(harbour)
        told = client.post(f"{runs}/{run.pk}/publish", {"terms": ["Berths"]}).json()
        assert told["created"] == 1
        assert GlossaryEntry.objects.get().key == key_of("berth")

    @pytest.mark.parametrize("terms", [[], ["nonexistent", "neither"]], ids=["none", "unknown"])
    def test_none_of_the_terms_is_in_it(self, client, runs, harbour, terms):
        answer = client.post(f"{runs}/{made(harbour).pk}/publish", {"terms": terms})
        assert refused(answer, 400, "unknown_terms")["detail"].startswith("None of these terms")

    def test_only_those_with_a_definition(self, client, runs, harbour):
        run = ended(harbour)
        add_entries(run, {"Quay": "A wall that ships lie at."})
        add_entries(run, {"Ebb": "Used in: “Ebb and flow.”"}, confidence=0.2)
        told = client.post(f"{runs}/{run.pk}/publish", {"defined_only": True}).json()
        assert told["created"] == 1
        # Whoever names a term means it.
        body = {"terms": ["ebb"], "defined_only": True}
        assert client.post(f"{runs}/{run.pk}/publish", body).json()["created"] == 1

    def test_unknown_terms_are_named_and_nothing_is_published(self, client, runs, harbour):
        terms = ["Berths", *(f"Wrong {number}" for number in range(7))]
        answer = client.post(f"{runs}/{made(harbour).pk}/publish", {"terms": terms})
        sentence = refused(answer, 400, "unknown_terms")["detail"]
        assert "Wrong 0, Wrong 1" in sentence
        assert "Berths" not in sentence
        assert sentence.endswith("Wrong 4, ….")
        assert not GlossaryEntry.objects.exists()

    def test_not_while_it_goes_on(self, client, runs, harbour):
        run = start_run(harbour)
        refused(client.post(f"{runs}/{run.pk}/publish"), 409, "run_active")

    def test_nothing_to_publish(self, client, runs, harbour):
        refused(client.post(f"{runs}/{ended(harbour).pk}/publish"), 409, "nothing_to_publish")


class TestBefore:
    def test_what_a_run_would_take(self, client, runs, harbour):
        told = client.get(f"{runs}/estimate", {"scope": "full"}).json()
        assert told["terms"] > 0
        assert (told["requests"], told["tokens"], told["cost"]) == (0, 0, None)
        assert told["learned"] is False
        made(harbour)
        assert client.get(f"{runs}/estimate").json()["learned"] is True

    def test_an_unknown_scope(self, client, runs, harbour):
        refused(client.get(f"{runs}/estimate", {"scope": "all"}), 400, "invalid")

    def test_two_runs_side_by_side(self, client, runs, harbour):
        older = made(harbour, berth="A place.", quay="A wall.", pier="A bridge.")
        newer = made(harbour, berth="A place for a ship.", quay="A wall.", crane="A machine.")
        told = client.get(f"{runs}/compare", {"older": older.pk, "newer": newer.pk}).json()
        assert (told["older"], told["newer"]) == (older.pk, newer.pk)
        assert [side["term_name"] for side in told["added"]] == ["crane"]
        assert [side["term_name"] for side in told["removed"]] == ["pier"]
        (difference,) = told["changed"]
        assert (difference["term_name"], difference["changed"]) == ("berth", ["definition"])
        assert difference["old"]["definition"] == "A place."
        assert difference["new"]["definition"] == "A place for a ship."
        assert told["same_count"] == 1

    @pytest.mark.parametrize("query", [{}, {"older": 1}, {"older": "x", "newer": 2}])
    def test_both_must_be_named(self, client, runs, harbour, query):
        refused(client.get(f"{runs}/compare", query), 400, "invalid")

    def test_both_must_be_of_the_project(self, client, runs, harbour):
        run = ended(harbour)
        query = {"older": run.pk, "newer": run.pk + 1000}
        refused(client.get(f"{runs}/compare", query), 404, "not_found")


def test_steps_of_old_runs_are_not_mixed_up(client, runs, harbour):
    """Each run shows its own."""
    first, second = ended(harbour), ended(harbour)
    RunStep.objects.filter(run=first).update(started_at=timezone.now() - timedelta(days=1))
    steps = client.get(f"{runs}/{second.pk}").json()["steps"]
    assert all(step["started_at"] is None for step in steps)
