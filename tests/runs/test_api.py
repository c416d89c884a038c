"""Runs over REST: what programs start, look at, stop, try again and publish."""

import csv
import json
from datetime import timedelta
from io import StringIO

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from glossary_site.jobs.choices import State
from glossary_site.jobs.models import JobRun
from glossary_site.people.services import create_token
from projects.access import OPERATOR
from projects.models import GlossaryEntry
from projects.terms.keys import key_of
from runs.choices import Scope, Status, Step
from runs.models import Run, RunFailure, RunIssue, RunLog, RunStep
from runs.services import logs
from runs.services.ending import begin, cancel, complete_if_not_cancelled
from runs.services.logs import Line
from tests.factories import make_document, make_project
from tests.runs.made import add_entries, add_issue, add_term, make_run
from tests.runs.within import run_to_end, work_on
from tests.runs.working import start_run

pytestmark = pytest.mark.django_db


def program(user) -> APIClient:
    client = APIClient()
    client.default_format = "json"
    _token, secret = create_token(user=user, name="tests")
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


@pytest.fixture
def client(editor) -> APIClient:
    return program(editor)


@pytest.fixture
def base(project) -> str:
    return f"/api/projects/{project.pk}"


@pytest.fixture
def runs(base) -> str:
    return f"{base}/runs"


def ended(project, **fields) -> Run:
    """A run that did nothing, but is over."""
    run = start_run(project)
    assert begin(run)
    assert complete_if_not_cancelled(run)
    Run.objects.filter(pk=run.pk).update(**fields)
    run.refresh_from_db()
    return run


PLACE = {
    "document_id": 1,
    "path": "harbour/berths.md",
    "file_hash": "0" * 64,
    "line_start": 3,
    "line_end": 3,
    "heading_path": ["Berths"],
    "quote": "A berth is a place at the quay where a ship is moored.",
}


def made(project, **definitions: str) -> Run:
    """A run with these entries, the best first, as if it had written them."""
    run = make_run(project, provider="builtin")
    add_entries(run, definitions or {"quay": "A wall.", "berth": "A place."}, evidence=[PLACE])
    return run


def refused(response, status: int, code: str) -> dict:
    assert response.status_code == status, response.content
    body = response.json()
    assert body["code"] == code
    assert body["detail"]
    return body


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
        refused(
            client.post(runs, {"scope": "full", "doc_root": str(tmp_path)}), 409, "no_documents"
        )

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

    def test_only_some_of_them_in_any_spelling(self, client, runs, harbour):
        run = made(harbour)
        told = client.post(f"{runs}/{run.pk}/publish", {"terms": ["Berths"]}).json()
        assert told["created"] == 1
        assert GlossaryEntry.objects.get().key == key_of("berth")

    @pytest.mark.parametrize("terms", [[], ["nonexistent", "neither"]], ids=["none", "unknown"])
    def test_none_of_the_terms_is_in_it(self, client, runs, harbour, terms):
        answer = client.post(f"{runs}/{made(harbour).pk}/publish", {"terms": terms})
        assert refused(answer, 400, "unknown_terms")["detail"].startswith("None of these terms")

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


