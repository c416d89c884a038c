"""The difference between two texts, as `diff -u` would print it, in bounded time."""

import difflib

from projects.rendering.sequence import changes, common

CONTEXT = 3

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
    """Python's grouping of changes into hunks, over changes found in bounded time."""

    def __init__(self, before: list[str], after: list[str]) -> None:
        super().__init__()
        self._before = before
        self._after = after

    def get_opcodes(self) -> list[Opcode]:  # type: ignore[override]
        same = [("equal", *stretch) for stretch in common(self._before, self._after)]
        different = [("replace", *stretch) for stretch in changes(self._before, self._after)]
        return sorted(same + different, key=lambda code: (code[1], code[3]))


def _lines(text: str) -> list[str]:
    """Only a newline ends a line: other separators are characters of the text."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    return [*lines, last] if last else lines


def _span(start: int, end: int) -> str:
    """A range of lines as hunk heads write it: counted from one, or the line before when empty."""
    length = end - start
    return f"{start + 1 if length else start},{length}"


def _marked(mark: str, line: str) -> str:
    end = "" if line.endswith("\n") else "\n\\ No newline at end of file\n"
    return f"{mark}{line}{end}"
