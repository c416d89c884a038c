"""What both languages hand over: words that may be part of a term, and phrases made of them."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

# A term has at most this many words (in Japanese, morphemes).
MOST_WORDS = 5
# A phrase may be longer: terms are looked for in its windows.
LONGEST_PHRASE = 10


class Sort(StrEnum):
    """What a word may do in a term. One letter each: they are stored with every word."""

    NOUN = "n"
    ADJECTIVE = "a"
    PARTICIPLE = "v"
    GERUND = "g"
    NUMBER = "d"
    PREFIX = "x"
    SUFFIX = "s"
    # Names: of no known kind, of people, of places, of organisations.
    NAME = "N"
    PERSON = "P"
    PLACE = "L"
    ORGANISATION = "O"
    # Only as part of a phrase that its author marked: "in-tree", "deprecated", "to fork".
    OTHER = "o"


NAMES = frozenset({Sort.NAME, Sort.PERSON, Sort.PLACE, Sort.ORGANISATION})
_MAY_BEGIN = NAMES | {Sort.NOUN, Sort.ADJECTIVE, Sort.PARTICIPLE, Sort.GERUND, Sort.PREFIX}
_MAY_END = NAMES | {Sort.NOUN, Sort.SUFFIX}


class Word(NamedTuple):
    """`surface` begins with the space or dot that parts it from the word before, if any does."""

    surface: str
    sort: Sort


class Phrase(NamedTuple):
    """A run of words as long as it goes, and where it stands in its block."""

    words: tuple[Word, ...]
    place: int
    # Where each word begins, for its line and its marks.
    places: tuple[int, ...]
    end: int
    language: str
    # Its case says nothing: it begins a sentence.
    begins_sentence: bool = False


def text_of(words: Sequence[Word]) -> str:
    return "".join(word.surface for word in words).lstrip(" ・\u00b7")


def windows(sorts: Sequence[Sort]) -> Iterator[tuple[int, int]]:
    """The parts of a phrase that are terms by their sorts of words, as slices; itself too."""
    for start, first in enumerate(sorts):
        if first not in _MAY_BEGIN:
            continue
        for end in range(start + 1, min(start + MOST_WORDS, len(sorts)) + 1):
            last = sorts[end - 1]
            if last in _MAY_END or _is_named_activity(sorts, start, end):
                yield start, end


def _is_named_activity(sorts: Sequence[Sort], start: int, end: int) -> bool:
    """ "Load balancing" and, with a number, "layer 2": never alone."""
    return end - start > 1 and sorts[end - 1] in (Sort.GERUND, Sort.NUMBER)
