"""What people see of runs: a page is asked, and what stands on it is read. That a run does what it
says is tested elsewhere."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from glossary_site.live.models import Event
from projects.access import OPERATOR
from projects.models import GlossaryEntry, Project, Term
from projects.news import news_of
from projects.services.documents import delete_documents
from runs import news
from runs.choices import Level, Scope, Status, Step
from runs.models import ProvisionalEntry, Run
from runs.services import ending
from runs.templatetags.run_state import cost
from runs.views import log as log_views
from tests import factories
from tests.runs.made import (
    add_entries,
    add_failure,
    add_issue,
    add_lines,
    add_term,
    entry_fields,
    make_run,
)

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def reading(sign_in, viewer):
    return sign_in(viewer)


@pytest.fixture
def editing(sign_in, editor):
    return sign_in(editor)


@pytest.fixture
def tide_project(project) -> Project:
    """With something to run on."""
    factories.make_document(project, "tides.md", "# Tides\n\nThe ebb is the tide going out.\n")
    Term.objects.create(project=project, text="Ebb", key="ebb", language="en")
    return project


def words_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", html))


def runs_page(client, project, **query):
    return client.get(reverse("project-runs", args=[project.pk]), query)


def run_page(client, run, *, headers=None, **query):
    response = client.get(run.get_absolute_url(), query, headers=headers)
    assert response.status_code == 200
    return response


def stages(client, project) -> dict:
    page = client.get(reverse("project-pipeline", args=[project.pk]))
    return {line.stage.key: line for line in page.context["stages"]}


class TestPipeline:
    def test_is_on_the_projects_page_and_alone(self, editing, tide_project):
        page = editing.get(tide_project.get_absolute_url()).text
        part = editing.get(reverse("project-pipeline", args=[tide_project.pk])).text
        assert 'id="pipeline"' in page
        assert "runs.css" in page
        assert "<html" not in part
        assert words_of(part).strip() in words_of(page)

    def test_an_empty_project_is_told_what_is_missing(self, editing, project):
        part = editing.get(reverse("project-pipeline", args=[project.pk])).text
        assert re.search(r'id="run-start" disabled aria-describedby="run-missing"', part)
        assert "Add documents to the project first." in part
        assert part.count(" disabled") == 5

    def test_each_step_waits_for_the_one_before(self, editing, tide_project):
        missing = {key: line.missing for key, line in stages(editing, tide_project).items()}
        assert not missing["terms"]
        assert not missing["definitions"]
        assert "Write definitions first" in missing["review"]
        assert "Review the entries first" in missing["refined"]
        add_entries(make_run(tide_project), {"Ebb": "The tide going out."})
        assert not any(line.missing for line in stages(editing, tide_project).values())

    def test_counts_and_freshness_at_each_stage(self, editing, tide_project):
        run = make_run(tide_project)
        add_entries(run, {"Ebb": "The tide going out.", "Quay": "A wall."})
        add_issue(run, "Ebb")
        found = {key: line.stage for key, line in stages(editing, tide_project).items()}
        counts = {key: stage.count for key, stage in found.items()}
        assert counts == {
            "documents": 1,
            "terms": 1,
            "definitions": 2,
            "review": 1,
            "refined": 2,
            "published": 0,
        }
        stale = {key: stage.stale for key, stage in found.items() if stage.stale}
        assert stale == {"published": f"run {run.pk} is not published"}

    def test_what_changed_since_the_last_run_is_counted(self, editing, tide_project):
        gone = factories.make_document(tide_project, "gone.md")
        make_run(tide_project)
        assert not stages(editing, tide_project)["documents"].stage.stale
        factories.make_document(tide_project, "tides.md", "# Tides\n\nOther words.\n")
        factories.make_document(tide_project, "new.md")
        delete_documents(project=tide_project, ids=[gone.pk], actor=OPERATOR)
        found = stages(editing, tide_project)
        assert found["documents"].stage.stale == "3 changed since the last run"
        assert found["terms"].stage.stale == "documents changed since"

    def test_a_later_step_alone_makes_those_after_it_old(self, editing, tide_project):
        make_run(tide_project)
        make_run(tide_project, scope=Scope.EXTRACT)
        stale = {
            key: line.stage.stale
            for key, line in stages(editing, tide_project).items()
            if line.stage.stale
        }
        assert stale == {"definitions": "terms found anew since"}

    def test_the_estimate_is_of_the_chosen_scope(self, editing, tide_project):
        add_entries(make_run(tide_project), {"Ebb": "E.", "Quay": "Q.", "Keel": "K."})
        address = reverse("project-pipeline", args=[tide_project.pk])
        part = editing.get(address, {"scope": "provisional_to_refined"}).text
        assert 'value="provisional_to_refined" selected' in part
        assert "3 terms" in words_of(part)
        # What the page asks for again when something happens.
        assert f'hx-get="{address}?scope=provisional_to_refined"' in part
        assert "1 term " in words_of(editing.get(address, {"scope": "nonsense"}).text)

    def test_viewers_see_and_cannot_start(self, reading, tide_project):
        part = reading.get(reverse("project-pipeline", args=[tide_project.pk])).text
        assert "<form" not in part
        assert "An editor or owner of the project can start a run." in part

    def test_a_run_under_way_shows_where_it_is(self, editing, reading, tide_project):
        now = timezone.now()
        run = make_run(
            tide_project,
            status=Status.RUNNING,
            done=2,
            current_step=Step.GENERATE,
            progress_current=30,
            progress_total=90,
            current_term="潮流 <b>",
            progress_at=now - timedelta(seconds=7),
        )
        part = editing.get(reverse("project-pipeline", args=[tide_project.pk])).text
        text = words_of(part)
        assert "Step 3 of 5: Write definitions" in text
        assert '<progress class="progress" value="30" max="90"' in part
        assert "潮流 &lt;b&gt;" in part
        assert re.search(r'data-ticking="[78]" data-seconds="0 s"', part)
        # Thirty took ninety seconds.
        assert "about 3 min left in this step" in text
        assert reverse("run-cancel", args=[tide_project.pk, run.pk]) in part
        assert "What the run has made so far stays with it" in text
        assert f"{run.get_absolute_url()}?tab=log" in part
        # Nothing else can be started.
        assert "run-start" not in part
        watched = reading.get(reverse("project-pipeline", args=[tide_project.pk])).text
        assert "30 / 90" in watched
        assert "<form" not in watched

    def test_the_number_of_queries_does_not_grow_with_runs_and_entries(self, editing, tide_project):
        address = reverse("project-pipeline", args=[tide_project.pk])

        def queries() -> int:
            with CaptureQueriesContext(connection) as captured:
                editing.get(address)
            return len(captured)

        add_entries(make_run(tide_project), {"Ebb": "E."})
        few = queries()
        for _ in range(5):
            add_entries(make_run(tide_project), {f"Term {n}": "T." for n in range(20)})
        assert queries() <= few


class TestHistory:
    def test_each_run_with_what_it_took(self, reading, tide_project, editor):
        run = make_run(
            tide_project,
            actor=editor,
            requests=1234,
            served=1000,
            cost_nano=2_500_000_000,
            failure_count=3,
        )
        add_term(run, "Ebb")
        add_term(run, "Water", excluded_because="common_noun")
        text = words_of(runs_page(reading, tide_project).text)
        for piece in (
            f"#{run.pk} Everything, from the documents on",
            "Completed with 3 failures",
            "1 min",
            "1,234",
            "2.50",
            "edda",
        ):
            assert piece in text, piece
        (row,) = runs_page(reading, tide_project).context["rows"]
        assert row.terms == 1

    def test_newest_first_in_pages_with_few_queries(self, reading, tide_project):
        def ids(**query):
            return [row.run.pk for row in runs_page(reading, tide_project, **query).context["rows"]]

        made = [make_run(tide_project).pk for _ in range(27)]
        assert ids() + ids(page=2) == made[::-1]
        assert ids(sort="run") == made[:25]
        with CaptureQueriesContext(connection) as captured:
            runs_page(reading, tide_project)
        assert len(captured) < 45

    def test_two_with_entries_can_be_compared(self, reading, tide_project):
        first, _bare, last = (make_run(tide_project) for _ in range(3))
        add_entries(first, {"Ebb": "E."})
        assert "Compare the two chosen runs" not in runs_page(reading, tide_project).text
        add_entries(last, {"Ebb": "F."})
        page = runs_page(reading, tide_project).text
        assert re.search(rf'name="older" value="{first.pk}"[^>]* checked', page)
        assert re.search(rf'name="newer" value="{last.pk}"[^>]* checked', page)
        assert page.count('name="older"') == 2

    def test_none_yet_says_what_a_run_is(self, reading, project):
        assert "No runs yet" in runs_page(reading, project).text


class TestRun:
    def test_a_completed_run_shows_its_result_first(self, reading, tide_project):
        run = make_run(tide_project, provider="builtin", requests=12)
        add_entries(run, {"Ebb": "The tide <going> out."})
        page = run_page(reading, run)
        assert page.context["current_tab"] == "refined"
        assert "The tide &lt;going&gt; out." in page.text
        assert "Built-in engine" in page.text

    def test_every_table_with_its_count(self, reading, tide_project):
        run = make_run(tide_project)
        add_term(run, "Ebb", variants=["ebb", "Ebbs"])
        add_term(run, "Water", excluded_because="common_noun")
        add_entries(run, {"Ebb": "Out."})
        add_issue(run, "Ebb", description="Too short.", suggestion="Say more.")
        add_failure(run, "Keel")
        add_lines(run, "Begun.")
        counts = {tab.key: tab.count for tab in run_page(reading, run).context["tabs"]}
        assert counts == {
            "terms": 2,
            "provisional": 1,
            "issues": 1,
            "refined": 1,
            "failures": 1,
            "documents": 1,
            "log": 1,
        }
        for tab, pieces in {
            "terms": ["Ebbs", "left out: Common noun"],
            "provisional": ["Out.", "Technical term", "90%"],
            "issues": ["Too short.", "Suggestion: Say more.", "Unclear"],
            "failures": ["Keel", "No answer came.", "Write definitions"],
            "documents": ["tides.md", "unchanged"],
            "log": ["Begun."],
        }.items():
            text = words_of(run_page(reading, run, tab=tab).text)
            for piece in pieces:
                assert piece in text, (tab, piece)

    def test_tables_are_searched_and_paged(self, reading, tide_project):
        run = make_run(tide_project)
        ProvisionalEntry.objects.bulk_create(
            ProvisionalEntry(**entry_fields(run, f"Term {n}", f"It is the number {n}."))
            for n in range(60)
        )
        page = run_page(reading, run, tab="provisional")
        assert "1–50 of 60" in page.text
        assert "?tab=provisional&amp;page=2" in page.text
        found = run_page(reading, run, tab="provisional", q="NUMBER 7.")
        assert [row.term for row in found.context["listing"].page] == ["Term 7"]
        assert "Nothing matches “xyz”" in run_page(reading, run, tab="provisional", q="xyz").text

    def test_evidence_leads_to_its_lines(self, reading, tide_project):
        document = tide_project.documents.get()
        run = make_run(tide_project)
        place = {
            "document_id": document.pk,
            "path": document.path,
            "file_hash": document.file_hash,
            "line_start": 3,
            "line_end": 4,
            "heading_path": [],
            "quote": "The ebb is the tide going out.",
        }
        add_entries(run, {"Ebb": "Out."}, evidence=[place], supported=False, needs_review=True)
        page = run_page(reading, run).text
        there = reverse("document", args=[tide_project.pk, document.pk])
        assert f'href="{there}?lines=3-4&amp;hash={document.file_hash[:12]}#L3"' in page
        assert "unsupported" in page
        assert "needs review" in page

    def test_documents_tell_what_became_of_them(self, reading, tide_project):
        gone = factories.make_document(tide_project, "gone.md")
        run = make_run(tide_project)
        gone.delete()
        document = factories.make_document(tide_project, "tides.md", "# Tides\n\nOther.\n")
        page = run_page(reading, run, tab="documents").text
        diff = reverse("document-diff", args=[tide_project.pk, document.pk])
        assert f'href="{diff}?from=1&amp;to=2"' in page
        assert "deleted since" in page

    def test_the_head_and_the_table_are_asked_for_alone(self, reading, tide_project):
        run = make_run(tide_project, status=Status.RUNNING, done=1)
        add_lines(run, "Begun.")
        whole = run_page(reading, run).text
        for target in ("run-head", "results"):
            part = run_page(reading, run, headers={**HTMX, "HX-Target": target})
            assert words_of(part.text).strip() in words_of(whole)
            assert "<html" not in part.text
            assert "HX-Target" in part["Vary"]

    def test_a_failed_run_says_why_in_a_sentence(self, reading, tide_project):
        run = make_run(tide_project, status=Status.FAILED, done=1, error_message="No <answer>.")
        page = run_page(reading, run)
        assert "No &lt;answer&gt;." in page.text
        assert [step.state for step in page.context["progress"].steps] == ["done", *["left"] * 4]

    def test_what_ended_early_can_be_gone_on_with(self, reading, editing, tide_project):
        run = make_run(tide_project, status=Status.CANCELLED, done=2)
        address = reverse("run-resume", args=[tide_project.pk, run.pk])
        assert address in run_page(editing, run).text
        assert address not in run_page(reading, run).text
        complete = make_run(tide_project)
        assert "run-resume" not in run_page(editing, complete).text

    def test_a_run_of_another_project_is_not_there(self, reading, tide_project):
        run = make_run(factories.make_project("Closed"))
        for name in ("run", "run-log"):
            address = reverse(name, args=[tide_project.pk, run.pk])
            assert reading.get(address).status_code == 404
            assert reading.get(reverse(name, args=[run.project_id, run.pk])).status_code == 404


class TestLog:
    def test_by_level_step_and_text(self, reading, tide_project):
        run = make_run(tide_project)
        add_lines(run, "Read 3 documents.", step="load")
        add_lines(run, "潮流: no answer.", step="generate", level=Level.WARNING)
        add_lines(run, "It broke.", step="review", level=Level.ERROR)

        def messages(**query):
            page = run_page(reading, run, tab="log", **query)
            return [line.message for line in page.context["log"].lines]

        assert len(messages()) == 3
        assert messages(level="warning") == ["潮流: no answer.", "It broke."]
        assert messages(level="error") == ["It broke."]
        assert messages(step="load") == ["Read 3 documents."]
        assert messages(q="潮流") == ["潮流: no answer."]
        assert messages(level="nonsense", step="nonsense") == messages()

    def test_a_late_viewer_sees_the_last_lines_and_a_way_to_the_first(
        self, reading, tide_project, monkeypatch
    ):
        monkeypatch.setattr(log_views, "PAGE", 3)
        run = make_run(tide_project)
        add_lines(run, *(f"Line {n}." for n in range(1, 8)))

        def numbers(**query):
            page = run_page(reading, run, tab="log", **query)
            return [line.number for line in page.context["log"].lines], page.text

        last, page = numbers()
        assert last == [5, 6, 7]
        assert "?tab=log&amp;before=5" in page
        middle, page = numbers(before=5)
        assert middle == [2, 3, 4]
        assert "before=2" in page
        assert "The latest lines" in page
        assert numbers(before=2)[0] == [1]

    def test_whoever_stays_gets_each_new_line_once(self, reading, tide_project, monkeypatch):
        monkeypatch.setattr(log_views, "PAGE", 3)
        run = make_run(tide_project, status=Status.RUNNING, done=1)
        add_lines(run, "Line 1.")
        page = run_page(reading, run, tab="log").text
        seen = []
        for new in (["Line 2."], [], [f"Line {n}." for n in range(3, 8)]):
            add_lines(run, *new)
            while True:
                following = re.search(
                    r'class="log-end" hx-get="([^"]+)" hx-trigger="([^"]+)"', page
                )
                page = reading.get(following[1].replace("&amp;", "&")).text
                seen += re.findall(r"Line \d+\.", page)
                if 'hx-trigger="load"' not in page:
                    break
        assert seen == [f"Line {n}." for n in range(2, 8)]

    def test_a_line_written_while_the_answer_is_made_comes_with_the_next(
        self, reading, tide_project
    ):
        run = make_run(tide_project, status=Status.RUNNING, done=1)
        add_lines(run, "One.", "Two.")
        address = reverse("run-log", args=[tide_project.pk, run.pk])
        # As the answer sees it that has read the run before the line, and the lines after it.
        Run.objects.filter(pk=run.pk).update(log_count=1)
        part = reading.get(address, {"after": 0}).text
        assert "One." in part
        assert "Two." not in part
        assert "?after=1" in part
        assert "Two." not in run_page(reading, run, tab="log").text

    def test_lines_that_do_not_match_are_not_asked_for_again(self, reading, tide_project):
        run = make_run(tide_project, status=Status.RUNNING, done=1)
        add_lines(run, "One.", "Two.")
        page = run_page(reading, run, tab="log", level="error").text
        assert (
            f'hx-get="{reverse("run-log", args=[tide_project.pk, run.pk])}?after=2&amp;level=error"'
            in page
        )

    def test_the_end_of_a_run_is_the_end_of_asking(self, reading, tide_project):
        run = make_run(tide_project)
        add_lines(run, "One.", "Two.")
        part = reading.get(reverse("run-log", args=[tide_project.pk, run.pk]), {"after": 1}).text
        assert "Two." in part
        assert "log-end" not in part

    def test_tracebacks_are_for_operators(self, reading, sign_in, superuser, tide_project):
        run = make_run(tide_project, status=Status.FAILED)
        add_lines(run, "It broke.", level=Level.ERROR, traceback="File server.py, line 7")
        assert "server.py" not in run_page(reading, run, tab="log").text
        assert "server.py" in run_page(sign_in(superuser), run, tab="log").text


class TestDeeds:
    def post(self, client, name, *args, **data):
        return client.post(reverse(name, args=args), data, follow=True)

    def test_start_goes_to_the_run(self, editing, editor, tide_project):
        page = self.post(editing, "run-start", tide_project.pk, scope="full")
        run = Run.objects.get()
        assert page.redirect_chain[-1][0] == run.get_absolute_url()
        assert (run.scope, run.actor, run.triggered_by) == ("full", editor, "web")

    def test_a_second_run_leads_to_the_one_under_way(self, editing, tide_project):
        active = make_run(tide_project, status=Status.RUNNING, done=1)
        page = self.post(editing, "run-start", tide_project.pk, scope="full")
        assert page.redirect_chain[-1][0] == active.get_absolute_url()
        assert f"A run is under way already: #{active.pk}." in page.text
        assert Run.objects.count() == 1

    @pytest.mark.parametrize("scope", ["review", "nonsense", ""])
    def test_what_cannot_be_started_says_why(self, editing, tide_project, scope):
        page = self.post(editing, "run-start", tide_project.pk, scope=scope)
        assert page.redirect_chain[-1][0] == reverse("project-runs", args=[tide_project.pk])
        assert "message-error" in page.text
        assert not Run.objects.exists()

    def test_stop(self, editing, tide_project):
        run = make_run(tide_project, status=Status.RUNNING, done=1)
        page = self.post(editing, "run-cancel", tide_project.pk, run.pk)
        run.refresh_from_db()
        assert run.status == Status.CANCELLED
        assert "What it has made is kept." in page.text
        again = self.post(editing, "run-cancel", tide_project.pk, run.pk)
        assert "This run has ended already" in again.text

    def test_failures_are_retried_in_a_run_of_their_own(self, editing, tide_project):
        run = make_run(tide_project)
        add_entries(run, {"Ebb": "Out."})
        add_failure(run, "Keel")
        assert "Retry the 1 that failed" in run_page(editing, run).text
        self.post(editing, "run-retry", tide_project.pk, run.pk)
        following = Run.objects.latest("pk")
        assert (following.base, following.options) == (run, {"only": ["keel"]})

    def test_a_term_is_left_out_as_the_review_says(self, editing, reading, tide_project):
        run = make_run(tide_project)
        issue = add_issue(run, "Ebb", exclude=True, description="Everybody knows it.")
        assert "Exclude the term" in run_page(editing, run, tab="issues").text
        assert "should be left out" in run_page(reading, run, tab="issues").text
        page = self.post(editing, "run-exclude", tide_project.pk, run.pk, issue=issue.pk)
        assert "“Ebb” is excluded from the next run on." in page.text
        term = tide_project.terms.get()
        assert (term.status, term.reason) == ("excluded", "Everybody knows it.")
        assert "Exclude the term" not in run_page(editing, run, tab="issues").text
        gone = self.post(editing, "run-exclude", tide_project.pk, run.pk, issue="x")
        assert "not among the project’s terms any more" in gone.text

    def test_publish_all_and_take_it_back(self, editing, tide_project):
        run = make_run(tide_project)
        add_entries(run, {"Ebb": "Out.", "Quay": "A wall."})
        assert "2 new" in run_page(editing, run).text
        page = self.post(editing, "run-publish", tide_project.pk, run.pk)
        assert "Published: 2 new, 0 changed, 0 as before." in page.text
        assert set(tide_project.entries.values_list("term", flat=True)) == {"Ebb", "Quay"}
        assert "edda published it" in words_of(page.text)
        assert reverse("project-glossary", args=[tide_project.pk]) in page.text
        page = self.post(editing, "run-undo", tide_project.pk, run.pk)
        assert "2 entries of the glossary are as they were before." in page.text
        assert not GlossaryEntry.objects.exists()
        assert "run-undo" not in page.text
        again = self.post(editing, "run-undo", tide_project.pk, run.pk)
        assert "Nothing of this run is published." in again.text

    def test_publish_the_chosen_ones(self, editing, tide_project):
        run = make_run(tide_project)
        add_entries(run, {"Ebb": "Out.", "Quay": "A wall."})
        page = self.post(editing, "run-publish", tide_project.pk, run.pk, choose="yes")
        assert "Choose some entries first." in page.text
        self.post(editing, "run-publish", tide_project.pk, run.pk, choose="yes", key=["quay"])
        assert tide_project.entries.get().term == "Quay"


class TestCompare:
    def compare(self, client, project, **query):
        return client.get(reverse("run-compare", args=[project.pk]), query)

    @pytest.fixture
    def two(self, tide_project):
        older, newer = make_run(tide_project), make_run(tide_project)
        add_entries(older, {"Ebb": "The tide goes out.", "Buoy": "A <mark>."})
        add_entries(newer, {"Ebb": "The tide flows out.", "Keel": "A beam."})
        return older, newer

    def test_shows_words_that_differ(self, reading, tide_project, two):
        older, newer = two
        page = self.compare(reading, tide_project, older=older.pk, newer=newer.pk).text
        assert "<del>goes</del>" in page
        assert "<ins>flows</ins>" in page
        assert "A &lt;mark&gt;." in page
        # In either order, the newer one is the newer one.
        turned = self.compare(reading, tide_project, older=newer.pk, newer=older.pk).text
        assert "<ins>flows</ins>" in turned
        # And without being told which.
        assert "<ins>flows</ins>" in self.compare(reading, tide_project).text

    def test_filters(self, reading, tide_project, two):
        def terms(**query):
            page = self.compare(reading, tide_project, **query)
            return [row.term for row in page.context["listing"].page]

        assert terms() == ["Ebb", "Keel", "Buoy"]
        assert terms(show="added") == ["Keel"]
        assert terms(show="removed") == ["Buoy"]
        assert terms(show="changed") == ["Ebb"]
        assert terms(q="BEAM") == ["Keel"]
        assert terms(q="goes") == ["Ebb"]

    def test_htmx_gets_the_list_alone(self, reading, tide_project, two):
        address = reverse("run-compare", args=[tide_project.pk])
        part = reading.get(address, headers=HTMX).text
        assert "<html" not in part
        assert part.strip() in reading.get(address).text

    def test_what_cannot_be_compared(self, reading, tide_project):
        assert "no two runs to compare" in self.compare(reading, tide_project).text
        run = make_run(tide_project)
        same = self.compare(reading, tide_project, older=run.pk, newer=run.pk)
        assert same.url == reverse("project-runs", args=[tide_project.pk])
        missing = self.compare(reading, tide_project, older=run.pk, newer=run.pk + 1)
        assert missing.status_code == 404


class TestElsewhere:
    def test_the_list_of_projects_knows_issues_and_the_last_run(self, reading, tide_project):
        def cells() -> dict:
            (row,) = reading.get("/").context["rows"]
            return {cell.fact.key: cell.value for cell in row.cells}

        assert (cells()["issues"], cells()["last_run"]) == (0, None)
        old = make_run(tide_project)
        add_issue(old, "Ebb")
        add_issue(old, "Quay")
        assert cells()["issues"] == 2
        run = make_run(tide_project)
        add_issue(run, "Ebb")
        # One that has reviewed nothing changes nothing.
        last = make_run(tide_project, scope=Scope.EXTRACT)
        assert cells()["issues"] == 1
        assert cells()["last_run"] == last.created_at

    def test_the_activity_tells_of_runs_and_not_of_their_progress(
        self, reading, editor, tide_project
    ):
        run = make_run(tide_project, status=Status.RUNNING, done=1)
        before = Event.objects.count()
        news.happened(run, news.STARTED, by="edda")
        news.happened(run, news.COMPLETED, failures=0)
        news.happened(run, news.COMPLETED, failures=2)
        news.happened(run, news.FAILED, error="No <answer>.")
        news.happened(run, news.PROGRESS)
        ending.cancel(run, actor=editor)
        told = [news_of(event) for event in Event.objects.order_by("pk")[before:]]
        assert [words_of(item.sentence).replace(" .", ".").strip() for item in told] == [
            f"edda started a run: Everything, from the documents on ( Run {run.pk} ).",
            f"Run {run.pk} is complete.",
            f"Run {run.pk} is complete, with 2 failures.",
            f"Run {run.pk} failed: No &lt;answer&gt;.",
            "run.progress",
            f"edda stopped Run {run.pk}.",
        ]
        page = reading.get(reverse("project-activity", args=[tide_project.pk])).text
        assert "run.progress" not in page
        assert "edda" in page

    def test_the_work_of_a_run_is_told_of_on_its_page_alone(self, editing, tide_project):
        editing.post(reverse("run-start", args=[tide_project.pk]), {"scope": "full"})
        page = editing.get(reverse("project-work", args=[tide_project.pk])).text
        assert ending.ADVANCE not in page


@pytest.mark.parametrize(
    ("nano", "shown"),
    [(0, "–"), (12_340_000_000, "12.34"), (10_060_500, "0.01"), (59_400_000, "0.059")],
)
def test_a_cost_is_shown_as_closely_as_it_matters(nano, shown):
    assert cost(Run(cost_nano=nano)) == shown
