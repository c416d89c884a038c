"""How much meaning counts beside the words of a query."""

from itertools import pairwise

import pytest

from indexing.choices import Mode
from indexing.lexical.query import parse
from indexing.models import Section
from indexing.search import meaning
from indexing.search.mixing import Neighbours
from indexing.search.weighing import USUAL_SCORE, share_of_words, weighed, weight_for
from tests.indexing.working import ask, make_indexed

TEXT = """# Harbour

## Pilots

A pilot guides ships through the narrow channel. Masters of foreign vessels must take one on board
at the outer buoy, and may send him back only when the ship is made fast.

## Tides

High water lifts every vessel in the basin twice a day. The times are on the board beside the gate,
and the gate stays closed for two hours before and after the lowest level.
"""


@pytest.fixture
def pilots(project):
    make_indexed(project, "harbour.md", TEXT)
    return Section.objects.get(project=project, heading="Pilots")


def test_with_all_words_and_a_usual_score_the_weight_is_the_usual_one():
    assert weight_for(0.45, score=USUAL_SCORE, share=1.0) == pytest.approx(0.45)


def test_the_less_the_words_have_found_the_more_meaning_counts():
    by_score = [weight_for(0.45, score=score, share=0.0) for score in (1, 10, 20, 40, 80)]
    assert all(earlier > later for earlier, later in pairwise(by_score))
    assert by_score[0] > 0.9
    assert by_score[-1] < 0.25
    by_share = [weight_for(0.45, score=1, share=share) for share in (0.0, 0.5, 1.0)]
    assert all(earlier > later for earlier, later in pairwise(by_share))


@pytest.mark.parametrize("score", [0.0, 1e-6, 3.0, 500.0])
def test_a_section_with_all_words_is_not_outvoted(score):
    assert weight_for(0.45, score=score, share=1.0) <= 0.45


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("score", [0.0, 24.0, 500.0])
@pytest.mark.parametrize("usual", [0.15, 0.45, 0.7, 1.0])
def test_a_weight_stays_a_weight(usual, score, share):
    assert 0 < weight_for(usual, score=score, share=share) <= 1


@pytest.mark.parametrize(
    ("query", "share"),
    [
        ("pilot", 1.0),
        ("pilots ship", 1.0),
        ("harbour", 1.0),  # of the heading above it
        ("pilot tide", 0.5),
        ("anchor tide", 0.0),
        ('"outer buoy"', 1.0),
    ],
)
def test_the_share_of_the_words_that_a_section_has(pilots, query, share):
    assert share_of_words(parse(query), pilots.pk) == pytest.approx(share)


def test_a_word_that_is_being_typed_is_not_missing(pilots):
    assert share_of_words(parse("chan", typing=True), pilots.pk) == 1.0
    assert share_of_words(parse("anchor chan", typing=True), pilots.pk) == 0.0


def test_where_words_found_nothing_or_meaning_was_not_asked_nothing_is_weighed():
    near = [Neighbours({7: 0.9}, weight=0.45)]
    assert weighed(near, {}, parse("pilot")) == near
    assert weighed([], {7: 3.0}, parse("pilot")) == []


def test_a_word_comes_before_what_is_only_near(project, monkeypatch):
    """However few sections there are, and however little a word says among them."""
    make_indexed(project, "harbour.md", TEXT)
    pks = dict(Section.objects.filter(project=project).values_list("heading", "pk"))
    monkeypatch.setattr(
        meaning, "near", lambda *args, **options: {pks["Tides"]: 0.9, pks["Pilots"]: 0.1}
    )
    assert [each.heading for each in ask(project, "buoy").results] == ["Pilots", "Tides"]
    # Nothing of what the other words mean is in it.
    asked = ask(project, "when may nobody enter, says the buoy", mode=Mode.HYBRID)
    assert asked.results[0].heading == "Tides"
