"""The glossary as people read it, search it and take it away."""

import csv
import json
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from projects.services.glossary import add_entry
from tests import factories
from tests.projects.glossary.visiting import PART, data, page, publish

pytestmark = pytest.mark.django_db


def named(html: str) -> list[str]:
    return re.findall(r"data-row-link[^>]*>([^<]+)</a>", html)


class TestList:
    def test_an_empty_one_says_what_to_do_next(self, editing, reading, project):
        assert reverse("document-add", args=[project.pk]) in page(
            editing, "project-glossary", project.pk
        )
        factories.make_document(project)
        runs = f'href="{reverse("project-runs", args=[project.pk])}">To the runs'
        assert runs in page(editing, "project-glossary", project.pk)
        assert runs not in page(reading, "project-glossary", project.pk)

    def test_in_order_under_their_letters(self, reading, project, entries):
        html = page(reading, "project-glossary", project.pk)
        assert named(html) == ["berth", "pilot", "slack water", "係留索"]
        assert re.findall(r'<h2 class="letter"[^>]*>(.)</h2>', html) == ["B", "P", "S", "か"]
        assert "けいりゅうさく" in html
        assert "also Lotse" in html

    def test_only_letters_that_exist_are_links(self, reading, project, entries):
        html = page(reading, "project-glossary", project.pk)
        assert re.findall(r'<a id="letter-(.)"', html) == ["B", "P", "S", "か"]
        assert '<span aria-hidden="true">A</span>' in html
        assert '<span aria-hidden="true">あ</span>' in html

    def test_a_script_that_nobody_uses_has_no_bar(self, reading, project, owner):
        publish(project, owner, data("pilot"))
        assert "あ" not in page(reading, "project-glossary", project.pk)

    def test_the_language_of_the_project_comes_first(self, reading, project, entries):
        project.language = "ja"
        project.save()
        html = page(reading, "project-glossary", project.pk)
        assert html.index('id="letter-か"') < html.index('id="letter-B"')

    def test_one_letter(self, reading, project, entries):
        assert named(page(reading, "project-glossary", project.pk, letter="か")) == ["係留索"]
        html = page(reading, "project-glossary", project.pk, letter="P")
        assert named(html) == ["pilot"]
        # The others stay in reach.
        assert 'id="letter-S"' in html
        assert len(named(page(reading, "project-glossary", project.pk, letter="nonsense"))) == 4

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("PILOT", ["pilot"]),
            ("guides", ["pilot"]),
            ("lotse", ["pilot"]),
            ("けいりゅう", ["係留索"]),
            ("つなぎ", ["係留索"]),
            ("nowhere", []),
        ],
    )
    def test_search_in_terms_readings_aliases_and_definitions(
        self, reading, project, entries, query, expected
    ):
        assert named(page(reading, "project-glossary", project.pk, q=query)) == expected

    def test_aliases_in_japanese_are_found(self, reading, project, owner):
        publish(project, owner, data("mooring line", aliases=["もやい綱"]), data("pilot"))
        assert named(page(reading, "project-glossary", project.pk, q="もやい")) == ["mooring line"]

    def test_a_term_that_is_missing_can_be_added_from_there(self, editing, project, entries):
        html = page(editing, "project-glossary", project.pk, q="Fender & Co")
        add = f"{reverse('entry-add', args=[project.pk])}?term=Fender%20%26%20Co"
        assert add in html
        assert 'value="Fender &amp; Co"' in editing.get(add).content.decode()

    def test_by_category_and_state(self, reading, project, entries):
        assert named(page(reading, "project-glossary", project.pk, category="title")) == ["pilot"]
        assert named(page(reading, "project-glossary", project.pk, only="review")) == ["berth"]
        assert named(page(reading, "project-glossary", project.pk, only="unsupported")) == ["berth"]
        assert named(page(reading, "project-glossary", project.pk, only="edited")) == []

    def test_doubts_are_words_not_only_colours(self, reading, project, entries):
        html = page(reading, "project-glossary", project.pk, letter="B")
        assert re.search(r"badge-bad.*unsupported</span>", html)
        assert re.search(r"badge-warn.*needs review</span>", html)

    @pytest.mark.parametrize("query", ["\0", "%", "_", "'", "\\", "<b>"])
    def test_odd_addresses_are_only_words(self, reading, project, entries, query):
        for key in ("q", "category", "only", "letter", "sort", "page"):
            page(reading, "project-glossary", project.pk, **{key: query})

    def test_htmx_gets_the_same_part_alone(self, reading, project, entries):
        url = reverse("project-glossary", args=[project.pk])
        part = reading.get(url, headers=PART).content.decode()
        assert part.startswith('<div id="results"')
        assert 'hx-trigger="live:glossary from:body"' in part
        whole = page(reading, "project-glossary", project.pk)
        assert part.strip() in whole

    def test_large_ones_come_in_pages_and_few_queries(self, reading, project, owner):
        def queries() -> int:
            with CaptureQueriesContext(connection) as captured:
                page(reading, "project-glossary", project.pk, q="term")
            assert not any('"evidence"' in query["sql"] for query in captured)
            return len(captured)

        many = [data(f"term {n}x", aliases=["other"]) for n in range(70)]
        publish(project, owner, *many[:2])
        page(reading, "project-glossary", project.pk)
        before = queries()
        publish(project, owner, *many)
        assert queries() == before <= 18
        assert len(named(page(reading, "project-glossary", project.pk))) == 60
        assert len(named(page(reading, "project-glossary", project.pk, page=2))) == 10

    def test_no_script_survives(self, editing, project, owner):
        entry = add_entry(
            project=project,
            actor=owner,
            term="<script>x</script>",
            definition="<script>y</script>",
            aliases=["<img src=x>"],
            related=["<img src=z>"],
        )
        for html in (
            page(editing, "project-glossary", project.pk),
            page(editing, "glossary-entry", project.pk, entry.pk),
            page(editing, "entry-edit", project.pk, entry.pk),
            page(editing, "glossary-history", project.pk),
        ):
            assert not re.search(r"<script>[xy]|<img src=[xz]", html)


