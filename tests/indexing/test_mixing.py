"""Words and meaning in one order."""

from itertools import pairwise

import pytest

from indexing.search.mixing import Neighbours, mix

WORDS = {1: 12.0, 2: 6.0, 3: 3.0}


def order(scores):
    return sorted(scores, key=lambda pk: -scores[pk])


def test_words_alone_keep_their_order_and_go_up_to_one():
    scores = mix(WORDS, [])
    assert scores == {1: 1.0, 2: 0.5, 3: 0.25}


def test_meaning_alone_keeps_its_order_and_goes_up_to_one():
    scores = mix({}, [Neighbours({7: 0.81, 8: 0.79, 9: 0.8}, weight=1.0)])
    assert order(scores) == [7, 9, 8]
    assert scores[7] == pytest.approx(1.0)


def test_nothing_found_is_nothing():
    assert mix({}, []) == {}
    assert mix({}, [Neighbours({}, weight=0.5)]) == {}


@pytest.mark.parametrize(
    "neighbours",
    [
        [],
        [Neighbours({}, weight=0.5)],
        [Neighbours({3: 0.9, 4: 0.8}, weight=0.0)],
    ],
)
def test_without_a_say_for_meaning_the_words_decide(neighbours):
    assert mix(WORDS, neighbours) == mix(WORDS, [])


def test_what_both_found_comes_before_what_one_of_them_found():
    scores = mix({1: 5.0, 2: 5.0}, [Neighbours({2: 0.6, 3: 0.6, 4: 0.2}, weight=0.5)])
    assert order(scores)[0] == 2
    assert scores[2] == pytest.approx(1.0)


def test_the_more_weight_the_further_up_what_is_near():
    near = {3: 0.9, 1: 0.3, 2: 0.3}
    places = [
        order(mix(WORDS, [Neighbours(near, weight=weight)])).index(3)
        for weight in (0.1, 0.3, 0.5, 0.9)
    ]
    assert places[0] == 2
    assert places[-1] == 0
    assert all(later <= earlier for earlier, later in pairwise(places))


def test_how_near_an_embedder_puts_everything_does_not_matter():
    wide = {1: 0.1, 2: 0.9, 3: 0.5}
    narrow = {pk: 0.85 + cosine / 10 for pk, cosine in wide.items()}
    one = mix(WORDS, [Neighbours(wide, weight=0.4)])
    other = mix(WORDS, [Neighbours(narrow, weight=0.4)])
    assert one == pytest.approx(other)


def test_a_weak_neighbour_without_the_words_does_not_displace_them():
    near = dict.fromkeys(WORDS, 0.5) | {9: 0.52, 8: 0.1}
    scores = mix(WORDS, [Neighbours(near, weight=0.15)])
    assert order(scores)[0] == 1
    assert scores[9] < scores[2]


@pytest.mark.parametrize("cosine", [-0.2, 0.0, 0.7])
def test_neighbours_that_are_all_as_near_change_no_order(cosine):
    near = dict.fromkeys(WORDS, cosine)
    assert order(mix(WORDS, [Neighbours(near, weight=0.5)])) == order(mix(WORDS, []))


def test_words_that_score_nothing_are_found_all_the_same():
    # A word in every section has next to no weight.
    assert set(mix({1: 0.0, 2: 0.0}, [])) == {1, 2}


def test_projects_with_embedders_of_their_own_are_in_one_order():
    words = {1: 4.0, 2: 4.0}
    scores = mix(
        words,
        [Neighbours({1: 0.9, 5: 0.1}, weight=0.4), Neighbours({2: 0.3, 6: 0.2}, weight=0.1)],
    )
    assert order(scores)[:2] == [1, 2]
    assert all(0 <= score <= 1 for score in scores.values())


@pytest.mark.parametrize("weight", [0.0, 0.15, 0.45, 0.7, 1.0])
def test_scores_stay_between_nothing_and_one(weight):
    near = {1: -0.3, 4: 0.95, 5: 0.2}
    assert all(0 <= each <= 1 for each in mix(WORDS, [Neighbours(near, weight=weight)]).values())
