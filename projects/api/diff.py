"""The difference between two texts, as `diff -u` would print it, in bounded time."""

from projects.rendering.diff import CONTEXT
from projects.rendering.sequence import hunks


def unified(old: str, new: str, *, old_name: str, new_name: str) -> str:
    """Empty when the texts are the same."""
    if old == new:
        return ""
    before, after = _lines(old), _lines(new)
    parts = [f"--- {old_name}\n+++ {new_name}\n"]
    for hunk in hunks(before, after, CONTEXT):
        old_span = _span(hunk[0][1], hunk[-1][2])
        new_span = _span(hunk[0][3], hunk[-1][4])
        parts.append(f"@@ -{old_span} +{new_span} @@\n")
        for is_same, old_start, old_end, new_start, new_end in hunk:
            if is_same:
                parts += [_marked(" ", line) for line in before[old_start:old_end]]
            else:
                parts += [_marked("-", line) for line in before[old_start:old_end]]
                parts += [_marked("+", line) for line in after[new_start:new_end]]
    return "".join(parts)


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
