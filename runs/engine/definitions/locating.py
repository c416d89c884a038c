"""Does a quotation stand in a document, word for word?

Only spaces, line breaks, quotation margins and the marks of emphasis may differ. Anything else,
a letter or a comma, is another text.
"""

import re
from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from indexing.lexical.analysis import JAPANESE

# The texts of a few documents in their plain form: many quotations are from the same ones.
KEPT = 32
WIDE = f"{JAPANESE}\u3000-\u3004\u3008-\u303f\uff01-\uff9f"
MARGIN = r"(?:(?<=\n)|(?<=\A))[ \t]*>[> \t]*"
# Marks at the edge of a word: those inside one (snake_case, 2*3) are part of it. A backtick never
# is: `Promise`s reads Promises.
STRESS = r"(?:[*_]|~~)+"
EMPHASIS = rf"`+|(?<![A-Za-z0-9*_~]){STRESS}|{STRESS}(?![A-Za-z0-9*_~])"
SKIPPED = re.compile(rf"{MARGIN}|{EMPHASIS}|\s+")
IS_WIDE = re.compile(f"[{WIDE}]")
WORD = re.compile(r"[^\W_]")
LETTER = re.compile("[A-Za-z0-9]")


class Located(NamedTuple):
    line_start: int
    line_end: int
    # The words as they stand in the document, marks and line breaks and all.
    verbatim: str


def locate(quote: str, text: str) -> Located | None:
    """Where a quotation first stands in a text, with lines counted from 1."""
    wanted = quote.strip()
    if not WORD.search(wanted):
        return None
    start = _find(text, wanted)
    if start >= 0:
        return _located(text, start, start + len(wanted))
    words, _places = _plain(wanted)
    if not words:
        return None
    whole, places = _plain_document(text)
    start = _find(whole, words)
    if start < 0:
        return None
    return _located(text, places[start], places[start + len(words) - 1] + 1)


def _find(text: str, words: str) -> int:
    """The first place where the words are not part of longer ones."""
    start = text.find(words)
    while start >= 0:
        end = start + len(words)
        cuts_before = LETTER.match(words[0]) and LETTER.match(text[max(0, start - 1) : start])
        cuts_after = LETTER.match(words[-1]) and LETTER.match(text[end : end + 1])
        if not cuts_before and not cuts_after:
            return start
        start = text.find(words, start + 1)
    return -1


def _located(text: str, start: int, end: int) -> Located:
    first = _line(text, start)
    return Located(first, first + _line(text[start:end], end - start) - 1, text[start:end])


def _line(text: str, position: int) -> int:
    returns = text.count("\r", 0, position) - text.count("\r\n", 0, position)
    return 1 + text.count("\n", 0, position) + returns


@lru_cache(maxsize=KEPT)
def _plain_document(text: str) -> tuple[str, Sequence[int]]:
    return _plain(text)


def _plain(text: str) -> tuple[str, Sequence[int]]:
    """Without marks and with single spaces, and none beside Japanese, where they mean nothing; and
    for each character its place in the text."""
    pieces: list[str] = []
    places = array("L")
    position = 0
    space_at = -1
    last = ""
    for skipped in SKIPPED.finditer(text):
        start, end = skipped.span()
        if start > position:
            last = _take(text, position, start, pieces, places, last, space_at)
            space_at = -1
        if skipped[0].isspace():
            space_at = start
        position = end
    if position < len(text):
        _take(text, position, len(text), pieces, places, last, space_at)
    return "".join(pieces), places


def _take(
    text: str,
    start: int,
    end: int,
    pieces: list[str],
    places: "array[int]",
    last: str,
    space_at: int,
) -> str:
    if space_at >= 0 and last and not IS_WIDE.match(last) and not IS_WIDE.match(text[start]):
        pieces.append(" ")
        places.append(space_at)
    pieces.append(text[start:end])
    places.extend(range(start, end))
    return text[end - 1]
