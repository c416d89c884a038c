"""What the glossary adds to a search: the terms in each result, and the definition of a term that
is asked for."""

import re

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from rest_framework.test import APIClient

from glossary_site.people.services import create_token
from indexing.choices import Mode
from indexing.search.options import SearchOptions, SearchPage
from indexing.search.service import search
from indexing.search.terms import MOST_TERMS, SUMMARY_LENGTH, glossaries, summary_of
from projects.access import OPERATOR
from projects.choices import Role
from projects.exports.data import EntryData
from projects.models import GlossaryEntry
from projects.services.glossary import delete_entry, edit_entry, publish_entries, undo
from projects.services.projects import delete_project
from projects.terms.keys import key_of
from tests import factories
from tests.indexing.harbour import make_harbour
from tests.indexing.working import make_indexed

pytestmark = pytest.mark.django_db

JAPANESE = (
    "# 港\n\n## 水先人\n\n水先人は船を港へ案内する。大きな船の船長は、外海の浮標で必ず水先人を"
    "乗せなければならず、係留が終わるまで下船させてはならない。夜間も同じである。\n"
)


def ask(project, query: str, **options) -> SearchPage:
    given = {"mode": Mode.LEXICAL, **options}
    return search(SearchOptions(query=query, project_ids=(project.pk,), **given))


def terms(page: SearchPage) -> list[list[str]]:
    return [[term.term for term in result.terms] for result in page.results]


def scored(project, **scores: float) -> None:
    for term, score in scores.items():
        GlossaryEntry.objects.filter(project=project, term=term).update(score=score)


class TestTerms:
    def test_those_that_stand_in_the_section_and_no_others(self, project):
        make_harbour(project)
        factories.make_entry(project, "pilot")
        factories.make_entry(project, "outer buoy", aliases=["fairway buoy"])
        factories.make_entry(project, "basin")
        (result,) = ask(project, "pilot").results
        assert {term.term for term in result.terms} == {"pilot", "outer buoy"}
        (result,) = ask(project, "basin").results
        assert [term.term for term in result.terms] == ["basin"]

    def test_in_the_heading_counts(self, project):
        make_harbour(project)
        factories.make_entry(project, "tide")
        assert terms(ask(project, "basin")) == [["tide"]]

    def test_japanese(self, project):
        make_indexed(project, "港.md", JAPANESE)
        for term in ("水先人", "浮標", "水先", "船長", "案"):
            factories.make_entry(project, term)
        (found,) = terms(ask(project, "水先人"))
        assert set(found) == {"水先人", "浮標", "船長"}

    def test_the_best_few_and_the_best_first(self, project):
        make_harbour(project)
        names = ("pilot", "ship", "channel", "master", "vessel", "board", "buoy")
        for name in names:
            factories.make_entry(project, name)
        scored(project, board=0.9, master=0.8, ship=0.7, pilot=0.6, buoy=0.5)
        (found,) = terms(ask(project, "pilot"))
        assert found == ["board", "master", "ship", "pilot", "buoy"]
        assert len(found) == MOST_TERMS
        # No revision is made when only a score changes.
        scored(project, channel=0.95)
        assert terms(ask(project, "pilot"))[0][0] == "channel"

    def test_each_with_its_page_and_first_sentence(self, project):
        make_harbour(project)
        entry = factories.make_entry(
            project, "pilot", definition="Guides ships in. Must be\nlicensed."
        )
        (((term,)),) = [result.terms for result in ask(project, "pilot").results]
        assert (term.id, term.summary) == (entry.pk, "Guides ships in.")
        assert term.url == entry.get_absolute_url()

    def test_only_of_the_projects_own_glossary(self, project, owner):
        make_harbour(project)
        other = factories.make_project("Elsewhere", owner=owner)
        make_harbour(other)
        factories.make_entry(other, "pilot")
        assert terms(ask(project, "pilot")) == [[]]
        wish = {"query": "pilot", "mode": Mode.LEXICAL}
        both = SearchOptions(project_ids=(project.pk, other.pk), **wish)
        found = {result.project_id: result.terms for result in search(both).results}
        assert found[project.pk] == ()
        assert [term.term for term in found[other.pk]] == ["pilot"]


