"""A text with its lines counted, so that stretches of it need not be counted again and again."""

import re
from bisect import bisect_left
from itertools import accumulate, pairwise

from indexing.sections.tokens import count_tokens, count_within

# No token reaches from one line into another that has text, unless that one begins with a slash:
# what is counted on either side of such a place adds up.
JOINT = re.compile(r"\n(?!/)(?=[^\S\n]*\S)")


class Counted:
    def __init__(self, text: str) -> None:
        self._text = text
        self._joints = [0, *(joint.end() for joint in JOINT.finditer(text))]
        counts = (count_tokens(text[start:end]) for start, end in pairwise(self._joints))
        # The tokens before each joint.
        self._before = list(accumulate(counts, initial=0))

    def within(self, start: int, end: int, limit: int) -> int | None:
        """The tokens of a stretch that ends with no space; None when they are more than `limit`."""
        first = bisect_left(self._joints, start)
        last = bisect_left(self._joints, end) - 1
        if first >= last:
            return count_within(self._text[start:end], limit)
        total = self._before[last] - self._before[first]
        for rest in (self._text[start : self._joints[first]], self._text[self._joints[last] : end]):
            more = count_within(rest, limit - total) if total <= limit else None
            if more is None:
                return None
            total += more
        return total