class TestResults:
    def test_every_table_of_a_run(self, client, runs, harbour):
        run = run_to_end(harbour)
        url = f"{runs}/{run.pk}"
        terms = client.get(f"{url}/terms").json()
        assert terms["count"] == run.terms.count() > 0
        ranked = client.get(f"{url}/terms", {"ordering": "-score"}).json()["results"]
        assert ranked[0]["score"] >= ranked[-1]["score"]
        entry = client.get(f"{url}/refined", {"q": "berth"}).json()["results"][0]
        assert entry["run_id"] == run.pk
        assert "place at the quay" in entry["definition"]
        place = entry["occurrences"][0]
        assert place["document_path"] == "harbour/berths.md"
        assert place["line_number"] == 3
        assert "berth" in place["context"]
        assert 0 <= entry["confidence"] <= 1
        provisional = client.get(f"{url}/provisional").json()
        assert provisional["count"] == run.provisional.count()
        assert client.get(f"{url}/issues").json()["count"] == run.issues.count()
        assert client.get(f"{url}/failures").json()["results"] == []

    def test_what_was_left_out_can_be_asked_for(self, client, runs, harbour):
        run = make_run(harbour)
        add_term(run, "berth")
        add_term(run, "day", excluded_because="common_noun")
        url = f"{runs}/{run.pk}/terms"

        def listed(**query):
            results = client.get(url, query).json()["results"]
            return [(term["term_name"], term["excluded_because"]) for term in results]

        assert listed() == [("berth", None), ("day", "common_noun")]
        assert listed(excluded="true") == [("day", "common_noun")]
        assert listed(excluded="false") == [("berth", None)]
        assert listed(q="ERT") == [("berth", None)]

    def test_an_issue_names_the_other_term(self, client, base, runs, harbour):
        run = made(harbour)
        one, other = run.provisional.order_by("order")[:2]
        issue = RunIssue.objects.create(
            run=run,
            order=0,
            term=one.term,
            key=one.key,
            kind="duplicate",
            description="The same.",
            other_key=other.key,
        )
        (told,) = client.get(f"{base}/issues", {"issue_type": "duplicate"}).json()["results"]
        assert (told["term_name"], told["other_term"]) == (one.term, other.term)
        assert client.get(f"{base}/issues/{issue.pk}").json() == told
        assert client.get(f"{base}/issues", {"issue_type": "unclear"}).json()["results"] == []
        refused(client.get(f"{base}/issues", {"issue_type": "ugly"}), 400, "invalid")

    def test_a_project_shows_its_newest_results(self, client, base, harbour):
        assert client.get(f"{base}/refined").json()["results"] == []
        made(harbour)
        newer = made(harbour)
        # One that is under way has nothing to show yet, one that only found terms never will.
        make_run(harbour, scope=Scope.EXTRACT)
        make_run(harbour, status=Status.RUNNING, done=2)
        for name in ("provisional", "refined"):
            rows = client.get(f"{base}/{name}").json()["results"]
            assert {row["run_id"] for row in rows} == {newer.pk}
            one = rows[0]
            assert client.get(f"{base}/{name}/{one['id']}").json() == one

    def test_a_review_that_found_nothing_has_no_issues(self, client, base, harbour):
        add_issue(made(harbour), "berth")
        assert client.get(f"{base}/issues").json()["count"] == 1
        made(harbour)
        assert client.get(f"{base}/issues").json()["results"] == []

    @pytest.mark.parametrize("name", ["provisional", "issues", "refined"])
    def test_there_is_no_such_row(self, client, base, harbour, name):
        refused(client.get(f"{base}/{name}/1000000"), 404, "not_found")

    def test_queries_do_not_grow_with_the_rows(
        self, client, runs, harbour, django_assert_max_num_queries
    ):
        run = made(harbour)
        for name in ("terms", "provisional", "issues", "refined", "failures"):
            with django_assert_max_num_queries(7):
                assert client.get(f"{runs}/{run.pk}/{name}").status_code == 200