class TestFreshness:
    """The names are kept from search to search: each change of the glossary must be seen."""

    def test_every_change_is_seen_by_the_next_search(self, project):
        make_harbour(project)

        def now() -> list[str]:
            return terms(ask(project, "pilot"))[0]

        assert now() == []
        entry = factories.make_entry(project, "pilot")
        assert now() == ["pilot"]
        entry = edit_entry(entry=entry, actor=OPERATOR, version=entry.version, term="buoy")
        # The old name is an alias of the renamed one.
        assert now() == ["buoy"]
        entry = edit_entry(entry=entry, actor=OPERATOR, version=entry.version, aliases=["helm"])
        assert now() == ["buoy"]
        entry = edit_entry(entry=entry, actor=OPERATOR, version=entry.version, term="rudder")
        entry = edit_entry(entry=entry, actor=OPERATOR, version=entry.version, aliases=[])
        assert now() == []
        publish_entries(
            project=project,
            entries=[data("channel"), data("rudder")],
            run_id=7,
            actor=OPERATOR,
        )
        assert now() == ["channel"]
        channel = GlossaryEntry.objects.get(term="channel")
        delete_entry(entry=channel, actor=OPERATOR)
        assert now() == []
        undo(revision=project.entry_revisions.first(), actor=OPERATOR)
        assert now() == ["channel"]

    def test_what_was_never_committed_is_forgotten(self, project):
        make_harbour(project)
        factories.make_entry(project, "buoy")
        try:
            with transaction.atomic():
                factories.make_entry(project, "pilot")
                assert set(terms(ask(project, "pilot"))[0]) == {"pilot", "buoy"}
                raise InterruptedError
        except InterruptedError:
            pass
        assert terms(ask(project, "pilot")) == [["buoy"]]
        factories.make_entry(project, "channel")
        assert set(terms(ask(project, "pilot"))[0]) == {"channel", "buoy"}

    def test_names_are_read_once_for_many_searches(self, project):
        make_harbour(project)
        factories.make_entry(project, "pilot")
        ask(project, "channel")
        with CaptureQueriesContext(connection) as queries:
            page = ask(project, "channel")
        assert terms(page) == [["pilot"]]
        about = [query["sql"] for query in queries if "projects_glossaryentry" in query["sql"]]
        assert len(about) == 1

    def test_a_project_that_is_gone_has_none(self, project, owner):
        factories.make_entry(project, "pilot")
        assert glossaries.names([project.pk])
        pk = project.pk
        delete_project(project=project, actor=owner)
        assert glossaries.names([pk]) == {}


def data(term: str) -> EntryData:
    return EntryData(
        term=term,
        key=key_of(term),
        reading=term,
        language="en",
        definition=f"What a {term} is.",
    )


class TestQueries:
    def test_as_many_for_a_page_of_results_as_for_one(self, project):
        for number in range(12):
            make_harbour(project, f"{number}.md")
        for name in ("pilot", "ship", "channel", "vessel", "buoy"):
            factories.make_entry(project, name)
        counts = []
        for limit in (1, 10):
            ask(project, "pilot", limit=limit)
            with CaptureQueriesContext(connection) as queries:
                page = ask(project, "pilot", limit=limit)
            assert len(page.results) == limit
            assert all(len(result.terms) == 5 for result in page.results)
            counts.append(len(queries))
        assert counts[0] == counts[1]


