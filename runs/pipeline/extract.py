"""Which candidates are terms, and of what kind: asked in batches, each with a line of context.

What no answer says anything about keeps the class that the built-in engine gave it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from glossary_site.llm.prompts import fenced
from glossary_site.llm.requests import Request
from runs.pipeline.data import Candidate, SourceDocument
from runs.pipeline.plan import (
    BUILTIN_VERSION,
    DEFAULT_MOST_TOKENS,
    NO_PROMPT,
    answer_tokens,
    halved,
    in_line,
    items_of,
    number_of,
    numbered,
    request_key,
    strict_list,
    text_of,
)
from runs.pipeline.prompts import Prompt, prompt_for

TASK = "runs.classify"
# Every prompt tells what these mean; projects add their own.
CATEGORIES = frozenset(
    {"person_name", "place_name", "organization", "title", "technical_term", "common_noun"}
)
MOST_TOGETHER = 40
# Of the line in which a candidate stands: on either side of it, and in all.
AROUND = 90
# The first occurrences are often headings; the longest of so many lines says most.
MOST_LINES = 5
LONGEST_REASON = 200
# In tokens, an answer's length: for each candidate, and around them.
ANSWER_TOKENS_EACH = 48
ANSWER_TOKENS_ALL = 128

SCHEMA = strict_list(
    "terms",
    {
        "number": {"type": "integer"},
        "category": {"type": "string"},
        "is_term": {"type": "boolean"},
        "reason": {"type": "string"},
    },
)


@dataclass(frozen=True)
class Class:
    """What an answer says of one candidate."""

    category: str
    is_term: bool
    # Where it is no term: why.
    reason: str = ""


def classify_requests(
    candidates: Sequence[Candidate],
    documents: Sequence[SourceDocument],
    *,
    language: str,
    categories: Mapping[str, str],
    builtin: bool,
    most_tokens: int = DEFAULT_MOST_TOKENS,
) -> Iterator[Request]:
    """`categories` are the project's own: key and name."""
    if builtin:
        for first in range(0, len(candidates), MOST_TOGETHER):
            yield _builtin_request(candidates[first : first + MOST_TOGETHER], language=language)
        return
    prompt = prompt_for("extract", language)
    lines = Lines(documents)
    for first in range(0, len(candidates), MOST_TOGETHER):
        batch = [
            (candidate, lines.around(candidate))
            for candidate in candidates[first : first + MOST_TOGETHER]
        ]
        request_for = partial(_request, prompt, categories=categories, most_tokens=most_tokens)
        yield from halved(batch, request_for, most_tokens)


def read_classes(request_key: str, data: Any, *, categories: Mapping[str, str]) -> dict[str, Class]:
    """By the keys of the candidates. Numbers and categories that were not asked for are passed
    over."""
    asked = numbered(request_key)
    classes: dict[str, Class] = {}
    for item in items_of(data, "terms"):
        number = number_of(item, "number")
        category = item.get("category")
        is_term = item.get("is_term")
        if number not in asked or not isinstance(is_term, bool):
            continue
        if category not in CATEGORIES and category not in categories:
            continue
        reason = "" if is_term else text_of(item, "reason", most=LONGEST_REASON)
        classes.setdefault(asked[number], Class(str(category), is_term, reason))
    return classes


class Lines:
    """The lines of the documents, each document cut once."""

    def __init__(self, documents: Sequence[SourceDocument]) -> None:
        self._documents = {document.id: document for document in documents}
        self._lines: dict[int, list[str]] = {}

    def around(self, candidate: Candidate) -> str:
        """The fullest of the first lines in which it stands, or the part of it around the term."""
        found = [
            self._line(place.document_id, place.line)
            for place in candidate.occurrences[:MOST_LINES]
        ]
        line = " ".join(max(found, key=len, default="").split())
        spellings = "|".join(
            re.escape(spelling) for spelling in (candidate.text, *candidate.variants)
        )
        place = re.search(spellings, line, re.IGNORECASE)
        start, end = place.span() if place else (0, 0)
        return line[max(0, start - AROUND) : end + AROUND]

    def _line(self, document_id: int, number: int) -> str:
        document = self._documents.get(document_id)
        if document is None:
            return ""
        if document_id not in self._lines:
            self._lines[document_id] = document.text.split("\n")
        lines = self._lines[document_id]
        return lines[number - 1] if 0 < number <= len(lines) else ""


def _request(
    prompt: Prompt,
    batch: Sequence[tuple[Candidate, str]],
    *,
    categories: Mapping[str, str],
    most_tokens: int,
) -> Request:
    lines = [
        f"{number}. {in_line(candidate.text)} | {in_line(line)}"
        for number, (candidate, line) in enumerate(batch, 1)
    ]
    own = [f"{in_line(key)}: {in_line(name)}" for key, name in categories.items()]
    return Request(
        key=request_key(
            (candidate.key for candidate, _ in batch),
            version=prompt.version,
            language=prompt.language,
        ),
        messages=prompt.messages(
            categories="\n".join(own), candidates=fenced("\n".join(lines), name="candidates")
        ),
        schema=SCHEMA,
        max_tokens=answer_tokens(ANSWER_TOKENS_ALL + ANSWER_TOKENS_EACH * len(batch), most_tokens),
        task=TASK,
    )


def _builtin_request(candidates: Sequence[Candidate], *, language: str) -> Request:
    inputs = [
        {"category": candidate.category, "excluded_because": candidate.excluded_because}
        for candidate in candidates
    ]
    return Request(
        key=request_key(
            (candidate.key for candidate in candidates), version=BUILTIN_VERSION, language=language
        ),
        messages=NO_PROMPT,
        schema=SCHEMA,
        task=TASK,
        inputs={"terms": inputs},
    )
