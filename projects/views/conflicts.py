"""Two people who write at once: what both changed, put together for the one who was slower."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from projects.rendering.words import Span, word_diff


@dataclass(frozen=True)
class Conflict:
    """A field that both have changed."""

    label: Any
    theirs: str
    spans: list[Span]


def put_together(
    *,
    seen: Mapping[str, Any],
    theirs: Mapping[str, Any],
    mine: Mapping[str, Any],
    labels: Mapping[str, Any],
) -> tuple[dict[str, Any], list[Conflict]]:
    """What only they changed is taken over, what only this person changed stays; where both did,
    this person's stays, and both are shown."""
    merged, conflicts = {}, []
    for name, own in mine.items():
        other = theirs[name]
        merged[name] = other if own == seen.get(name) else own
        if merged[name] != other and other != seen.get(name):
            old, new = _as_text(other), _as_text(own)
            conflicts.append(Conflict(labels[name], old, word_diff(old, new)))
    return merged, conflicts


def _as_text(value: Any) -> str:
    return "\n".join(value) if isinstance(value, list) else str(value)
