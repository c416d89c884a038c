"""Where sentences end, in both languages."""

import re
from bisect import bisect_left

# Japanese ends a sentence with its mark alone; English needs a space and the look of a beginning
# after it, so that versions, file names and decimals stay whole.
BRACKET = "」』）】〉》〕)\\]”’»"
CLOSING = f"{BRACKET}\"'*_`"
# Marks right after it close something only where no word follows.
MARKS = rf"[{BRACKET}]*+(?:[*_`]++(?![\w「『（(]))?"
# The mark of a footnote belongs to the sentence it stands behind: `[^1]` and `[1]`, but no link.
FOOTNOTES = r"(?:(?:\[(?:\^[^\]\s]{1,40}|[0-9]{1,3})\])++(?![(\[:]))?+"
CLOSED = rf"{MARKS}{FOOTNOTES}\s*+"
# Each way begins with its mark, for which the rest of a text is passed over quickly.
SENTENCE_END = re.compile(
    rf"[。！？｡]++{CLOSED}"
    rf"|．(?<=\w．)(?!\d){CLOSED}"
    rf"|[.!?…](?<![.!?…].)(?<![\s、]\.)[.!?…]*+[{CLOSING}]*+{FOOTNOTES}\s++(?![a-z])"
)
# What stands before a full stop that ends no sentence: abbreviations, the initial of a name, the
# number of a step.
ABBREVIATION = re.compile(
    r"(?:\b(?:[Ee]\.g|[Ii]\.e|etc|cf|vs|approx|incl|resp|esp|al|ca|viz|a\.k\.a|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr"
    r"|Inc|Ltd|Corp|No|Nos|Fig|Figs|Eq|Sec|Ch|Vol|pp?|ed|eds|Jan|Feb|Apr|Aug|Sept?|Oct|Nov|Dec"
    r"|[A-Z])|^[ \t>]*[0-9]{1,9})\Z",
    re.MULTILINE,
)
LOOK_BACK = 12
PAIRS = {"「": "」", "『": "』", "（": "）", "(": ")", "【": "】", "“": "”"}
BRACKETS = re.compile("[「」『』（）()【】“”]")
# A bracket that closes later than this was left open by mistake, or never was one.
LONGEST_BRACKET = 300


def sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The sentences of a block as spans, without the spaces between them."""
    inside = _brackets(text, start, end)
    found: list[tuple[int, int]] = []
    begin = start
    for mark in SENTENCE_END.finditer(text, start, end):
        stop = mark.start()
        if text[stop] == "." and ABBREVIATION.search(text, max(start, stop - LOOK_BACK), stop):
            continue
        around = bisect_left(inside, (stop,)) - 1
        if around >= 0 and stop < inside[around][1]:
            opening, closing = inside[around]
            # A sentence that is in brackets as a whole ends with them.
            if text[begin:opening].strip() or mark.end() <= closing:
                continue
        end_of_it = mark.end()
        if text.startswith("**", end_of_it) and text.count("**", begin, end_of_it) % 2:
            end_of_it += 2
        _add(found, text, begin, end_of_it)
        begin = end_of_it
    _add(found, text, begin, end)
    return found


def _add(found: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    filled = piece.strip()
    if filled:
        start += len(piece) - len(piece.lstrip())
        found.append((start, start + len(filled)))


def _brackets(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The outermost brackets, in which a sentence may end without ending the one around them."""
    open_ones: list[tuple[str, int]] = []
    found: list[tuple[int, int]] = []
    for mark in BRACKETS.finditer(text, start, end):
        if closing := PAIRS.get(mark[0]):
            open_ones.append((closing, mark.start()))
        else:
            while open_ones:
                closing, opening = open_ones.pop()
                if closing == mark[0]:
                    if mark.start() - opening <= LONGEST_BRACKET:
                        # Those inside it closed before it did.
                        while found and found[-1][0] > opening:
                            found.pop()
                        found.append((opening, mark.start()))
                    break
    return found
