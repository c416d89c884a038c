"""What changed within one short text: its words in order, with those that came and went."""

from dataclasses import dataclass

from projects.rendering.diff import ADDED, MAX_WORDS_OF_LINE, REMOVED, SAME, WORD
from projects.rendering.sequence import common

# Of the shorter text: what is only added to is never written anew.
LEAST_KEPT = 0.4


@dataclass(frozen=True)
class Span:
    """`kind` is `same`, `add` or `del`, as in a diff of lines."""

    kind: str
    text: str


def word_diff(old: str, new: str) -> list[Span]:
    a, b = WORD.findall(old), WORD.findall(new)
    if max(len(a), len(b)) > MAX_WORDS_OF_LINE:
        # Nobody compares so much word by word.
        return _spans([(REMOVED, old), (ADDED, new)])
    found: list[tuple[str, str]] = []
    i = j = 0
    for low_a, high_a, low_b, high_b in [*common(a, b), (len(a), len(a), len(b), len(b))]:
        found += [
            (REMOVED, "".join(a[i:low_a])),
            (ADDED, "".join(b[j:low_b])),
            (SAME, "".join(a[low_a:high_a])),
        ]
        i, j = high_a, high_b
    kept = sum(_letters(text) for kind, text in found if kind == SAME)
    if kept < LEAST_KEPT * min(_letters(old), _letters(new)):
        # Written anew: a few small words in common only tear both texts apart.
        return _spans([(REMOVED, old), (ADDED, new)])
    return _spans(found)


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _spans(found: list[tuple[str, str]]) -> list[Span]:
    """Nothing empty, and neighbours of one kind joined."""
    spans: list[Span] = []
    for kind, text in found:
        if spans and text and spans[-1].kind == kind:
            spans[-1] = Span(kind, spans[-1].text + text)
        elif text:
            spans.append(Span(kind, text))
    return spans
