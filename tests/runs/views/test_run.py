"""The page of a run, and what people do there."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone

from glossary_site.llm.models import LLMProcess
from projects.access import OPERATOR
from projects.choices import TermStatus
from projects.models import GlossaryEntry
from projects.services.terms import list_term
from runs.choices import Status
from runs.models import ProvisionalEntry, RefinedEntry, Run
from runs.templatetags.run_state import cost
from tests import factories
from tests.projects.terms.visiting import undo_token
from tests.runs.made import (
    add_entries,
    add_failure,
    add_issue,
    add_lines,
    add_term,
    entry_fields,
    make_run,
)
from tests.runs.views.visiting import HTMX, JAPANESE, run_page, words_of

pytestmark = pytest.mark.django_db


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

    def test_what_is_in_another_language_than_the_page_says_so(self, reading, tide_project):
        run = make_run(tide_project)
        add_term(run, "憩流", language="ja")
        add_entries(run, {"憩流": "潮が止まるとき。", "BESS": "A store."}, language="ja")
        add_issue(run, "憩流", description="Too short.")
        add_lines(run, "Begun.")
        for tab, piece in {
            "terms": '<strong lang="ja">憩流</strong>',
            "refined": '<p class="definition" lang="ja">潮が止まるとき。',
            "issues": '<p lang="en">Too short.',
            "log": '<span lang="en">Begun.',
        }.items():
            page = reading.get(run.get_absolute_url(), {"tab": tab}, headers=JAPANESE)
            assert piece in page.text, tab
        # A definition has a language of its own.
        page = reading.get(run.get_absolute_url(), {"tab": "refined"}, headers=JAPANESE)
        assert '<p class="definition" lang="en">A store.' in page.text

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

    def test_no_column_claims_the_order_of_the_run(self, reading, tide_project):
        run = make_run(tide_project)
        for place, (term, reading_of) in enumerate(
            [("Tide", "tide"), ("潮", "しお"), ("Ebb", "ebb")]
        ):
            add_entries(run, {term: "Water."}, reading=reading_of, order=place)
        page = run_page(reading, run, tab="refined")
        assert [row.term for row in page.context["listing"].page] == ["Tide", "潮", "Ebb"]
        assert "aria-sort" not in page.text
        page = run_page(reading, run, tab="refined", sort="term")
        assert [row.term for row in page.context["listing"].page] == ["Ebb", "Tide", "潮"]
        assert 'aria-sort="ascending"' in page.text

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

    @pytest.mark.parametrize(("kind", "requests"), [("openai", "Requests 7 (2 answered"), ("", "")])
    def test_what_a_step_takes_is_counted_while_it_goes_on(
        self, reading, tide_project, kind, requests
    ):
        run = make_run(tide_project, status=Status.RUNNING, done=2, requests=3 if kind else 0)
        asked = LLMProcess.objects.create(
            id=uuid4(),
            scope=tide_project.stream,
            strategy="sync",
            provider_kind=kind or "builtin",
            total=9,
            completed=4,
            served=2,
            input_tokens=1200,
            output_tokens=30,
            cost_nano=5 * 10**7,
            month=timezone.now().date(),
            progress_at=timezone.now(),
        )
        run.steps.filter(step="generate").update(process_id=asked.pk)
        text = words_of(run_page(reading, run).text)
        (row,) = reading.get(reverse("project-runs", args=[tide_project.pk])).context["rows"]
        assert row.run.requests == (7 if kind else 0)
        assert requests in text
        assert ("1,200 in, 30 out Cost 0.05" in text) == bool(kind)
        if not kind:
            assert "Requests" not in text
        # Counted at the end of the step, it is not counted twice.
        run.steps.filter(step="generate").update(finished_at=timezone.now())
        assert "Requests 7" not in words_of(run_page(reading, run).text)

    @pytest.mark.parametrize(
        ("seconds", "strategy", "kind", "told"),
        [
            (40, "sync", "openai", True),
            (10, "sync", "openai", False),
            (40, "batch", "openai", False),
            (40, "sync", "builtin", False),
        ],
    )
    def test_a_model_that_does_not_answer_is_told_of(
        self, reading, tide_project, seconds, strategy, kind, told
    ):
        since = timezone.now() - timedelta(seconds=seconds)
        run = make_run(
            tide_project,
            status=Status.RUNNING,
            done=2,
            progress_at=since,
            progress_current=5,
            progress_total=10,
        )
        asked = LLMProcess.objects.create(
            id=uuid4(),
            scope=tide_project.stream,
            strategy=strategy,
            provider_kind=kind,
            month=since.date(),
            progress_at=since,
        )
        run.steps.filter(step="generate").update(process_id=asked.pk)
        overview = reading.get(reverse("project", args=[tide_project.pk]))
        for page in (run_page(reading, run).text, overview.text):
            assert ("No answer for a while" in page) == told
            assert ("The questions are put in a batch" in page) == (strategy == "batch")
            # Nobody knows then how long it takes.
            assert ("left in this step" in page) == (not told)

    def test_a_run_that_was_stopped_says_how_far_it_came(self, editing, tide_project):
        run = make_run(
            tide_project,
            status=Status.CANCELLED,
            done=2,
            current_step="generate",
            progress_current=91,
            progress_total=143,
        )
        add_entries(run, {"Ebb": "Out."})
        page = run_page(editing, run).text
        assert "Write definitions 91 of 143 Review not done" in words_of(page)
        # To go on is what people come for, rather than to publish the half of it.
        assert 'class="button button-primary" id="run-resume"' in page
        assert 'class="button" id="run-publish"' in page

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
        assert "The run was stopped. What it had made until then is below." in page.text
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

    def test_it_is_compared_with_what_is_published_or_came_before(self, reading, tide_project):
        def compared(run) -> list[str]:
            return re.findall(r"older=(\d+)&amp;newer=(\d+)", run_page(reading, run).text)

        first, without_entries, second, third = (make_run(tide_project) for _ in range(4))
        for run in (first, second, third):
            for step in (ProvisionalEntry, RefinedEntry):
                step.objects.create(**entry_fields(run, "Ebb", "Out."))
        assert compared(first) == []
        assert compared(third) == [(str(second.pk), str(third.pk))]
        Run.objects.filter(pk=first.pk).update(published_at=timezone.now())
        assert compared(third) == [(str(first.pk), str(third.pk))]
        Run.objects.filter(pk=third.pk).update(published_at=timezone.now())
        assert compared(third) == [(str(first.pk), str(third.pk))]
        assert compared(without_entries) == []

    def test_entries_that_the_review_changed_are_marked(self, reading, tide_project):
        """Most are as they were first written: that needs no mark."""
        run = make_run(tide_project)
        add_entries(run, {"Ebb": "Out.", "Quay": "A wall."})
        run.refined.update(copied=True)
        assert "revised" not in run_page(reading, run).text
        run.refined.filter(term="Quay").update(copied=False)
        assert run_page(reading, run).text.count("revised after the review") == 1
        assert "revised" not in run_page(reading, run, tab="provisional").text

    def test_a_run_with_failures_does_not_end_as_if_there_were_none(self, reading, tide_project):
        run = make_run(tide_project)
        assert "The run is complete." in run_page(reading, run, tab="log").text
        add_failure(run, "Keel")
        page = run_page(reading, run, tab="log").text
        assert "The run is complete, with 1 failure." in page
        there = f'href="{run.get_absolute_url()}?tab=failures#made">'
        assert f"{there}See what failed" in page
        listed = reading.get(reverse("project-runs", args=[tide_project.pk])).text
        assert f"{there}1</a>" in listed

    def test_a_term_is_left_out_as_the_review_says(self, editing, reading, tide_project):
        run = make_run(tide_project)
        issue = add_issue(run, "Ebb", exclude=True, description="Everybody knows it.")
        before = tide_project.terms.get().chosen
        assert "Exclude the term" in run_page(editing, run, tab="issues").text
        assert "should be left out" in run_page(reading, run, tab="issues").text
        page = self.post(editing, "run-exclude", tide_project.pk, run.pk, issue=issue.pk)
        assert "“Ebb” is excluded." in page.text
        term = tide_project.terms.get()
        assert (term.status, term.reason) == ("excluded", "Everybody knows it.")
        assert "Exclude the term" not in run_page(editing, run, tab="issues").text
        self.post(editing, "run-exclude", tide_project.pk, run.pk, undo=undo_token(page.text))
        term.refresh_from_db()
        assert (term.status, term.reason, term.chosen) == ("candidate", "", before)
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

    def test_what_people_exclude_after_the_run_is_left_out_and_told(self, editing, tide_project):
        run = make_run(tide_project)
        add_entries(run, {"Ebb": "Out.", "Quay": "A wall."})
        excluded = {"project": tide_project, "status": TermStatus.EXCLUDED, "actor": OPERATOR}
        list_term(text="ebb", **excluded)
        page = words_of(run_page(editing, run).text)
        assert "1 new" in page
        assert "1 entry is left out, because its term is excluded." in page
        page = self.post(editing, "run-publish", tide_project.pk, run.pk)
        assert "1 left out, because its term is excluded." in page.text
        assert tide_project.entries.get().term == "Quay"
        tide_project.entries.all().delete()
        list_term(text="quay", **excluded)
        page = words_of(run_page(editing, run).text)
        assert "2 entries are left out, because their terms are excluded." in page
        assert "The glossary says the same already." not in page

    def test_publish_those_with_a_definition(self, editing, tide_project):
        run = make_run(tide_project)
        add_entries(run, {"Quay": "A wall that ships lie at."})
        # Where all have one, there is nothing to choose.
        assert "run-publish-defined" not in run_page(editing, run).text
        add_entries(run, {"Ebb": "Used in: “Ebb and flow.”"}, confidence=0.2)
        assert "Publish only 1 with a definition" in run_page(editing, run).text
        assert "Publish all" in run_page(editing, run).text
        page = self.post(editing, "run-publish", tide_project.pk, run.pk, defined="1")
        assert "Published: 1 new" in page.text
        assert tide_project.entries.get().term == "Quay"

    def test_publish_the_chosen_ones(self, editing, tide_project):
        run = make_run(tide_project)
        add_entries(run, {"Ebb": "Out.", "Quay": "A wall."})
        page = self.post(editing, "run-publish", tide_project.pk, run.pk, choose="yes")
        assert "Choose some entries first." in page.text
        self.post(editing, "run-publish", tide_project.pk, run.pk, choose="yes", key=["quay"])
        assert tide_project.entries.get().term == "Quay"

    def test_entries_are_chosen_where_they_read_as_they_are_published(
        self, editing, reading, tide_project
    ):
        """Not beside what they were before the review."""
        run = make_run(tide_project)
        add_entries(run, {"Ebb": "Out."}, refined=False)
        assert 'id="publish-chosen"' in run_page(editing, run, tab="provisional").text
        assert 'id="publish-chosen"' not in run_page(reading, run, tab="provisional").text
        RefinedEntry.objects.create(**entry_fields(run, "Ebb", "The tide going out."))
        assert 'id="publish-chosen"' in run_page(editing, run, tab="refined").text
        page = run_page(editing, run, tab="provisional").text
        assert 'id="publish-chosen"' not in page
        assert 'name="key"' not in page

    def test_what_the_run_does_not_have_is_told_before_and_after(self, editing, tide_project):
        earlier, later = make_run(tide_project), make_run(tide_project)
        add_entries(earlier, {"Ebb": "Out.", "Quay": "A wall."})
        add_entries(later, {"Ebb": "Out.", "Buoy": "A mark."})
        self.post(editing, "run-publish", tide_project.pk, earlier.pk)
        assert (
            "1 entry of earlier runs is not in this one. It stays" in run_page(editing, later).text
        )
        chosen = {"choose": "yes", "key": ["buoy"]}
        page = self.post(editing, "run-publish", tide_project.pk, later.pk, **chosen)
        assert "is not in this one, and stays." not in page.text
        page = self.post(editing, "run-publish", tide_project.pk, later.pk)
        assert "1 entry of earlier runs is not in this one, and stays." in page.text


@pytest.mark.parametrize(
    ("nano", "shown"),
    [(0, "–"), (12_340_000_000, "12.34"), (10_060_500, "0.01"), (59_400_000, "0.059")],
)
def test_a_cost_is_shown_as_closely_as_it_matters(nano, shown):
    assert cost(Run(cost_nano=nano)) == shown