class TestExport:
    def test_json_has_the_documented_shape_the_best_first(self, client, base, harbour):
        made(harbour)
        response = client.get(f"{base}/refined/export", {"format": "json"})
        assert response["Content-Type"] == "application/json"
        assert f'filename="glossary-{harbour.pk}.json"' in response["Content-Disposition"]
        entries = json.loads(response.content)["entries"]
        assert set(entries[0]) == {
            "term",
            "definition",
            "confidence",
            "category",
            "aliases",
            "related",
            "score",
            "occurrences",
            "evidence",
        }
        assert [entry["term"] for entry in entries] == ["quay", "berth"]
        assert entries[1]["evidence"] == [
            {"document": "harbour/berths.md", "line": 3, "quote": PLACE["quote"]}
        ]

    def test_markdown_at_both_addresses(self, client, base, harbour):
        made(harbour)
        response = client.get(f"{base}/refined/export")
        assert response["Content-Type"] == "text/markdown; charset=utf-8"
        assert "# Harbour" in response.content.decode()
        assert client.get(f"{base}/refined/export-md").content == response.content

    def test_csv(self, client, base, harbour):
        made(harbour)
        text = client.get(f"{base}/refined/export", {"format": "csv"}).content.decode("utf-8-sig")
        rows = list(csv.DictReader(StringIO(text)))
        assert [row["term"] for row in rows] == ["quay", "berth"]

    def test_nothing_yet(self, client, base, harbour):
        refused(client.get(f"{base}/refined/export"), 404, "not_found")
        refused(client.get(f"{base}/refined/export", {"format": "pdf"}), 400, "invalid")


class TestLogPages:
    def test_a_term_is_no_secret_but_an_answer_may_hold_one(self, client, runs, harbour):
        run = start_run(harbour)
        begin(run)
        said = ["password: 75%", "password: api_key=sk-abcdefghijklmnop123456"]
        logs.write(run, [Line(message, term="password") for message in said])
        rows = client.get(f"{runs}/{run.pk}/logs", {"format": "json"}).json()["lines"]
        messages = [row["message"] for row in rows[-2:]]
        assert messages[0] == "password: 75%"
        assert messages[1].startswith("password: ")
        assert "sk-abc" not in messages[1]

    @pytest.fixture
    def url(self, runs, harbour):
        run = start_run(harbour)
        begin(run)
        logs.write(run, [Line(f"line {number}") for number in range(2, 6)])
        return f"{runs}/{run.pk}/logs"

    @pytest.mark.parametrize(
        ("query", "headers"),
        [
            ({"format": "json"}, {}),
            ({}, {"Accept": "application/json"}),
            ({}, {"Accept": "application/json, text/plain, */*"}),
        ],
        ids=["query", "header", "library"],
    )
    def test_lines_after_a_number(self, client, url, query, headers):
        body = client.get(url, {**query, "after": 3, "limit": 1}, headers=headers).json()
        (line,) = body["lines"]
        assert (line["number"], line["message"]) == (4, "line 4")
        assert (body["last"], body["complete"]) == (5, False)
        assert "traceback" not in line

    def test_the_end_is_said_with_the_last_line(self, client, url):
        run = Run.objects.get()
        complete_if_not_cancelled(run)
        body = client.get(url, {"format": "json", "limit": 3}).json()
        assert body["complete"] is False
        body = client.get(url, {"format": "json", "after": 3}).json()
        assert (len(body["lines"]), body["complete"]) == (3, True)

    def test_no_traceback_leaves_the_house(self, client, url):
        RunLog.objects.update(traceback="Traceback /srv/secret")
        assert b"secret" not in client.get(url, {"format": "json"}).content

    def test_whoever_asks_for_nothing_gets_the_stream(self, client, url):
        for headers in ({}, {"Accept": "*/*"}, {"Accept": "text/event-stream"}):
            response = client.get(url, headers=headers)
            assert response["Content-Type"] == "text/event-stream"

    @pytest.mark.parametrize(
        "query", ["?after=x", "?after=-1", "?limit=0&format=json", "?format=x"]
    )
    def test_a_number_that_is_none(self, client, url, query):
        refused(client.get(url + query), 400, "invalid")


def test_steps_of_old_runs_are_not_mixed_up(client, runs, harbour):
    """Each run shows its own."""
    first, second = ended(harbour), ended(harbour)
    RunStep.objects.filter(run=first).update(started_at=timezone.now() - timedelta(days=1))
    steps = client.get(f"{runs}/{second.pk}").json()["steps"]
    assert all(step["started_at"] is None for step in steps)
