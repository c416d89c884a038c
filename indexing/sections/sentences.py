"""Where a text may be cut: after sentences, after lines, and where there are neither."""

import re
import unicodedata
from collections.abc import Callable

from indexing.sections.tokens import count_within

# Japanese ends a sentence with its mark alone. English needs a space and the look of a beginning
# after it; a decimal, a version or a file name has no space.
BRACKETS = "」』）】〉》〕)\\]”’»"
SENTENCE_END = re.compile(
    rf"(?<![。！？｡])[。！？｡]++[{BRACKETS}]*+\s*+"
    rf"|(?<=\w)．(?!\d)[{BRACKETS}]*+\s*+"
    rf"|(?<![.!?…])[.!?…]++[{BRACKETS}\"'*_`]*+\s++(?![a-z])"
)
# What stands before a full stop that ends no sentence: abbreviations, the initial of a name, the
# number of a list item.
ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|cf|vs|approx|incl|resp|al|ca|viz|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Inc|Ltd|Co"
    r"|Corp|No|Nos|Fig|Figs|Eq|Sec|Ch|Vol|pp?|ed|eds|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
    r"|[A-Z])|^[ \t>]*[0-9]{1,9})\Z",
    re.MULTILINE,
)
# Longer than all of these.
LOOK_BACK = 12
# Good places to cut where there is no sentence: the last one in sight.
PAUSE = re.compile(r".*(?:\s|[、，；;,])", re.DOTALL)
# The share of a stretch in which such a place is looked for: a fifth.
IN_SIGHT = 5
# A cut between these would take a character apart: joiners, variation selectors, skin tones.
JOINING = re.compile("[\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
LONGEST_CHARACTER = 40
# A stretch that is this full is not tried again with more; the next one aims a little higher.
FULL_ENOUGH = 0.8
AIM = 0.92


Fits = Callable[[int, int], bool]


def sentence_ends(text: str, start: int, end: int) -> list[int]:
    """The positions in (start, end) at which a sentence begins after another."""
    ends = []
    for mark in SENTENCE_END.finditer(text, start, end):
        full_stop = mark.start()
        if mark[0][0] == "." and ABBREVIATION.search(text, full_stop - LOOK_BACK, full_stop):
            continue
        if mark.end() < end:
            ends.append(mark.end())
    return ends


def line_ends(text: str, start: int, end: int) -> list[int]:
    """The positions in (start, end) at which a line begins after another."""
    ends = []
    position = text.find("\n", start, end)
    while position != -1 and position + 1 < end:
        ends.append(position + 1)
        position = text.find("\n", position + 1, end)
    return ends


def stretches(text: str, start: int, end: int, limit: int, fits: Fits) -> list[int]:
    """The positions that cut [start, end) into stretches of `limit` tokens at most.

    `fits` has the last word about each, because it knows which spaces do not count.
    """
    cuts: list[int] = []
    # Characters in a stretch, corrected with each: what follows is mostly like what came before.
    length = 2 * limit
    while True:
        length, position = _stretch(text, start, end, limit, length)
        # Less text can have more tokens: half of a word is not in the vocabulary.
        while not fits(start, position):
            position = start + max(1, (position - start) * 3 // 4)
        if position >= end:
            return cuts
        cuts.append(position)
        start = position


def _stretch(text: str, start: int, end: int, limit: int, length: int) -> tuple[int, int]:
    """A good length for a stretch here, and where the one from `start` ends."""
    short, too_long = 0, end - start + 1
    while too_long - short > 1:
        length = max(short + 1, min(length, too_long - 1))
        count = count_within(text[start : start + length], limit)
        if count is None:
            too_long = length
            length = (short + too_long) // 2 if short else length * 3 // 4
            continue
        short = length
        length = int(length * limit * AIM / max(count, 1))
        if count >= FULL_ENOUGH * limit:
            break
    position = start + short
    return length, position if position >= end else _gentle(text, start, position)


def _gentle(text: str, start: int, end: int) -> int:
    """`end`, or a better place to cut shortly before it."""
    sight = end - (end - start) // IN_SIGHT
    if pause := PAUSE.match(text, sight, end):
        return pause.end()
    position = end
    while position > max(start + 1, end - LONGEST_CHARACTER) and _is_inside(text, position):
        position -= 1
    return end if _is_inside(text, position) else position


def _is_inside(text: str, position: int) -> bool:
    """Whether a character as people see it goes on at `position`."""
    return (
        unicodedata.combining(text[position]) != 0
        or JOINING.match(text, position) is not None
        or text[position - 1] == "\u200d"
    )
