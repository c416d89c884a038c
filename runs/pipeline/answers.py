"""Entries as a model or the built-in engine answers them, and what is believed of them.

A definition rests on quotes. Each is looked up in the document it is said to come from; what is not
found there does not count, and a definition with nothing left to rest on is marked as unsupported.
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import override

from glossary_site.llm.prompts import unescaped
from projects.terms.keys import key_of
from runs.engine.definitions import ContextFinder, locate
from runs.pipeline.data import Context, Entry, Evidence, Failure, Term
from runs.pipeline.plan import (
    clean,
    items_of,
    language_in,
    number_of,
    numbered,
    stands_in,
    strict_list,
    strict_object,
    text_of,
    texts_of,
    version_in,
)

LONGEST_DEFINITION = 2_000
LONGEST_NAME = 200
LONGEST_QUOTE = 1_500
MOST_NAMES = 12
MOST_QUOTES = 5
# Below this, somebody should look at it; and no more is believed of what rests on nothing.
SURE = 0.7
UNSUPPORTED_CONFIDENCE = 0.2
# Passages in which a quote is looked for when it is in none of those that were shown.
MOST_PASSAGES = 40
MOST_TOKENS = 20_000
# A quote shorter than this is found anywhere. A Japanese character counts for two.
SHORTEST_QUOTE = 8

_STRINGS = {"type": "array", "items": {"type": "string"}}
SCHEMA = strict_list(
    "entries",
    {
        "number": {"type": "integer"},
        "definition": {"type": "string"},
        "confidence": {"type": "number"},
        "aliases": _STRINGS,
        "related": _STRINGS,
        "quotes": {
            "type": "array",
            "items": strict_object({"passage": {"type": "integer"}, "text": {"type": "string"}}),
        },
    },
)
# An answer's length, in tokens: of one entry, and of each that shares the request with it.
ANSWER_TOKENS = 1_024
FURTHER_TOKENS = 512

_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
# Around what models quote.
_MARKS = " \t\r\n\"'“”‘’「」『』…."


def read_entries(
    request_key: str,
    data: Any,
    *,
    terms: Mapping[str, Term],
    finder: ContextFinder,
    evidence: Mapping[str, Sequence[Evidence]] | None = None,
    names: Collection[str] = (),
    excluded: Collection[str] = (),
) -> list[Entry | Failure]:
    """One result for each term of the request. `evidence`: what earlier entries rest on, which may
    be quoted again; `names`: the keys of the names that the glossary has; `excluded`: of the terms
    that people want nowhere in it. The finder had better be
    prepared for all terms: one pass for all is as quick as for one."""
    asked = numbered(request_key)
    items = _items_by_number(data, asked)
    version = version_in(request_key)
    results: list[Entry | Failure] = []
    with override(language_in(request_key)):
        for number, key in asked.items():
            term = terms.get(key)
            if term is None:
                results.append(Failure(key, key, _("It is not among the terms any more.")))
            elif number not in items:
                results.append(Failure(key, term.text, _("The answer says nothing of this term.")))
            else:
                sources = Sources(term, finder, (evidence or {}).get(key, ()))
                results.append(
                    _entry(
                        items[number],
                        term,
                        sources,
                        terms=terms,
                        names=names,
                        excluded=excluded,
                        version=version,
                    )
                )
    return results


def _items_by_number(data: Any, asked: Mapping[int, str]) -> dict[int, dict[str, Any]]:
    items = items_of(data, "entries")
    if len(asked) == len(items) == 1:
        # There is no doubt which term is meant, whatever number the model gave it.
        return {1: items[0]}
    found: dict[int, dict[str, Any]] = {}
    for item in items:
        number = number_of(item, "number")
        if number is not None:
            found.setdefault(number, item)
    if sorted(found) == list(range(len(asked))):
        # Some models count from 0, whatever they are told.
        found = {number + 1: item for number, item in found.items()}
    return {number: item for number, item in found.items() if number in asked}


def _entry(
    item: Mapping[str, Any],
    term: Term,
    sources: "Sources",
    *,
    terms: Mapping[str, Term],
    names: Collection[str],
    excluded: Collection[str],
    version: str,
) -> Entry | Failure:
    definition = text_of(item, "definition", most=LONGEST_DEFINITION)
    if not definition:
        return Failure(term.key, term.text, _("The answer has no definition of this term."))
    evidence = sources.verified(item.get("quotes"))
    # What people noted about a term needs no other proof.
    supported = bool(evidence) or definition == clean(term.note)
    confidence = confidence_of(item.get("confidence"))
    if not supported:
        confidence = min(confidence, UNSUPPORTED_CONFIDENCE)
    given = texts_of(item, "aliases", most=LONGEST_NAME)
    aliases = _aliases(given, term, sources, terms.keys(), names)
    related = each_once(
        (
            _spelling(name, terms)
            for name in texts_of(item, "related", most=LONGEST_NAME)
            if key_of(name) not in excluded
        ),
        without={term.key, *map(key_of, aliases)},
    )[:MOST_NAMES]
    return Entry(
        term=term.text,
        key=term.key,
        language=term.language,
        reading=term.reading,
        definition=definition,
        confidence=confidence,
        category=term.category,
        aliases=aliases,
        related=related,
        evidence=evidence,
        supported=supported,
        needs_review=confidence < SURE,
        score=term.score,
        frequency=term.frequency,
        prompt_version=version,
    )


def confidence_of(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0.0
    # Some models count to a hundred, whatever they are told.
    share = value / 100 if 1 < value <= 100 else value
    return round(min(max(float(share), 0.0), 1.0), 3)


def each_once(given: Iterable[str], *, without: Iterable[str]) -> tuple[str, ...]:
    """Each name once, in whichever spelling comes first; `without` are keys."""
    kept: dict[str, str] = {}
    passed = set(without)
    for name in given:
        key = key_of(name)
        if key not in passed:
            kept.setdefault(key, name)
    return tuple(kept.values())


def _spelling(name: str, terms: Mapping[str, Term]) -> str:
    """As the glossary spells it, where it has the term."""
    term = terms.get(key_of(name))
    return name if term is None else term.text


def _aliases(
    given: Sequence[str], term: Term, sources: "Sources", *known: Collection[str]
) -> tuple[str, ...]:
    """The synonyms that people chose, and those names of the answer that stand in the documents or
    in the glossary. Where that is a term of its own, the review sees a duplicate."""
    found = [
        name
        for name in given
        if any(key_of(name) in keys for keys in known) or sources.mention(name)
    ]
    return each_once((*term.synonyms, *found[:MOST_NAMES]), without={term.key})


class Sources:
    """Where the quotes of one term may come from."""

    def __init__(
        self, term: Term, finder: ContextFinder, evidence: Sequence[Evidence] = ()
    ) -> None:
        self._term = term
        self._finder = finder
        self._evidence = evidence
        # As they were numbered in the request, or more of them.
        self.shown = finder.contexts(term)

    @cached_property
    def _all(self) -> list[Context]:
        """Far more passages than a request has."""
        return self._finder.contexts(self._term, limit=MOST_PASSAGES, most_tokens=MOST_TOKENS)

    def mention(self, name: str) -> bool:
        """Whether a name stands in the passages, as a word of its own."""
        small = name.casefold()
        return any(stands_in(small, clean(each.text).casefold()) for each in self.shown)

    def verified(self, quotes: Any) -> tuple[Evidence, ...]:
        """The quotes that stand in the documents, and where."""
        found: dict[tuple[int, int, str], Evidence] = {}
        for item in quotes if isinstance(quotes, list) else []:
            if not isinstance(item, dict) or not isinstance(item.get("text"), str):
                continue
            evidence = self._find(item["text"], number_of(item, "passage"))
            if evidence is not None:
                place = (evidence.document_id, evidence.line_start, evidence.quote)
                found.setdefault(place, evidence)
        return tuple(found.values())[:MOST_QUOTES]

    def _find(self, text: str, number: int | None) -> Evidence | None:
        quote = unescaped(text).strip()[:LONGEST_QUOTE]
        bare = quote.strip(_MARKS)
        if _weight(bare) < SHORTEST_QUOTE or key_of(bare) == self._term.key:
            return None
        wordings = tuple(dict.fromkeys((quote, bare)))
        # The passage that the answer names comes first, but models miscount.
        named = [self.shown[number - 1]] if number and 0 < number <= len(self.shown) else []
        return (
            _first(wordings, [*named, *self.shown])
            or self._as_before(wordings)
            or _first(wordings, self._all)
        )

    def _as_before(self, wordings: Sequence[str]) -> Evidence | None:
        """What was found in a document that has not changed since is still there."""
        hashes = {place.document_id: place.file_hash for place in (*self.shown, *self._all)}
        for each in self._evidence:
            if hashes.get(each.document_id) == each.file_hash and each.quote.strip() in wordings:
                return each
        return None


def _first(wordings: Sequence[str], places: Sequence[Context]) -> Evidence | None:
    """A passage is a piece of its document, word for word: what stands in the one stands in the
    other."""
    for words in wordings:
        for place in places:
            if found := locate(words, place.text):
                return Evidence(
                    document_id=place.document_id,
                    path=place.path,
                    file_hash=place.file_hash,
                    line_start=place.line_start + found.line_start - 1,
                    line_end=place.line_start + found.line_end - 1,
                    quote=found.verbatim,
                    heading_path=place.heading_path,
                )
    return None


def _weight(text: str) -> int:
    return sum(2 if _WIDE.match(letter) else 1 for letter in text if letter.isalnum())


def better(before: Entry, after: Entry) -> Entry:
    """What a second look made of an entry: never something that rests on less than before."""
    if before.supported and not after.supported:
        return replace(before, needs_review=True)
    same = (
        after.definition == before.definition
        and after.aliases == before.aliases
        and after.related == before.related
    )
    return before if same else after
