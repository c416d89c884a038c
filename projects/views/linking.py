"""A definition with links to the entries of the words in it, as an encyclopedia has them."""

import re
from dataclasses import dataclass

from projects.models import GlossaryEntry
from projects.terms.keys import key_of

# Runs of one script: Japanese has no spaces, and a term that ends within a run would be a piece of
# another word.
_RUN = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3005-\u3007]+"
    "|[\u30a0-\u30ff\uff66-\uff9f]+"
    "|[\u3041-\u309f]+"
    r"|[A-Za-z0-9][A-Za-z0-9+#'’]*"
)
# What may stand between the words of one term.
_BETWEEN = re.compile(r"[ \-\u30fb]?|\s")
MOST_RUNS = 5
SHORTEST = 2


@dataclass(frozen=True)
class Piece:
    text: str
    entry: GlossaryEntry | None = None


def linked(entry: GlossaryEntry) -> list[Piece]:
    """Each other entry is linked once, where its term, in any spelling, comes first."""
    text = entry.definition
    runs = [match.span() for match in _RUN.finditer(text)]
    found = _entries(entry, {key for low in range(len(runs)) for _n, key in _keys(text, runs, low)})
    pieces: list[Piece] = []
    done = place = 0
    while place < len(runs):
        for length, key in _keys(text, runs, place):
            # Out of the list with it: the second time it is only a word.
            if (other := found.pop(key, None)) is not None:
                low, high = runs[place][0], runs[place + length - 1][1]
                pieces += [Piece(text[done:low]), Piece(text[low:high], other)]
                done, place = high, place + length
                break
        else:
            place += 1
    return [piece for piece in (*pieces, Piece(text[done:])) if piece.text]


def _keys(text: str, runs: list[tuple[int, int]], first: int) -> list[tuple[int, str]]:
    """What may begin with this run, the longest first: how many runs, and the key."""
    low, high = runs[first]
    keys = []
    for length in range(1, min(MOST_RUNS, len(runs) - first) + 1):
        start, end = runs[first + length - 1]
        if length > 1 and not _BETWEEN.fullmatch(text, high, start):
            break
        high = end
        if high - low >= SHORTEST:
            keys.append((length, key_of(text[low:high])))
    return keys[::-1]


def _entries(entry: GlossaryEntry, keys: set[str]) -> dict[str, GlossaryEntry]:
    rows = GlossaryEntry.objects.filter(project_id=entry.project_id, key__in=keys - {entry.key})
    return {row.key: row for row in rows.only("project", "key", "term", "language")}
