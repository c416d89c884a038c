"""The built-in engine's answers, in the shape in which a model would give them.

Each answers from what the request carries, so whoever reads the answer need not know who gave it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from django.conf import settings

from glossary_site.llm.builtin import register_builtin
from glossary_site.llm.requests import Request
from indexing.embedders.base import EmbedderUnavailable
from indexing.embedders.wordllama import wordllama
from runs.engine.definitions import define
from runs.engine.reviewing import improve, review
from runs.pipeline.data import Context, Entry, Evidence, Issue, Json, Term
from runs.pipeline.plan import language_in

# What `GLOSSARY_EMBEDDER` says where vectors are switched off.
NO_VECTORS = "none"


def classify(request: Request) -> Json:
    """As the extraction classified them: it has seen all there is to see."""
    return {
        "terms": [
            {
                "number": number,
                "category": given["category"],
                "is_term": not given["excluded_because"],
                "reason": given["excluded_because"],
            }
            for number, given in enumerate(request.inputs["terms"], 1)
        ]
    }


def define_terms(request: Request) -> Json:
    entries = []
    for number, given in enumerate(request.inputs["terms"], 1):
        term = _term(given["term"])
        contexts = [_context(each) for each in given["contexts"]]
        entry = define(term, contexts, known=given["known"], language=language_in(request.key))
        related = (*entry.related, *given["related"])
        entries.append(_answer(number, entry, contexts, related=related))
    return {"entries": entries}


def review_entries(request: Request) -> Json:
    inputs = request.inputs
    entries = [_entry(given) for given in inputs["entries"]]
    numbers = {entry.key: number for number, entry in enumerate(entries, 1)}
    issues = review(
        entries,
        language=inputs["language"],
        vectors=_vectors([entry.definition for entry in entries]),
        required=frozenset(inputs["required"]),
    )
    return {
        "issues": [
            {
                "number": numbers[issue.key],
                "kind": issue.kind,
                "description": issue.description,
                "suggestion": issue.suggestion,
                "other": numbers.get(issue.other_key),
                "exclude": issue.exclude,
            }
            for issue in issues
        ]
    }


def refine_entry(request: Request) -> Json:
    inputs = request.inputs
    entry = _entry(inputs["entry"])
    others = {other.key: other for other in map(_entry, inputs["others"])}
    improved = improve(entry, [Issue(**given) for given in inputs["issues"]], others)
    return {"entries": [_answer(1, improved, (), related=improved.related)]}


def _answer(
    number: int, entry: Entry, contexts: Sequence[Context], *, related: Sequence[str]
) -> Json:
    return {
        "number": number,
        "definition": entry.definition,
        "confidence": entry.confidence,
        "aliases": list(entry.aliases),
        "related": list(related),
        "quotes": [
            {"passage": _passage(evidence, contexts), "text": evidence.quote}
            for evidence in entry.evidence
        ],
    }


def _passage(evidence: Evidence, contexts: Sequence[Context]) -> int:
    """The number of the passage that a quote is from; 0 where none is."""
    for number, context in enumerate(contexts, 1):
        if (
            context.document_id == evidence.document_id
            and context.line_start <= evidence.line_start <= context.line_end
        ):
            return number
    return 0


def _vectors(texts: Sequence[str]) -> npt.NDArray[np.float32] | None:
    """By the small embedder, which is quick and asks nobody. Without it, words alone decide."""
    if settings.EMBEDDER == NO_VECTORS:
        return None
    try:
        return wordllama().embed(texts)
    except EmbedderUnavailable:
        return None


def _term(given: Mapping[str, Any]) -> Term:
    return Term(**_with_tuples(given, "variants", "synonyms", "occurrences"))


def _context(given: Mapping[str, Any]) -> Context:
    return Context(**_with_tuples(given, "heading_path"))


def _entry(given: Mapping[str, Any]) -> Entry:
    evidence = tuple(Evidence(**_with_tuples(each, "heading_path")) for each in given["evidence"])
    return Entry(**{**_with_tuples(given, "aliases", "related"), "evidence": evidence})


def _with_tuples(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """JSON has lists only."""
    return {name: tuple(value) if name in names else value for name, value in given.items()}


register_builtin("runs.classify", classify)
register_builtin("runs.define", define_terms)
register_builtin("runs.review", review_entries)
register_builtin("runs.refine", refine_entry)
