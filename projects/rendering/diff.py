"""What changed between two versions: hunks of lines, and the words that differ within a line."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from projects.rendering.sequence import common, hunks

CONTEXT = 3
# A page of more rows helps nobody; the counts still cover the whole text.
MAX_ROWS = 4000
# Words are compared while the text is of a size that people read line by line.
MAX_WORDS_OF_LINE = 3000
MAX_WORDS = 200_000
# How far to look for the line that a removed one became.
NEARBY = 10
ALIKE = 0.5

SAME, ADDED, REMOVED = "same", "add", "del"

# Japanese has no spaces: a run of one kind of character stands for a word.
WORD = re.compile(
    r"[\u3041-\u309f]+"  # hiragana
    r"|[\u30a0-\u30ff\uff66-\uff9f]+"  # katakana
    r"|[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3005-\u3007\U00020000-\U0003ffff]+"  # kanji
    r"|\s+"
    r"|[^\W_\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+"
    r"|."
)


@dataclass(frozen=True)
class Part:
    text: str
    changed: bool = False


@dataclass(frozen=True)
class Line:
    kind: str
    old: int | None
    new: int | None
    parts: list[Part]


@dataclass
class Hunk:
    # Unchanged lines that are left out above.
    skipped: int
    lines: list[Line] = field(default_factory=list)


@dataclass(frozen=True)
class Diff:
    hunks: list[Hunk]
    added: int
    removed: int
    # Unchanged lines left out below the last hunk.
    skipped: int
    # Changed lines for which the page has no room.
    hidden: int

    @property
    def is_empty(self) -> bool:
        return not self.hunks


def compare(old: str, new: str, *, context: int = CONTEXT, max_rows: int = MAX_ROWS) -> Diff:
    a, b = old.split("\n"), new.split("\n")
    words = _Words(a, b)
    shown: list[Hunk] = []
    room, position = max_rows, 0  # `position`: the first line of the old text not yet dealt with
    added = removed = hidden = 0
    for steps in hunks(a, b, context):
        hunk = Hunk(skipped=steps[0][1] - position)
        for is_same, low_a, high_a, low_b, high_b in steps:
            if is_same:
                if not hidden and (room or hunk.lines):
                    hunk.lines += [_same(a, i, i + low_b - low_a) for i in range(low_a, high_a)]
                continue
            taken, put = high_a - low_a, high_b - low_b
            # Of a change that is larger than the page, both sides show their beginning.
            shown_a = min(taken, max(room // 2, room - put))
            shown_b = min(put, room - shown_a)
            hunk.lines += words.lines(low_a, low_a + shown_a, low_b, low_b + shown_b)
            room -= shown_a + shown_b
            hidden += taken + put - shown_a - shown_b
            removed += taken
            added += put
        position = steps[-1][2]
        if hunk.lines:
            shown.append(hunk)
    return Diff(
        hunks=shown,
        added=added,
        removed=removed,
        skipped=0 if hidden else len(a) - position,
        hidden=hidden,
    )


def _same(a: list[str], i: int, j: int) -> Line:
    return Line(SAME, i + 1, j + 1, [Part(a[i])])


class _Words:
    """Finds the words that differ, as long as the budget lasts."""

    def __init__(self, a: list[str], b: list[str]) -> None:
        self._a = a
        self._b = b
        self._left = MAX_WORDS

    def lines(self, low_a: int, high_a: int, low_b: int, high_b: int) -> list[Line]:
        removed = {i: [Part(self._a[i])] for i in range(low_a, high_a)}
        added = {j: [Part(self._b[j])] for j in range(low_b, high_b)}
        for i, j, old, new in self._pairs(low_a, high_a, low_b, high_b):
            removed[i], added[j] = _marked(old, new)
        return [
            *(Line(REMOVED, i + 1, None, parts) for i, parts in removed.items()),
            *(Line(ADDED, None, j + 1, parts) for j, parts in added.items()),
        ]

    def _pairs(
        self, low_a: int, high_a: int, low_b: int, high_b: int
    ) -> Iterator[tuple[int, int, list[str], list[str]]]:
        """Removed lines with the added line that each became, where one is alike."""
        first = low_b
        for i in range(low_a, high_a):
            old = self._split(self._a[i])
            best, best_score, best_words = -1, ALIKE, []
            for j in range(first, min(high_b, first + NEARBY)):
                new = self._split(self._b[j])
                if (score := _alike(old, new)) > best_score:
                    best, best_score, best_words = j, score, new
            if best >= 0:
                yield i, best, old, best_words
                first = best + 1

    def _split(self, line: str) -> list[str]:
        # Every comparison is paid for, because a line is split again for each neighbour.
        if self._left <= 0 or len(line) > 10 * MAX_WORDS_OF_LINE:
            return []
        words = WORD.findall(line)
        self._left -= len(words)
        return words if len(words) <= MAX_WORDS_OF_LINE else []


def _alike(old: list[str], new: list[str]) -> float:
    """The share of the characters that both lines have, from 0 to 1; spaces do not count."""
    length = sum(len(word) for word in old + new if not word.isspace())
    common = Counter(old) & Counter(new)
    shared = sum(len(word) * n for word, n in common.items() if not word.isspace())
    return 2 * shared / length if length else 0.0


def _marked(old: list[str], new: list[str]) -> tuple[list[Part], list[Part]]:
    kept = list(common(old, new))
    kept_old = {i for low, high, _, _ in kept for i in range(low, high)}
    kept_new = {j for _, _, low, high in kept for j in range(low, high)}
    return _parts(old, kept_old), _parts(new, kept_new)


def _parts(words: list[str], kept: set[int]) -> list[Part]:
    """Neighbours of the same kind joined, so that a page has few marks."""
    parts: list[tuple[str, bool]] = []
    for index, word in enumerate(words):
        changed = index not in kept
        if parts and parts[-1][1] == changed:
            parts[-1] = (parts[-1][0] + word, changed)
        else:
            parts.append((word, changed))
    return [Part(text, changed) for text, changed in parts]
