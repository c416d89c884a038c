"""Which items of two sequences belong together. rapidfuzz finds the longest common row of items;
here are its bounds, because its time and memory grow with the product of the lengths."""

import difflib
from collections.abc import Hashable, Iterator, Sequence

from rapidfuzz.distance import LCSseq

# 20,000 lines against as many take a fifth of a second. Beyond that, what differs is told as one
# stretch taken out and another put in, which is still true.
MAX_PRODUCT = 20_000 * 20_000

# Half-open ranges: old start, old end, new start, new end.
Stretch = tuple[int, int, int, int]
# The same, after whether it is the same on both sides.
Step = tuple[bool, int, int, int, int]


def common(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[Stretch]:
    """The stretches that are the same on both sides, in order."""
    head = _same_from_start(old, new, limit=min(len(old), len(new)))
    limit = min(len(old), len(new)) - head
    tail = _same_from_start(old[::-1], new[::-1], limit=limit)
    if head:
        yield 0, head, 0, head
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(a) * len(b) <= MAX_PRODUCT:
        for step in LCSseq.opcodes(a, b):
            if step.tag == "equal":
                yield (
                    head + step.src_start,
                    head + step.src_end,
                    head + step.dest_start,
                    head + step.dest_end,
                )
    if tail:
        yield len(old) - tail, len(old), len(new) - tail, len(new)


def changes(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[Stretch]:
    """The stretches that differ, in order."""
    i = j = 0
    for low_a, high_a, low_b, high_b in [*common(old, new), (len(old), 0, len(new), 0)]:
        if low_a > i or low_b > j:
            yield i, low_a, j, low_b
        i, j = high_a, high_b


def hunks(old: list[str], new: list[str], context: int) -> Iterator[list[Step]]:
    """Changes that are near each other, with as many unchanged items around them as `context`."""
    for group in _Matcher(old, new).get_grouped_opcodes(context):
        yield [(step[0] == "equal", *step[1:]) for step in group]


class _Matcher(difflib.SequenceMatcher[str]):
    """Python's grouping of changes into hunks, over changes found in bounded time."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        super().__init__()
        self._old = old
        self._new = new

    def get_opcodes(self) -> list[tuple[str, int, int, int, int]]:  # type: ignore[override]
        same = [("equal", *stretch) for stretch in common(self._old, self._new)]
        different = [("replace", *stretch) for stretch in changes(self._old, self._new)]
        return sorted(same + different, key=lambda step: (step[1], step[3]))


def _same_from_start(old: Sequence[Hashable], new: Sequence[Hashable], *, limit: int) -> int:
    for index in range(limit):
        if old[index] != new[index]:
            return index
    return limit