class TestExport:
    def test_json(self, reading, project, entries):
        response = reading.get(reverse("glossary-export", args=[project.pk, "json"]))
        rows = json.loads(response.content)["entries"]
        assert {row["term"] for row in rows} == set(entries)
        assert "harbour-glossary.json" in response["Content-Disposition"]

    def test_csv(self, reading, project, entries):
        response = reading.get(reverse("glossary-export", args=[project.pk, "csv"]))
        rows = list(csv.reader(response.content.decode("utf-8-sig").splitlines()))
        assert len(rows) == 1 + len(entries)
        assert response["Content-Type"] == "text/csv; charset=utf-8"

    def test_markdown(self, reading, project, entries):
        text = reading.get(reverse("glossary-export", args=[project.pk, "md"])).content.decode()
        assert text.index("### pilot") < text.index("### 係留索")

    @pytest.mark.parametrize(
        ("asked", "expected"),
        [
            ({"q": "lotse"}, {"pilot"}),
            ({"letter": "か"}, {"係留索"}),
            ({"category": "title"}, {"pilot"}),
            ({"only": "review"}, {"berth"}),
            ({"q": "a", "letter": "S"}, {"slack water"}),
        ],
        ids=["search", "letter", "category", "state", "two"],
    )
    def test_what_the_page_shows(self, reading, project, entries, asked, expected):
        html = page(reading, "project-glossary", project.pk, **asked)
        link = re.search(r'id="these-json" href="([^"]+)"', html)[1].replace("&amp;", "&")
        rows = json.loads(reading.get(link).content)["entries"]
        assert {row["term"] for row in rows} == expected == set(named(html))

    def test_the_menu_has_all_three_and_no_other_exists(self, reading, project, entries):
        html = page(reading, "project-glossary", project.pk)
        for format in ("md", "json", "csv"):
            assert reverse("glossary-export", args=[project.pk, format]) in html
        other = reverse("glossary-export", args=[project.pk, "exe"])
        assert reading.get(other).status_code == 404
