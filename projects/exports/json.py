"""The glossary as JSON: a shape that programs rely on, documented and stable."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from projects.exports.data import EntryData


def glossary_json(entries: Iterable[EntryData]) -> Iterator[str]:
    """`{"entries": […]}`, an entry a line, in the order they come."""
    yield '{"entries": ['
    for number, entry in enumerate(entries):
        yield ",\n" if number else "\n"
        yield json.dumps(as_json(entry), ensure_ascii=False)
    yield "\n]}\n"


def as_json(entry: EntryData) -> dict[str, Any]:
    return {
        "term": entry.term,
        "definition": entry.definition,
        "confidence": round(entry.confidence, 4),
        "category": entry.category,
        "aliases": list(entry.aliases),
        "related": list(entry.related),
        "score": round(entry.score, 4),
        "occurrences": entry.frequency,
        "evidence": [
            {"document": piece["path"], "line": piece["line_start"], "quote": piece["quote"]}
            for piece in entry.evidence
        ],
    }
