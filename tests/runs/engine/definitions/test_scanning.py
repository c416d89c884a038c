"""Finding many spellings at once, whatever they are."""

from runs.engine.definitions.scanning import Scanner
from runs.engine.definitions.spelling import Subject
from tests.runs.engine.definitions.made import a_term


def found(text: str, *terms: str) -> set[tuple[int, int]]:
    scanner = Scanner([Subject(a_term(term)) for term in terms])
    return {(match.start, match.end) for match in scanner.matches(text)}


def test_a_spelling_of_any_length():
    long = "a very " * 1000 + "long name"
    assert (4, 4 + len(long)) in found(f"The {long} is one.", long, "name")


def test_spellings_that_begin_one_another():
    """Each is one letter longer than the one before; the longest is found, and those within."""
    terms = ["弁" * count for count in range(1, 1001)]
    places = found("弁" * 200, *terms)
    assert places == {(start, end) for start in range(200) for end in range(start + 1, 201)}
