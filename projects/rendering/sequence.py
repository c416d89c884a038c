"""Which items of two sequences belong together, in a time that does not explode.

First the items that occur once on each side are tied (the order they share most of is kept), then
the gaps between them; only a gap without such an item gets the exhaustive search of Myers. Texts
that leave the budget empty keep the ties found so far.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

STEPS = 3_000_000
# Myers' search takes (differences)² steps and as much memory; beyond this it says little anyway.
MAX_DIFFERENCES = 400


@dataclass
class Purse:
    """The steps that are left; shared by all gaps of one comparison."""

    steps: int

    def spend(self, steps: int) -> bool:
        self.steps -= steps
        return self.steps >= 0


def ties(
    old: Sequence[Hashable], new: Sequence[Hashable], *, steps: int = STEPS
) -> list[tuple[int, int]]:
    """Pairs of equal items, as positions, rising on both sides."""
    # Small numbers compare faster than long lines.
    numbers: dict[Hashable, int] = {}
    a = [numbers.setdefault(item, len(numbers)) for item in old]
    b = [numbers.setdefault(item, len(numbers)) for item in new]
    purse = Purse(steps)
    found: list[tuple[int, int]] = []
    gaps = [(0, len(a), 0, len(b))]
    while gaps:
        low_a, high_a, low_b, high_b = gaps.pop()
        while low_a < high_a and low_b < high_b and a[low_a] == b[low_b]:
            found.append((low_a, low_b))
            low_a, low_b = low_a + 1, low_b + 1
        while low_a < high_a and low_b < high_b and a[high_a - 1] == b[high_b - 1]:
            high_a, high_b = high_a - 1, high_b - 1
            found.append((high_a, high_b))
        if low_a == high_a or low_b == high_b:
            continue
        if not purse.spend(high_a - low_a + high_b - low_b):
            continue
        anchors = _anchors(a, b, low_a, high_a, low_b, high_b)
        if anchors:
            found.extend(anchors)
            for i, j in anchors:
                gaps.append((low_a, i, low_b, j))
                low_a, low_b = i + 1, j + 1
            gaps.append((low_a, high_a, low_b, high_b))
        else:
            pairs = _myers(a[low_a:high_a], b[low_b:high_b], purse)
            found.extend((low_a + i, low_b + j) for i, j in pairs)
    return sorted(found)


def _anchors(
    a: list[int], b: list[int], low_a: int, high_a: int, low_b: int, high_b: int
) -> list[tuple[int, int]]:
    """Items that occur once on each side, the longest row of them in the same order."""
    once_a = {item for item, count in Counter(a[low_a:high_a]).items() if count == 1}
    once_b = {item for item, count in Counter(b[low_b:high_b]).items() if count == 1}
    common = once_a & once_b
    place = {b[j]: j for j in range(low_b, high_b) if b[j] in common}
    pairs = [(i, place[a[i]]) for i in range(low_a, high_a) if a[i] in common]
    # Longest rising row, by piles: the top of pile n ends the lowest row of length n + 1.
    tops: list[int] = []
    on_top: list[int] = []
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        pile = bisect_left(tops, j)
        before.append(on_top[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(j)
            on_top.append(index)
        else:
            tops[pile], on_top[pile] = j, index
    row: list[tuple[int, int]] = []
    index = on_top[-1] if on_top else -1
    while index >= 0:
        row.append(pairs[index])
        index = before[index]
    return row[::-1]


def _myers(a: list[int], b: list[int], purse: Purse) -> list[tuple[int, int]]:
    """The shortest way from one sequence to the other; nothing when it is too far."""
    furthest = {1: 0}
    trail: list[dict[int, int]] = []
    for distance in range(min(len(a) + len(b), MAX_DIFFERENCES) + 1):
        if not purse.spend(distance + 1):
            return []
        trail.append(furthest.copy())
        for diagonal in range(-distance, distance + 1, 2):
            down = diagonal == -distance or (
                diagonal != distance and furthest[diagonal - 1] < furthest[diagonal + 1]
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            y = x - diagonal
            while x < len(a) and y < len(b) and a[x] == b[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(a) and y >= len(b):
                return _walk_back(trail, len(a), len(b))
    return []


def _walk_back(trail: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for distance in range(len(trail) - 1, -1, -1):
        furthest = trail[distance]
        diagonal = x - y
        down = diagonal == -distance or (
            diagonal != distance and furthest[diagonal - 1] < furthest[diagonal + 1]
        )
        came_from = diagonal + 1 if down else diagonal - 1
        start_x = furthest[came_from] if distance else 0
        start_y = start_x - came_from if distance else 0
        while x > start_x and y > start_y:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = start_x, start_y
    return pairs
