"""Whatever the engine does for many terms or a long text asks now and then whether to go on."""

from collections.abc import Callable

import pytest

from runs.engine.counting import counted
from runs.engine.definitions import ContextFinder, relations, scanning
from runs.engine.definitions.scanning import Scanner
from runs.engine.definitions.spelling import Subject
from runs.engine.terms import analyse, rank
from runs.engine.terms.gathering import AT_A_TIME, candidates_of, totals_of
from runs.pipeline.data import Term, TermLists
from runs.pipeline.generate import requests
from tests.runs.engine.definitions.made import a_term, documents

NAMES = [
    f"{colour}{number} valve" for colour in ("amber", "blue", "green") for number in range(500)
]
JAPANESE = [f"{kind}{number}弁" for kind in ("主", "副") for number in range(100)]
TEXT = "".join(f"The {name} is a part. Each {name} opens.\n\n" for name in NAMES)
TEXT += "".join(f"{name}とは、部品である。\n\n" for name in JAPANESE)
TERMS = [a_term(name) for name in NAMES[:40]]


class Asked:
    """A check that counts, and raises when it is asked for the last time."""

    def __init__(self, last: int = 0) -> None:
        self.times = 0
        self._last = last

    def __call__(self) -> None:
        assert not self._last or self.times < self._last, "It went on although it was stopped."
        self.times += 1
        if self.times == self._last:
            raise TimeoutError


def ranked(check: Asked) -> None:
    rank({1: analyse(TEXT)}, lists=TermLists(), limit=100, check=check)


def looked_for(check: Asked) -> None:
    (required, *_rest) = rank({}, lists=TermLists(required={"valve": "valve"}))
    counted([required], documents(TEXT * 4), check=check)


def found(check: Asked) -> None:
    finder = ContextFinder(documents(TEXT * 4), check=check)
    relations(TERMS, finder)


def asked_about(check: Asked) -> None:
    finder = ContextFinder(documents(TEXT), check=check)
    list(requests(TERMS, finder, language="en", builtin=False))


@pytest.mark.parametrize("work", [ranked, looked_for, found, asked_about])
def test_it_stops_whenever_it_is_told(work: Callable[[Asked], None]) -> None:
    whole = Asked()
    work(whole)
    for last in {1, 2, whole.times // 2, whole.times}:
        check = Asked(last)
        with pytest.raises(TimeoutError):
            work(check)
        assert check.times == last


def test_ranking_asks_for_every_few_candidates() -> None:
    analyses = {1: analyse(TEXT)}
    totals = totals_of(analyses)
    candidates = len(candidates_of(totals))
    whole = Asked()
    rank(analyses, lists=TermLists(), limit=0, check=whole)
    # Phrases: gathered, cut up, counted; candidates: compared, merged, scored.
    assert whole.times >= 3 * (len(totals) // AT_A_TIME + candidates // AT_A_TIME) > 6


def test_one_long_document_is_looked_through_in_pieces() -> None:
    whole = Asked()
    ContextFinder(documents(TEXT * 8), check=whole).prepare(TERMS)
    assert whole.times > len(TEXT) * 8 / scanning.CHARACTERS_AT_A_TIME


@pytest.mark.parametrize("piece", ["The amber valve opens. ", "主弁とは部品である。", "`fork` "])
def test_one_long_paragraph_is_read_in_pieces(piece: str) -> None:
    whole, twice = Asked(), Asked()
    analyse(piece * 2000, check=whole)
    analyse(piece * 4000, check=twice)
    assert twice.times >= 2 * whole.times - 10 > 20
    check = Asked(whole.times - 1)
    with pytest.raises(TimeoutError):
        analyse(piece * 2000, check=check)


def test_every_term_that_gets_a_request_asks() -> None:
    """Also where requests are written late: short ones wait for others to share one with."""
    finder = ContextFinder(documents(TEXT), check=(check := Asked()))
    finder.prepare(TERMS)
    before = check.times
    list(requests(TERMS, finder, language="en", builtin=False))
    assert check.times - before >= len(TERMS)


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_text_that_is_cut_has_the_same_matches(size: int, monkeypatch) -> None:
    terms = [*TERMS, a_term("valve"), a_term("弁"), a_term("副7弁"), Term("A7", "a7", "en", "a7")]
    scanner = Scanner(map(Subject, terms))
    text = TEXT[:3000] + TEXT[-3000:] + "amber1\n\nvalve A7."
    whole = list(scanner.matches(text))
    monkeypatch.setattr(scanning, "CHARACTERS_AT_A_TIME", size)
    assert sorted(scanner.matches(text)) == sorted(whole)
    assert len(whole) > 40
