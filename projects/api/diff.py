"""The difference between two texts, as `diff -u` would print it, in bounded time."""

import difflib
from itertools import takewhile

CONTEXT = 3
# Matching lines costs time that grows with the square of what differs. Beyond this many lines the
# differing part is shown as taken out and put in, which is still a true diff.
MATCHED_LINES = 5000

Opcode = tuple[str, int, int, int, int]


def unified(old: str, new: str, *, old_name: str, new_name: str) -> str:
    """Empty when the texts are the same."""
    if old == new:
        return ""
    before, after = _lines(old), _lines(new)
    parts = [f"--- {old_name}\n+++ {new_name}\n"]
    for group in Changes(before, after).get_grouped_opcodes(CONTEXT):
        old_span = _span(group[0][1], group[-1][2])
        new_span = _span(group[0][3], group[-1][4])
        parts.append(f"@@ -{old_span} +{new_span} @@\n")
        for kind, old_start, old_end, new_start, new_end in group:
            if kind == "equal":
                parts += [_marked(" ", line) for line in before[old_start:old_end]]
            else:
                parts += [_marked("-", line) for line in before[old_start:old_end]]
                parts += [_marked("+", line) for line in after[new_start:new_end]]
    return "".join(parts)


class Changes(difflib.SequenceMatcher[str]):
    """A matcher that looks only at the part that differs, and only when that is not too large."""

    def __init__(self, before: list[str], after: list[str]) -> None:
        super().__init__()
        self._opcodes = _opcodes(before, after)

    def get_opcodes(self) -> list[Opcode]:  # type: ignore[override]
        return self._opcodes


def _opcodes(before: list[str], after: list[str]) -> list[Opcode]:
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    old_end, new_end = len(before) - tail, len(after) - tail
    if max(old_end, new_end) - head > MATCHED_LINES:
        middle: list[Opcode] = [("replace", head, old_end, head, new_end)]
    else:
        matcher = difflib.SequenceMatcher(a=before[head:old_end], b=after[head:new_end])
        middle = [
            (kind, head + i1, head + i2, head + j1, head + j2)
            for kind, i1, i2, j1, j2 in matcher.get_opcodes()
        ]
    return [
        ("equal", 0, head, 0, head),
        *middle,
        ("equal", old_end, len(before), new_end, len(after)),
    ]


def _lines(text: str) -> list[str]:
    """Only a newline ends a line: other separators are characters of the text."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    return [*lines, last] if last else lines


def _common(before: list[str], after: list[str]) -> int:
    """How many lines are the same from the start."""
    pairs = zip(before, after, strict=False)
    return sum(1 for _same in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _span(start: int, end: int) -> str:
    """A range of lines as hunk heads write it: counted from one, or the line before when empty."""
    length = end - start
    return f"{start + 1 if length else start},{length}"


def _marked(mark: str, line: str) -> str:
    end = "" if line.endswith("\n") else "\n\\ No newline at end of file\n"
    return f"{mark}{line}{end}"