class TestEntry:
    @pytest.fixture
    def pilot(self, project):
        make_harbour(project)
        return factories.make_entry(
            project, "harbour pilot", definition="Guides ships.", aliases=["水先人"]
        )

    @pytest.mark.parametrize(
        "query",
        [
            "harbour pilot",
            "Harbor-Pilots",
            '"harbour pilot"',
            "What is a harbour pilot?",
            "define harbour pilot",
            "what does harbour pilot mean",
            "the meaning of harbour pilot",
            "水先人",
            "水先人とは",
            "水先人とは何ですか？",
            "水先人の意味",
        ],
    )
    def test_asked_for_by_its_name(self, project, pilot, query):
        entry = ask(project, query).entry
        assert entry is not None
        assert (entry.id, entry.definition) == (pilot.pk, "Guides ships.")

    @pytest.mark.parametrize(
        "query",
        [
            "pilot",
            "harbour pilot boat",
            "ships -harbour",
            "-水先人 港",
            "とは",
            '""',
            "?",
            "pilot " * 300,
        ],
    )
    def test_nothing_else_asks_for_it(self, project, pilot, query):
        assert ask(project, query).entry is None

    def test_also_where_no_document_is_found(self, project, pilot):
        page = ask(project, "水先人", include=("nowhere/",))
        assert (page.results, page.entry.id) == ([], pilot.pk)
        assert ask(project, "水先人").entry.id == pilot.pk

    def test_of_two_that_have_the_name_the_better_one(self, project):
        for term in ("basin", "quay"):
            factories.make_entry(project, term, aliases=["dock"])
        scored(project, quay=0.5, basin=0.2)
        assert ask(project, "dock").entry.term == "quay"

    def test_several_projects_have_no_one_answer(self, project, pilot, owner):
        other = factories.make_project("Elsewhere", owner=owner)
        both = SearchOptions(query="harbour pilot", project_ids=(project.pk, other.pk))
        assert search(both).entry is None


class TestSummary:
    @pytest.mark.parametrize(
        ("definition", "summary"),
        [
            ("One. Two.", "One."),
            ("Version 2.1 of it, e.g. this. Two.", "Version 2.1 of it, e.g. this."),
            ("港へ案内する人。夜も働く。", "港へ案内する人。"),
            ("no end\nat all", "no end at all"),
            ("", ""),
        ],
    )
    def test_the_first_sentence(self, definition, summary):
        assert summary_of(definition) == summary

    def test_never_long(self):
        assert len(summary_of("word " * 500)) <= SUMMARY_LENGTH


class TestPage:
    def page(self, client, project, **query) -> str:
        response = client.get(reverse("project-search", args=[project.pk]), query)
        assert response.status_code == 200
        return response.text

    def test_terms_lead_to_their_entries(self, reading, project):
        make_harbour(project)
        entry = factories.make_entry(project, "outer buoy", definition='A "mark" & more. Two.')
        page = self.page(reading, project, q="pilot")
        link = f'<a href="{entry.get_absolute_url()}" title="A &quot;mark&quot; &amp; more."'
        assert link in page
        assert 'aria-label="Terms in this result"' in page
        assert reading.get(entry.get_absolute_url()).status_code == 200

    def test_no_glossary_no_list(self, reading, project):
        make_harbour(project)
        assert "result-terms" not in self.page(reading, project, q="pilot")

    def test_the_definition_stands_above_the_results(self, reading, project):
        make_harbour(project)
        entry = factories.make_entry(project, "pilot", definition="Guides <ships>.")
        GlossaryEntry.objects.update(needs_review=True)
        page = self.page(reading, project, q="pilots")
        card = re.search(r'<section class="asked-entry".*?</section>', page, re.DOTALL)
        assert card
        assert card.start() < page.index('class="results"')
        assert "Guides &lt;ships&gt;." in card[0]
        assert f'href="{entry.get_absolute_url()}"' in card[0]
        assert "needs review" in card[0]
        assert "asked-entry" not in self.page(reading, project, q="basin")
        assert "asked-entry" not in self.page(reading, project, q="pilots", page="2")


class TestApi:
    @pytest.fixture
    def client(self, viewer):
        client = APIClient()
        _token, secret = create_token(user=viewer, name="tests")
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
        return client

    def test_programs_get_the_same(self, client, project, viewer):
        make_harbour(project)
        entry = factories.make_entry(
            project, "pilot", definition="Guides ships. Always.", aliases=["guide"]
        )
        address = f"/api/projects/{project.pk}/search"
        body = client.get(address, {"q": "guide", "mode": "lexical"}).json()
        short = {"id": entry.pk, "term": "pilot", "url": entry.get_absolute_url()}
        assert body["results"][0]["terms"] == [short]
        assert body["entry"] == {
            **short,
            "definition": "Guides ships. Always.",
            "aliases": ["guide"],
            "supported": True,
            "needsReview": False,
        }
        body = client.get(address, {"q": "basin", "mode": "lexical"}).json()
        assert (body["results"][0]["terms"], body["entry"]) == ([], None)
        factories.make_member(factories.make_project("Elsewhere"), Role.VIEWER, viewer)
        assert client.get("/api/search", {"q": "guide"}).json()["entry"] is None
