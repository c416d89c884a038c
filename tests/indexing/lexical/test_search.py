"""Finding: the same on both databases, because both are compared with the same plain BM25."""

import random
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexing.lexical import search
from indexing.lexical.query import Query, parse
from indexing.lexical.search import Found, find
from indexing.models import Section
from tests import factories
from tests.indexing.lexical.corpus import add, bm25
from tests.indexing.lexical.test_query import QUERIES

pytestmark = pytest.mark.django_db

ENGLISH = "harbour lighthouse keeper storm signal chart tide current vessel anchor pilot buoy"
JAPANESE = "灯台 港 船 潮 海図 信号 検索 設定 文書 用語 定義 索引 会議 手順"
WORDS = [*ENGLISH.split(), *JAPANESE.split()]


def ask(text: str, project, *, limit: int = 50, documents=None, typing: bool = False) -> Found:
    query = parse(text, typing=typing)
    return find(query, project_ids=[project.pk], documents=documents, limit=limit)


@pytest.fixture
def library(project):
    """Texts in which some words are much more frequent than others."""
    chance = random.Random(4)
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    for _ in range(12):
        add(
            project,
            *(
                (
                    " ".join(chance.choices(WORDS, weights, k=chance.randint(0, 3))),
                    " ".join(chance.choices(WORDS, weights, k=chance.randint(3, 60))),
                )
                for _ in range(8)
            ),
        )
    return list(Section.objects.filter(project=project))


@pytest.mark.parametrize(
    "text",
    [
        "harbour",
        "buoy 手順",
        "灯台の設定",
        "storm signal 海図",
        "harbour lighthouse keeper storm",
        "anchor pilot buoy 灯台 港 船 潮 海図 信号 検索",
        "signal nowhere",
    ],
)
def test_scores_are_those_of_plain_bm25(project, library, text):
    expected = bm25(library, parse(text).words)
    result = ask(text, project, limit=1000)
    assert result.scores == pytest.approx(expected, rel=1e-9)
    assert result.total == len(expected)
    assert result.exact
    assert all(one >= other for one, other in pairwise(result.scores.values()))
    best = ask(text, project, limit=7)
    assert list(best.scores) == list(result.scores)[:7]
    assert best.total == result.total


def test_inflections_and_spellings(project):
    run, server = add(project, "She was running two studies.", "検索サーバーの設定")
    assert set(ask("run study", project).scores) == {run}
    assert set(ask("ｻｰﾊﾞ", project).scores) == {server}


def test_headings_weigh_more(project):
    text, heading, _ = add(
        project, ("Notes", "the tide comes"), ("Tide", "the notes come"), "something else here"
    )
    add(project, *["unrelated words in here"] * 5)
    assert list(ask("tide", project).scores) == [heading, text]


def test_phrases_have_to_be_there(project):
    both, turned, split, headed = add(
        project,
        "full text search is here",
        "the search text is full",
        "full of text. Search it",
        ("Full text", "nothing more"),
    )
    assert set(ask('"full text"', project).scores) == {both, headed}
    assert set(ask("full text", project).scores) == {both, turned, split, headed}
    assert set(ask('"text search" full', project).scores) == {both, split}
    assert set(ask('"full text" "search is"', project).scores) == {both}
    assert ask('"full text"', project).total == 2
    assert not ask('"is full text"', project).scores
    # Neither across the border of heading and text, nor over a part of a word.
    assert not ask('"text nothing"', project).scores
    assert not ask('"ull text"', project).scores


def test_phrases_in_japanese(project):
    here, _there = add(project, "形態素解析を行う。", "解析する形態の素")
    assert set(ask("「形態素解析」", project).scores) == {here}


def test_a_phrase_of_one_word_has_to_be_there_too(project):
    both, _ = add(project, "harbour tide", "harbour")
    assert set(ask('harbour "tide"', project).scores) == {both}


def test_a_phrase_with_signs_of_patterns(project):
    percent, _other = add(project, "a_b c++ x", "axb cxx x")
    assert set(ask('"a_b"', project).scores) == {percent}
    assert set(ask('"c++ x"', project).scores) == {percent}


def test_beginnings(project):
    configure, config, _other = add(project, "configuration", "config files", "confirm nothing")
    assert set(ask("config*", project).scores) == {configure, config}
    assert not ask("onfig*", project).scores
    assert set(ask("confi", project, typing=True).scores) >= {configure, config}
    assert not ask("confi", project).scores


def test_beginnings_in_japanese(project):
    search_, _ = add(project, "全文検索の索引", "港の灯台")
    for typed in ("全", "全文", "全文検", "全文検索", "全文検索の索"):
        assert search_ in ask(typed, project, typing=True).scores
    assert set(ask("索*", project).scores) == {search_}


def test_half_a_word_finds_what_the_word_will_find(project):
    (section,) = add(project, "studies of running water")
    for typed in ("studie", "studyin", "runni", "runnin"):
        assert set(ask(typed, project, typing=True).scores) == {section}


def test_a_beginning_counts_as_one_word(project):
    """Sections with several words that begin so are found once, and the hits are added up."""
    many, one = add(project, "port ports portal portal", "port and three more")
    add(project, *["unrelated words in here"] * 8)
    result = ask("port*", project)
    assert list(result.scores) == [many, one]
    assert result.total == 2


