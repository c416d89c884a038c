"""Terms that people require are found as they are spelt, whatever kind of words they are."""

import pytest

from runs.engine.counting import counted
from runs.pipeline.data import Candidate, Occurrence, SourceDocument

TEXT = "# Mooring\n\nMake fast, then make\nfast again.\n\n蓄電池を使う。\n"


def candidate(text: str, **fields) -> Candidate:
    given = {"language": "en", "frequency": 0, "document_count": 0, **fields}
    return Candidate(text=text, key=text, reading=text, score=0.0, **given)


def documents() -> list[SourceDocument]:
    return [SourceDocument(id=7, path="a.md", file_hash="0", text=TEXT)]


def test_a_verb_is_counted_with_its_lines():
    (found,) = counted([candidate("make fast")], documents())
    assert (found.frequency, found.document_count) == (2, 1)
    assert found.occurrences == (Occurrence(7, 3, 2),)


@pytest.mark.parametrize("end", ["\r", "\r\n"])
def test_lines_may_end_in_every_way(end):
    text = TEXT.replace("\n", end)
    (found,) = counted([candidate("make fast")], [SourceDocument(7, "a.md", "0", text)])
    assert found.occurrences == (Occurrence(7, 3, 2),)


def test_not_within_another_word():
    (found,) = counted([candidate("電池", language="ja")], documents())
    assert (found.frequency, found.occurrences) == (0, ())


def test_what_was_found_stays_as_it_was():
    before = candidate("mooring", frequency=9)
    assert counted([before, candidate("tide")], documents())[0] is before
