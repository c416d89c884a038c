"""What somebody sees who searches. How well it finds is tested elsewhere: here a page is asked, and
what stands on it is read."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from glossary_site.errors import Refusal
from indexing.choices import IndexStatus
from indexing.models import IndexRequest
from indexing.search.options import FURTHEST_OFFSET, SearchOptions, SearchPage, SearchResult
from indexing.views import search as views
from tests import factories
from tests.indexing.working import make_indexed

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


class Answering:
    """A search that answers as it is told, and remembers what it was asked."""

    def __init__(self) -> None:
        self.results: list[SearchResult] = []
        self.notices: list[str] = []
        self.total: int | None = None
        self.exact = True
        self.asked: list[SearchOptions] = []
        self.refusal: Refusal | None = None

    def __call__(self, options: SearchOptions) -> SearchPage:
        self.asked.append(options)
        if self.refusal:
            raise self.refusal
        total = len(self.results) if self.total is None else self.total
        return SearchPage(options, self.results, total, self.exact, self.notices)


@pytest.fixture
def answering(monkeypatch) -> Answering:
    answering = Answering()
    monkeypatch.setattr(views, "search", answering)
    return answering


def result(document, **fields) -> SearchResult:
    usual = {
        "project_id": document.project_id,
        "project_name": document.project.name,
        "document_id": document.pk,
        "document_path": document.path,
        "document_title": document.title,
        "section_id": 71,
        "heading": "Slack",
        "heading_path": ("Tides", "Slack"),
        "number": "1.2",
        "depth": 2,
        "line_start": 12,
        "line_end": 20,
        "snippet_html": "The <mark>ebb</mark> &lt;b&gt;",
        "snippet": "The ebb <b>",
        "score": 0.8312,
        "index_status": IndexStatus.LATEST,
        "is_latest": True,
        "has_pending_update": False,
        "document_hash": document.file_hash,
        "indexed_at": timezone.now() - timedelta(minutes=3),
    }
    return SearchResult(**(usual | fields))


def ask(client, project=None, *, headers=None, **query):
    name, args = ("project-search", [project.pk]) if project else ("search", [])
    response = client.get(reverse(name, args=args), query, headers=headers)
    assert response.status_code == 200
    return response


class TestSearch:
    def test_a_result_says_what_where_how_well_and_how_fresh(self, reading, project, answering):
        document = factories.make_document(project, "sea/tides.md")
        answering.results = [result(document)]
        page = ask(reading, project, q="ebb").text
        assert '<span class="folder">sea/</span>tides.md' in page
        # As the document has it: without a number of ours before it.
        assert 'Tides <span aria-hidden="true">›</span> </span>Slack</a>' in page
        assert "The <mark>ebb</mark> &lt;b&gt;" in page
        assert "lines 12–20" in page
        assert "0.83" in page
        assert f'title="Indexed 3 minutes ago ({document.file_hash[:10]})"' in page
        assert re.search(r'badge-ok">.*latest</span>', page)
        assert "1 result" in page

    def test_a_result_leads_to_its_lines(self, reading, project, answering):
        document = factories.make_document(project)
        answering.results = [result(document)]
        page = ask(reading, project, q="ebb").text
        there = reverse("document", args=[project.pk, document.pk])
        link = f"{there}?lines=12-20&amp;hash={document.file_hash[:12]}#L12"
        assert f'href="{link}" data-row-link' in page

    @pytest.mark.parametrize("freshness", IndexStatus)
    def test_freshness_is_said_in_words(self, reading, project, answering, freshness):
        answering.results = [result(factories.make_document(project), index_status=freshness)]
        page = ask(reading, project, q="ebb").text
        assert re.search(rf'class="badge [\w-]+">.*{freshness.label}</span>', page)

    def test_the_whole_document_goes_by_its_title(self, reading, project, answering):
        document = factories.make_document(project, content="# Tides\n\nEbb.\n")
        answering.results = [
            result(document, heading="", heading_path=(), number="", depth=0, snippet_html="")
        ]
        assert re.search(r"data-row-link>\s*Tides</a>", ask(reading, project, q="ebb").text)

    def test_all_my_projects_and_no_others(self, sign_in, viewer, project, answering):
        other = factories.make_project("Closed")
        document = factories.make_document(project)
        answering.results = [result(document)]
        page = ask(sign_in(viewer), q="ebb")
        assert answering.asked[0].project_ids == (project.pk,)
        assert "result-project" in page.text
        assert project.name in page.text
        assert other.name not in page.text
        assert "result-project" not in ask(sign_in(viewer), project, q="ebb").text

    def test_filters_are_asked_for_and_shown_again(self, reading, project, answering):
        page = ask(
            reading,
            project,
            q="ebb",
            mode="lexical",
            index_status="latest_only",
            depth="2",
            path="docs/**, *.md",
            exclude_path="drafts/、old/",
        ).text
        (options,) = answering.asked
        assert options.mode == "lexical"
        assert options.freshness == "latest_only"
        assert options.depths == (2,)
        assert options.include == ("docs/**", "*.md")
        assert options.exclude == ("drafts/", "old/")
        for value in ("lexical", "latest_only", "2"):
            assert f'value="{value}" selected' in page
        assert 'value="docs/**, *.md"' in page
        assert "Search without filters" in page

    def test_the_whole_document_is_depth_0(self, reading, project, answering):
        ask(reading, project, q="ebb", depth="0")
        ask(reading, project, q="ebb", depth="")
        assert [options.depths for options in answering.asked] == [(0,), ()]

    def test_as_one_types_only_the_results_come_with_an_address_to_keep(
        self, reading, project, answering
    ):
        answering.results = [result(factories.make_document(project))]
        answer = ask(reading, project, q="eb", typing="1", mode="hybrid", depth="", headers=HTMX)
        assert answering.asked[0].typing
        assert "<html" not in answer.text
        assert 'id="results"' in answer.text
        there = reverse("project-search", args=[project.pk])
        assert answer["HX-Replace-Url"] == f"{there}?q=eb"
        whole = ask(reading, project, q="eb")
        assert not answering.asked[1].typing
        assert "HX-Replace-Url" not in whole
        assert "HX-Request" in whole["Vary"]

    def test_pages(self, reading, project, answering):
        document = factories.make_document(project)
        answering.results = [result(document, section_id=n) for n in range(10)]
        answering.total = 25
        first = ask(reading, project, q="ebb", mode="lexical").text
        assert "1–10 of 25" in first
        assert "?q=ebb&amp;mode=lexical&amp;page=2" in first
        assert 'rel="prev"' not in first
        second = ask(reading, project, q="ebb", page="2").text
        assert answering.asked[1].offset == 10
        assert "11–20 of 25" in second
        assert 'rel="prev"' in second
        answering.results = answering.results[:5]
        assert 'rel="next"' not in ask(reading, project, q="ebb", page="3").text

    def test_nobody_goes_further_than_searches_go(self, reading, project, answering):
        document = factories.make_document(project)
        answering.results = [result(document, section_id=n) for n in range(10)]
        answering.total = 5000
        page = ask(reading, project, q="ebb", page="999999").text
        assert answering.asked[0].offset == FURTHEST_OFFSET
        assert 'rel="next"' not in page

    def test_what_the_reader_should_know(self, reading, project, answering):
        answering.notices = ["Meaning could not be searched."]
        assert "Meaning could not be searched." in ask(reading, project, q="ebb").text

    def test_a_refusal_is_a_sentence(self, reading, project, answering):
        answering.refusal = Refusal("bad_pattern", "This is not a path pattern: [", status=400)
        page = ask(reading, project, q="ebb", path="[").text
        assert "This is not a path pattern" in page

    def test_no_question_is_answered_with_help(self, reading, project, answering):
        for query in ({}, {"q": ""}, {"q": "  \0 "}):
            page = ask(reading, project, **query).text
            assert "How to ask" in page
            assert "hand*" in page
        assert answering.asked == []

    def test_nothing_found_says_what_to_try(self, reading, project, answering):
        assert "This project has no documents yet." in ask(reading, project, q="ebb").text
        factories.make_document(project)
        IndexRequest.objects.all().delete()
        page = ask(reading, project, q="ebb").text
        assert "Nothing matches “ebb”" in page
        assert "Search without filters" not in page
        assert f"{reverse('search')}?q=ebb" in page
        assert "still being indexed" not in page

    def test_nothing_found_says_that_documents_wait(self, reading, project, answering):
        factories.make_document(project)
        page = ask(reading, project, q="ebb").text
        assert "Documents are still being indexed." in page
        assert "1 document is being indexed" in page

    def test_a_page_that_may_change_asks_again(self, reading, project, answering):
        listening = 'hx-trigger="live:index from:body'
        document = factories.make_document(project)
        assert listening in ask(reading, project, q="ebb").text
        answering.results = [result(document)]
        assert listening not in ask(reading, project, q="ebb").text
        answering.results = [result(document, has_pending_update=True)]
        assert listening in ask(reading, project, q="ebb").text

    @pytest.mark.parametrize(
        "query",
        [
            {"q": "x", "mode": "telepathy", "depth": "ten", "index_status": "?", "page": "-1"},
            {"q": "x", "depth": "99", "page": "0"},
            {"q": "x", "depth": "²", "page": "９"},
            {"q": "x" * 10_000, "path": "," * 5000, "exclude_path": "\0"},
            {"q": "\"' -* OR AND NOT () :", "path": "a\nb"},
            {"q": "👩‍🚀 ﷽ \u202e", "mode": ""},
        ],
    )
    def test_no_address_is_an_error(self, reading, project, answering, query):
        ask(reading, project, **query)
        ask(reading, **query)

    def test_a_page_takes_as_many_queries_for_ten_results_as_for_one(
        self, reading, project, answering
    ):
        documents = [factories.make_document(project) for _ in range(10)]
        counts = []
        for shown in (documents[:1], documents):
            answering.results = [result(document) for document in shown]
            ask(reading, project, q="ebb")
            with CaptureQueriesContext(connection) as queries:
                ask(reading, project, q="ebb")
            counts.append(len(queries))
        assert counts[0] == counts[1]


class TestSearchForReal:
    def test_from_the_question_to_the_marked_lines(self, reading, project):
        document = make_indexed(project, "harbour.md")
        page = ask(reading, project, q="pilot").text
        link = re.search(r'href="([^"]+)" data-row-link', page)
        assert link, page
        assert "<mark>" in page
        there = reading.get(link[1].replace("&amp;", "&")).text
        assert re.search(r'class="passage"[^>]*>[^<]*(<a[^>]*></a>)?(Pilots|A pilot guides)', there)
        assert document.path in page

    @pytest.mark.parametrize(
        "query", ['"', "-", "*", "a" * 10_000, "😀", "「」", '-"x', "OR", "%_\\"]
    )
    @pytest.mark.parametrize("mode", ["hybrid", "lexical", "vector"])
    def test_whatever_is_asked_is_answered(self, reading, project, query, mode):
        make_indexed(project, "harbour.md")
        ask(reading, project, q=query, mode=mode)
        ask(reading, project, q=query, mode=mode, typing="1", depth="1", path="[", headers=HTMX)