def test_exclusions(project):
    keep, _draft, _old = add(project, "tide table", "tide draft", "tide in the old text")
    assert set(ask('tide -draft -"old text"', project).scores) == {keep}
    assert ask('tide -draft -"old text"', project).total == 1
    assert not ask("-draft", project).scores


def test_only_the_given_projects(project):
    (mine,) = add(project, "tide")
    other = factories.make_project("Other")
    (theirs,) = add(other, "tide")
    third = factories.make_project("Third")
    add(third, "tide")
    query = parse("tide ti* ")
    assert set(find(query, project_ids=[project.pk], documents=None, limit=9).scores) == {mine}
    both = find(query, project_ids=[project.pk, other.pk], documents=None, limit=9)
    assert set(both.scores) == {mine, theirs}
    assert both.total == 2
    # The same text is worth the same wherever it is.
    assert both.scores[mine] == both.scores[theirs]
    assert find(query, project_ids=[], documents=None, limit=9) == Found({}, 0, True)
    phrase = parse('"tide"')
    assert set(find(phrase, project_ids=[other.pk], documents=None, limit=9).scores) == {theirs}


def test_projects_whose_numbers_begin_alike_are_apart(db):
    """1 and 12: the terms of one are not the beginnings of the other's."""
    projects = [factories.make_project() for _ in range(11)]
    sections = {each.pk: add(each, "tide")[0] for each in projects}
    for each in projects:
        assert set(ask("ti*", each).scores) == {sections[each.pk]}


def test_only_the_given_documents(project):
    first, second = add(project, "tide")[0], add(project, "tide")[0]
    document = Section.objects.get(pk=first).document_id
    assert set(ask("tide", project, documents=[document]).scores) == {first}
    assert ask("tide", project, documents=[document]).total == 1
    assert not ask("tide", project, documents=[]).scores
    thousands = [*range(100_000, 140_000), document]
    assert set(ask("tide", project, documents=thousands).scores) == {first}
    assert second not in ask("tide", project, documents=thousands).scores


def test_empty_projects_and_queries(project):
    assert ask("tide", project) == Found({}, 0, True)
    add(project, "…")
    assert ask("tide", project) == Found({}, 0, True)
    assert ask("", project) == Found({}, 0, True)


def test_long_queries_use_the_rarest_words(project):
    words = [f"word{number}x" for number in range(30)]
    for number in range(len(words)):
        add(project, " ".join(words[number:]))
    result = ask(" ".join(words), project)
    assert len(result.notices) == 1
    assert not result.exact
    # The first words are the rarest; the last section has none of the sixteen that are left.
    assert result.total == 16
    assert ask(" ".join(words[:16]), project).notices == []


def test_too_frequent_words_are_left_out_beside_rarer_ones(project, monkeypatch):
    monkeypatch.setattr(search, "MOST_POSTINGS", 5)
    common = add(project, *["common text"] * 6)
    (rare,) = add(project, "rare and common")
    both = ask("rare common", project)
    assert set(both.scores) == {rare}
    assert not both.exact
    # Alone it is looked for all the same.
    alone = ask("common", project)
    assert set(alone.scores) == {*common, rare}
    assert alone.exact


def test_frequent_words_are_counted_anew_when_much_was_added(project, monkeypatch):
    monkeypatch.setattr(search, "_FREQUENT", 1)
    add(project, "tide", "other")
    assert ask("tide", project).total == 1
    add(project, *["tide"] * 9)
    assert ask("tide", project).total == 10


def test_broad_beginnings_and_phrases_are_bounded(project, monkeypatch):
    monkeypatch.setattr(search, "MOST_PREFIX_POSTINGS", 4)
    add(project, *["tide"] * 9)
    result = ask("ti*", project)
    assert 0 < result.total <= 4
    assert not result.exact


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=QUERIES, typing=st.booleans())
def test_no_query_breaks(project, text, typing):
    if not Section.objects.filter(project=project).exists():
        add(project, ("word 検索", "a word and another, x:y 検索 AND OR NOT"))
    result = ask(text, project, typing=typing)
    assert result.total == len(result.scores)


@pytest.mark.parametrize("piece", ['"', "検索", "(", "a* ", '-"x" ', "😀"])
def test_ten_thousand_characters(project, piece):
    add(project, "検索 a x")
    text = piece * (10_000 // len(piece))
    assert ask(text, project, typing=True).total <= 1


def test_a_query_made_by_hand(project):
    (section,) = add(project, "tide")
    query = Query(text="tide", language="en", words=("tide",))
    assert set(find(query, project_ids=[project.pk], documents=None, limit=1).scores) == {section}


def test_what_a_third_of_many_sections_have_is_not_looked_for_beside_rarer_words(
    project, monkeypatch
):
    monkeypatch.setattr(search, "_FREQUENT", 4)
    sections = add(project, *(f"tide {word}" for word in ("anchor", "buoy", "chart", "keeper")))

    found = ask("tide anchor", project)
    assert list(found.scores) == sections[:1]
    assert not found.exact
    assert set(ask("tide", project).scores) == set(sections)
