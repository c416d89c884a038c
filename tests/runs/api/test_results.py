"""REST for what runs made: tables, exports and logs."""

import csv
import json
from io import StringIO

import pytest

from runs.choices import Scope, Status
from runs.models import Run, RunIssue, RunLog
from runs.services import logs
from runs.services.ending import begin, complete_if_not_cancelled
from runs.services.logs import Line
from tests.runs.api.asking import PLACE, made, refused
from tests.runs.made import add_issue, add_term, make_run
from tests.runs.within import run_to_end
from tests.runs.working import start_run

pytestmark = pytest.mark.django_db


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
        assert listed(excluded="") == listed()
        assert "excluded" in refused(client.get(url, {"excluded": "no"}), 400, "invalid")["fields"]

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
