"""An entry as it is published and exported, wherever it comes from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class EntryData:
    term: str
    key: str
    reading: str
    language: str
    definition: str
    confidence: float = 1.0
    category: str = ""
    aliases: Sequence[str] = ()
    related: Sequence[str] = ()
    # As in `GlossaryEntry.evidence`.
    evidence: Sequence[Mapping[str, Any]] = ()
    supported: bool = True
    needs_review: bool = False
    score: float = 0.0
    frequency: int = 0
    prompt_version: str = ""
