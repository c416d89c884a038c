"""The history of runs, and two of them compared."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from projects.models import EntryRevision
from projects.services.glossary import undo, undo_batch
from runs.services.publishing import publish
from tests.runs.made import (
    add_entries,
    add_term,
    make_run,
)
from tests.runs.views.visiting import HTMX, run_page, words_of

pytestmark = pytest.mark.django_db


def runs_page(client, project, **query):
    return client.get(reverse("project-runs", args=[project.pk]), query)


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
            f"#{run.pk} Everything, from the documents",
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

    def test_an_empty_project_is_led_to_its_documents(self, editing, reading, project):
        add = f'href="{reverse("document-add", args=[project.pk])}"'
        assert add in runs_page(editing, project).text
        assert add not in runs_page(reading, project).text

    def test_what_was_taken_back_is_not_published(self, reading, tide_project, editor):
        """On whatever page that was done; and an undo can be undone."""
        run = make_run(tide_project)
        add_entries(run, {"Ebb": "Out.", "Quay": "A wall."})

        def shown() -> tuple[bool, str]:
            page = runs_page(reading, tide_project)
            lines = {line.stage.key: line.stage for line in page.context["stages"]}
            shown = run_page(reading, run)
            told = "</svg>published</span>" in page.text
            assert ("</svg>published</span>" in shown.text) == told
            return told, lines["published"].stale

        missing = f"run {run.pk} is not published"
        assert shown() == (False, missing)
        publish(run, actor=editor)
        assert shown() == (True, "")
        first, second = EntryRevision.objects.filter(run_id=run.pk)
        undo(revision=first, actor=editor)
        assert shown() == (True, "")
        undo_batch(project=tide_project, batch=second.batch, actor=editor)
        assert shown() == (False, missing)
        undo(revision=EntryRevision.objects.latest("pk"), actor=editor)
        assert shown() == (True, "")

    def test_a_publication_that_changes_nothing_is_one(self, reading, tide_project, editor):
        run = make_run(tide_project)
        add_entries(run, {"Ebb": "Out."})
        batch = publish(run, actor=editor).batch
        undo_batch(project=tide_project, batch=batch, actor=editor)
        assert "</svg>published</span>" not in runs_page(reading, tide_project).text
        # Another has brought the same meanwhile.
        other = make_run(tide_project)
        add_entries(other, {"Ebb": "Out."})
        publish(other, actor=editor)
        assert publish(run, actor=editor).unchanged == 1
        assert runs_page(reading, tide_project).text.count("</svg>published</span>") == 2
        assert "</svg>published</span>" in run_page(reading, run).text

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

    @pytest.mark.parametrize(
        ("old", "new", "shown"),
        [
            # What is only added to is no other text.
            ("A rope.", "A rope. It holds the ship.", "A rope.<ins> It holds the ship.</ins>"),
            ("船の綱。", "船の縄。", "船の<del>綱</del><ins>縄</ins>。"),
            # Written anew: two texts.
            ("Used in: “It runs.”", "A tide.", "<del>Used in: “It runs.”</del><ins>A tide.</ins>"),
        ],
    )
    def test_a_definition_is_one_text_with_the_words_that_came_and_went(
        self, reading, tide_project, old, new, shown
    ):
        for definition in (old, new):
            add_entries(make_run(tide_project), {"Ebb": definition})
        assert shown in self.compare(reading, tide_project).text

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
