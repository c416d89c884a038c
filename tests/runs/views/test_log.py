"""A run's log as people read it."""

import re

import pytest
from django.urls import reverse

from runs.choices import Level, Status
from runs.models import Run
from runs.views import log as log_views
from tests.runs.made import (
    add_lines,
    make_run,
)
from tests.runs.views.visiting import run_page

pytestmark = pytest.mark.django_db


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

    def test_how_far_it_is_stands_there_once(self, reading, tide_project):
        run = make_run(tide_project)
        add_lines(run, "潮流: 98%", progress_current=364, progress_total=369)
        page = run_page(reading, run, tab="log").text
        assert "潮流: 98%" in page
        assert "364" not in page

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
