"""The line of steps on a project's page, and what other pages know of runs."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from glossary_site.live.models import Event
from glossary_site.llm.providers import provider_for
from projects.access import OPERATOR
from projects.news import news_of
from projects.services.documents import delete_documents
from projects.services.synonyms import dissolve, make_group, remove_from_group, set_primary
from projects.services.terms.changes import set_status
from runs import news
from runs.choices import Scope, Status, Step
from runs.services import ending
from tests import factories
from tests.runs.made import (
    add_entries,
    add_issue,
    add_term,
    make_run,
)
from tests.runs.views.visiting import words_of

pytestmark = pytest.mark.django_db


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
        assert found["review"].note == "issue"
        stale = {key: stage.stale for key, stage in found.items() if stage.stale}
        assert stale == {"published": f"run {run.pk} is not published"}

    def test_definitions_know_that_somebody_has_changed_the_terms(
        self, editing, editor, tide_project
    ):
        ebb = tide_project.terms.get()
        flood, tide = (factories.make_term(tide_project, text) for text in ("Flood", "Tide"))
        add_entries(make_run(tide_project), {"Ebb": "The tide going out."})

        def stale() -> str:
            return stages(editing, tide_project)["definitions"].stage.stale

        def seen_when(change: Callable[..., object], **what) -> None:
            tide_project.terms.update(updated_at=timezone.now() - timedelta(days=1))
            assert stale() == ""
            change(**what, actor=editor)
            assert stale() == "terms changed since"

        seen_when(set_status, project=tide_project, ids=[ebb.pk], status="excluded")
        seen_when(make_group, project=tide_project, primary=flood, terms=[ebb, tide])
        group = tide_project.synonym_groups.get()
        seen_when(set_primary, group=group, term=ebb)
        seen_when(remove_from_group, term=tide)
        seen_when(dissolve, group=group)

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
        # One that was stopped has read them, and done no more.
        make_run(tide_project, status=Status.CANCELLED, done=1)
        found = stages(editing, tide_project)
        assert found["documents"].stage.stale == ""
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

    def test_what_is_left_of_the_whole_is_told_where_a_past_run_knows(self, editing, tide_project):
        config = provider_for(tide_project.stream)
        same = {"provider": config.kind, "model": config.model}
        # Each of its steps took ninety seconds, for one term.
        add_term(make_run(tide_project, **same), "Ebb")
        run = make_run(
            tide_project,
            status=Status.RUNNING,
            done=2,
            current_step=Step.GENERATE,
            progress_current=30,
            progress_total=90,
            **same,
        )
        address = reverse("project-pipeline", args=[tide_project.pk])
        assert "about 3 min left in this step" in words_of(editing.get(address).text)
        add_term(run, "Quay")
        # Two steps come after this one.
        assert re.search(r"about 6 min left(?! in)", words_of(editing.get(address).text))

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
            f"edda started a run: Everything, from the documents ( Run {run.pk} ).",
            f"Run {run.pk} is complete.",
            f"Run {run.pk} is complete, with 2 failures.",
            f"Run {run.pk} failed: No &lt;answer&gt;.",
            "run.progress",
            f"edda stopped Run {run.pk}.",
        ]
        page = reading.get(reverse("project-activity", args=[tide_project.pk])).text
        assert "run.progress" not in page
        assert "edda" in page
        assert f'<a href="{run.get_absolute_url()}"><strong>Run {run.pk}</strong></a>' in page

    def test_the_work_of_a_run_is_told_of_on_its_page_alone(self, editing, tide_project):
        editing.post(reverse("run-start", args=[tide_project.pk]), {"scope": "full"})
        page = editing.get(reverse("project-work", args=[tide_project.pk])).text
        assert ending.ADVANCE not in page
