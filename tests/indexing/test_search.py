"""The one search: what is found, how it is told, and that nothing breaks it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from glossary_site.errors import Refusal
from indexing.choices import Freshness, IndexStatus, Mode
from indexing.models import ProjectIndex
from indexing.search import meaning
from indexing.search.options import SearchOptions
from indexing.search.service import search
from indexing.services import requests
from indexing.vectors.cache import Newer
from projects.access import OPERATOR
from projects.services.documents import delete_documents, rename_document
from tests import factories
from tests.indexing.working import TEXT, ask, index, make_indexed, paths, take_one

JAPANESE = """# 港湾

港は船が休む場所である。二本の防波堤がうねりを防ぎ、灯台は一年を通して日暮れから夜明けまで灯る。

## 水先人

水先人は船を港へ案内する。島に住み、昼も夜も、求める船があれば小舟を漕いで迎えに行く。

## 潮汐

満潮は一日に二度、船を持ち上げる。干潮になると奥の船だまりは干上がり、動けるのは小舟だけになる。
"""
MODES = [Mode.HYBRID, Mode.LEXICAL, Mode.VECTOR]


@pytest.fixture
def harbour(project):
    make_indexed(project, "docs/harbour.md")
    make_indexed(project, "docs/港.md", JAPANESE)
    make_indexed(
        project,
        "notes/garden.md",
        "# Garden\n\nRoses want sun.\n\n## Compost\n\nLeaves and peelings rot into good soil.\n",
    )
    return project


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.LEXICAL])
def test_the_section_that_says_it_comes_first(harbour, mode):
    first = ask(harbour, "who guides ships into the harbour", mode=mode).results[0]
    assert (first.document_path, first.heading) == ("docs/harbour.md", "Pilots")
    assert first.heading_path == ("Harbour", "Pilots")
    assert first.number == "1.1"
    assert "guides" in TEXT.splitlines()[first.line_start : first.line_end][1]
    assert 0 < first.score <= 1


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.LEXICAL])
def test_japanese_is_found_by_its_words(harbour, mode):
    first = ask(harbour, "水先人の案内", mode=mode).results[0]
    assert (first.document_path, first.heading) == ("docs/港.md", "水先人")
    assert "<mark>案内</mark>" in first.snippet_html


def test_meaning_alone_finds_the_document(harbour):
    first = ask(harbour, "who guides ships into the harbour", mode=Mode.VECTOR).results[0]
    assert first.document_path == "docs/harbour.md"


def test_a_database_put_back_to_an_earlier_time_is_noticed(harbour):
    ask(harbour, "ships", mode=Mode.VECTOR)
    ProjectIndex.objects.update(generation=1)
    assert ask(harbour, "ships", mode=Mode.VECTOR).results


def test_matches_are_marked_and_everything_else_is_escaped(project):
    make_indexed(project, "a.md", "# A\n\nA <b>pilot</b> & 1 < 2 > 0 ships.\n")
    result = ask(project, "pilots").results[0]
    assert "<mark>pilot</mark>" in result.snippet_html
    assert "&amp; 1 &lt; 2 &gt; 0" in result.snippet_html


def test_scores_fall_and_pages_follow_each_other(harbour):
    whole = ask(harbour, "ship harbour soil", limit=10)
    scores = [result.score for result in whole.results]
    assert scores == sorted(scores, reverse=True)
    parts = [
        result
        for offset in range(0, len(whole.results), 2)
        for result in ask(harbour, "ship harbour soil", limit=2, offset=offset).results
    ]
    assert [r.section_id for r in parts] == [r.section_id for r in whole.results]


def test_a_phrase_is_found_as_it_stands_whatever_the_meaning(harbour):
    page = ask(harbour, '"guides ships"')
    assert [result.heading for result in page.results] == ["Pilots"]
    assert ask(harbour, '"ships guides"').results == []


def test_an_exclusion_holds_for_meaning_too(harbour):
    page = ask(harbour, "harbour ships -pilot")
    assert page.results
    assert all("pilot" not in result.snippet.lower() for result in page.results)


@pytest.mark.parametrize("mode", MODES)
def test_who_did_not_mean_the_signs_is_told(harbour, mode):
    """`ls -la` is a command, and a copied title has its quotation marks."""
    assert "minus" in ask(harbour, "harbour -pilot", mode=mode).notices[0]
    missed = ask(harbour, '"ships of the night"', mode=mode)
    assert missed.results == []
    assert "quotation marks" in missed.notices[0]
    for plain in ('"guides ships"', "harbour --pilot", "harbour"):
        assert ask(harbour, plain, mode=mode).notices == [], plain


def test_the_word_somebody_is_typing_may_go_on(harbour):
    assert paths(ask(harbour, "compo", mode=Mode.LEXICAL)) == []
    assert paths(ask(harbour, "compo", mode=Mode.LEXICAL, typing=True)) == ["notes/garden.md"]
    assert paths(ask(harbour, "compo*", mode=Mode.LEXICAL)) == ["notes/garden.md"]


@pytest.mark.parametrize("mode", MODES)
def test_paths_are_taken_in_and_left_out(harbour, mode):
    options = {"mode": mode, "limit": 50}
    every = set(paths(ask(harbour, "ship soil harbour", **options)))
    assert "docs/harbour.md" in every
    assert "notes/garden.md" in every
    assert set(paths(ask(harbour, "ship soil harbour", include=("docs/",), **options))) <= {
        "docs/harbour.md",
        "docs/港.md",
    }
    left = set(paths(ask(harbour, "ship soil harbour", exclude=("docs/",), **options)))
    assert left == {"notes/garden.md"}
    assert paths(ask(harbour, "ship", include=("nowhere/",), **options)) == []


def test_a_section_answers_for_those_below_it(harbour):
    page = ask(harbour, "pilot tide", depths=(1,), include=("docs/harbour.md",))
    (only,) = page.results
    assert (only.heading, only.depth, only.number) == ("Harbour", 1, "1")
    # It is the passage that is shown, not the heading above it.
    assert "pilot" in only.snippet.lower() or "tide" in only.snippet.lower()

    seconds = ask(harbour, "pilot tide", depths=(2,), include=("docs/harbour.md",)).results
    assert {result.heading for result in seconds} == {"Pilots", "Tides"}
    (document,) = ask(harbour, "pilot tide", depths=(0,), include=("docs/harbour.md",)).results
    assert (document.heading, document.depth) == ("", 0)


def test_several_depths_choose_the_nearest(harbour):
    page = ask(harbour, "pilot tide ships rest", depths=(1, 2), include=("docs/harbour.md",))
    assert {result.heading for result in page.results} == {"Harbour", "Pilots", "Tides"}


def test_parts_of_a_long_section_are_one_answer(project, settings):
    settings.SECTION_MAX_TOKENS, settings.SECTION_OVERLAP_TOKENS = 60, 0
    body = "\n\n".join(f"The anchor holds ship number {n} in the storm." for n in range(40))
    document = make_indexed(project, "a.md", f"# Anchors\n\n{body}\n")
    assert document.sections.count() > 3
    assert len(ask(project, "anchor").results) == 1


def test_how_fresh_it_is(project):
    make_indexed(project, "a.md")
    result = ask(project, "pilot").results[0]
    assert (result.index_status, result.is_latest) == (IndexStatus.LATEST, True)

    document = factories.make_document(project, "a.md", TEXT + "\nMore.\n")
    result = ask(project, "pilot").results[0]
    assert result.index_status == IndexStatus.UPDATING
    assert (result.is_latest, result.has_pending_update) == (False, True)
    assert result.document_hash != document.file_hash

    requests.fail(take_one(project), "No sense in it.")
    result = ask(project, "pilot").results[0]
    assert result.index_status == IndexStatus.OUTDATED
    assert (result.is_latest, result.has_pending_update) == (False, False)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("freshness", [Freshness.LATEST_ONLY, Freshness.COMPLETED_ONLY])
def test_only_what_is_up_to_date(project, mode, freshness):
    make_indexed(project, "still.md")
    make_indexed(project, "moving.md", TEXT + "\nPilots again.\n")
    factories.make_document(project, "moving.md", TEXT + "\nPilots once more.\n")

    fresh = {"mode": mode, "freshness": freshness, "limit": 50}
    assert set(paths(ask(project, "pilot", mode=mode, limit=50))) == {"still.md", "moving.md"}
    assert set(paths(ask(project, "pilot", **fresh))) == {"still.md"}
    requests.fail(take_one(project), "No sense in it.")
    assert set(paths(ask(project, "pilot", **fresh))) == {"still.md"}


@pytest.mark.parametrize("mode", MODES)
def test_what_is_gone_is_not_found_and_what_moved_is_found_where_it_is(harbour, mode):
    garden = harbour.documents.get(path="notes/garden.md")
    rename_document(document=garden, path="yard.md", actor=OPERATOR)
    assert paths(ask(harbour, "compost soil", mode=mode))[0] == "yard.md"
    delete_documents(project=harbour, ids=[garden.pk], actor=OPERATOR)
    assert "yard.md" not in paths(ask(harbour, "compost soil", mode=mode))


def test_other_projects_stay_out_and_several_may_be_asked_at_once(harbour):
    other = factories.make_project()
    make_indexed(other, "other.md")
    assert "other.md" not in paths(ask(harbour, "pilot", limit=50))
    both = search(SearchOptions(query="pilot", project_ids=(harbour.pk, other.pk), limit=50))
    assert {"other.md", "docs/harbour.md"} <= set(paths(both))
    assert {result.project_id for result in both.results} == {harbour.pk, other.pk}


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        '"',
        "''",
        '"unfinished phrase',
        "AND OR NOT NEAR(",
        "a:b ^c {d} [e] f*",
        "-",
        "-pilot",
        "* *",
        "🚢🌊",
        "\x00",
        "ship" * 3000,
        "ship " * 3000,
        "%_'; DROP TABLE indexing_section; --",
        "(((((((((",
        "「」『』",
        "\u202e\ufeff",
    ],
    ids=lambda query: repr(query[:20]),
)
@pytest.mark.parametrize("mode", MODES)
def test_no_query_breaks_it(harbour, query, mode):
    page = ask(harbour, query, mode=mode)
    assert len(page.results) <= 10


@pytest.mark.parametrize("pattern", ["!", "[z-a]", "\\"])
def test_a_pattern_that_is_none_is_refused(harbour, pattern):
    with pytest.raises(Refusal) as refusal:
        ask(harbour, "ship", include=(pattern,))
    assert refusal.value.code == "bad_pattern"


def test_nothing_to_look_for_is_said(harbour):
    page = ask(harbour, "  ")
    assert (page.results, page.total) == ([], 0)


@pytest.mark.parametrize("options", [{"limit": 0}, {"limit": 1000}, {"offset": -1}])
def test_nonsense_numbers_are_refused(harbour, options):
    with pytest.raises(Refusal):
        ask(harbour, "ship", **options)


def test_without_an_embedder_the_words_decide(harbour, settings):
    settings.EMBEDDER = "none"
    assert paths(ask(harbour, "who guides ships"))[0] == "docs/harbour.md"
    page = ask(harbour, "who guides ships", mode=Mode.VECTOR)
    assert page.results == []
    assert page.notices


@pytest.mark.parametrize("mode", MODES)
def test_the_number_of_statements_does_not_grow_with_the_results(project, mode):
    for n in range(3):
        make_indexed(project, f"{n}.md")
    ask(project, "pilot harbour", mode=mode)
    few = statements(project, mode)
    for n in range(3, 12):
        make_indexed(project, f"{n}.md")
    ask(project, "pilot harbour", mode=mode)
    assert statements(project, mode) == few


def statements(project, mode) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert ask(project, "pilot harbour", mode=mode, limit=50).results
    return len(queries)


def test_a_project_without_an_index_is_no_trouble(project):
    assert not ProjectIndex.objects.exists()
    assert ask(project, "pilot").results == []
    index(project)


def test_vectors_that_are_always_ahead_leave_the_words(project, monkeypatch):
    """While much is written, others may bring the vectors at hand up to date before every look."""
    make_indexed(project, "a.md")

    def ahead(*args, **options):
        raise Newer

    monkeypatch.setattr(meaning, "near", ahead)
    page = ask(project, "pilot")
    assert paths(page)[:1] == ["a.md"]
    assert "changing" in page.notices[0]
