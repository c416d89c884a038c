"""Finding many spellings in a text at once."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, takewhile
from operator import itemgetter
from typing import NamedTuple

from glossary_site.checking import Check
from indexing.lexical.analysis import JAPANESE
from runs.engine.definitions.spelling import SPACES, Subject, folded, in_capitals, stands_alone

# Compiling takes as long as there are spellings; scanning hardly grows with them.
SPELLINGS_AT_A_TIME = 4000
# Characters of a text that are looked through between two checks; and how far beyond them a term
# may end that begins there, however many spaces are between its words.
CHARACTERS_AT_A_TIME = 50_000
REACH = 2_000
# Places at which spellings part, one after the other, that an expression is made of: it is compiled
# by functions that call themselves.
DEEPEST = 50
JAPANESE_FIRST = re.compile(f"[{JAPANESE}]")


class Match(NamedTuple):
    start: int
    end: int
    # The number of the subject.
    subject: int
    # False: it is part of a longer word.
    alone: bool


class Scanner:
    """Made once for the subjects, then asked for each text. `check` is called often, and may raise
    what ends it early."""

    def __init__(self, subjects: Iterable[Subject], *, check: Check = bool) -> None:
        self._check = check
        self._subjects: dict[str, list[int]] = {}
        self._acronyms: set[tuple[str, int]] = set()
        for number, subject in enumerate(subjects):
            for spelling in subject.spellings:
                self._subjects.setdefault(spelling, []).append(number)
                if spelling in subject.acronyms:
                    self._acronyms.add((spelling, number))
        # Those that begin another one are found together with it.
        self._beginnings = {
            spelling: [spelling[:n] for n in range(1, len(spelling) + 1) if self._has(spelling[:n])]
            for spelling in self._subjects
        }
        self._expressions = list(_expressions(sorted(self._subjects)))

    def _has(self, spelling: str) -> bool:
        return spelling in self._subjects

    def named(self, names: Iterable[str]) -> set[int]:
        """The subjects that have one of these (folded) names."""
        return {number for name in names for number in self._subjects.get(name, ())}

    def matches(self, text: str) -> Iterator[Match]:
        """Everywhere that a subject stands in a text."""
        plain = folded(text)
        is_ascii = plain.isascii()
        for expression, is_japanese in self._expressions:
            if is_japanese and is_ascii:
                continue
            for found in self._found(expression, plain):
                start = found.start(1)
                longest = SPACES.sub(" ", found[1])
                for spelling in self._beginnings[longest]:
                    end = found.end(1)
                    if spelling != longest:
                        end = _end(plain, start, spelling)
                    yield from self._checked(text, start, end, spelling)

    def _found(self, expression: re.Pattern[str], plain: str) -> Iterator[re.Match[str]]:
        """A match begins at its place and takes nothing, so a text can be cut anywhere."""
        for first in range(0, len(plain), CHARACTERS_AT_A_TIME):
            self._check()
            end = first + CHARACTERS_AT_A_TIME
            for found in expression.finditer(plain, first, end + REACH):
                if found.start() >= end:
                    break
                yield found

    def _checked(self, text: str, start: int, end: int, spelling: str) -> Iterator[Match]:
        alone = stands_alone(text, start, end)
        if alone is None:
            return
        for number in self._subjects[spelling]:
            if (spelling, number) in self._acronyms and not in_capitals(text[start:end]):
                continue
            yield Match(start, end, number, alone)


def _end(plain: str, start: int, spelling: str) -> int:
    """Where a spelling ends whose spaces may be several in the text."""
    position = start
    for character in spelling:
        if character == " ":
            while plain[position] == " ":
                position += 1
        else:
            position += 1
    return position


def _expressions(spellings: list[str]) -> Iterator[tuple[re.Pattern[str], bool]]:
    for is_japanese in (False, True):
        chosen = [each for each in spellings if bool(JAPANESE_FIRST.match(each)) == is_japanese]
        before = "" if is_japanese else "(?<![a-z0-9])"
        for first in range(0, len(chosen), SPELLINGS_AT_A_TIME):
            longest = _longest_of(chosen[first : first + SPELLINGS_AT_A_TIME])
            # Looks ahead and takes nothing, so that a term inside another is found as well.
            yield re.compile(f"{before}(?=({longest}))"), is_japanese


def _longest_of(endings: Sequence[str], *, depth: int = 0) -> str:
    """An expression that takes the longest of these, which are sorted, looking at each letter
    once."""
    pairs = zip(endings[0], endings[-1], strict=False)
    shared = "".join(first for first, last in takewhile(lambda pair: pair[0] == pair[1], pairs))
    longer = [ending[len(shared) :] for ending in endings if len(ending) > len(shared)]
    if not longer:
        return _written(shared)
    if depth < DEEPEST:
        ways = [
            _longest_of(list(same), depth=depth + 1) for _, same in groupby(longer, itemgetter(0))
        ]
    else:
        ways = list(map(_written, sorted(longer, key=len, reverse=True)))
    may_end = "?" if len(longer) < len(endings) else ""
    return f"{_written(shared)}(?:{'|'.join(ways)}){may_end}"


def _written(letters: str) -> str:
    return "".join(" +" if letter == " " else re.escape(letter) for letter in letters)
