"""From terms to definitions: one request a term, with the passages that say most about it.

Terms with little to read share a request. No request waits for the answer to another, so what is
known of the terms nearby is what the built-in engine finds defined in the documents.
"""

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from glossary_site.llm.prompts import fenced
from glossary_site.llm.requests import Request
from glossary_site.llm.tokens import estimate_text
from projects.terms.keys import key_of
from runs.engine.definitions import ContextFinder, define, relations
from runs.pipeline.answers import ANSWER_TOKENS, FURTHER_TOKENS, SCHEMA, read_entries
from runs.pipeline.data import NO_LISTS, Context, Entry, Failure, Term, TermLists
from runs.pipeline.plan import (
    BUILTIN_VERSION,
    DEFAULT_MOST_TOKENS,
    NO_PROMPT,
    Names,
    answer_tokens,
    fits,
    in_line,
    request_key,
)
from runs.pipeline.prompts import Prompt, prompt_for

TASK = "runs.define"
# Terms nearby that are named, and those of them whose definitions are given.
MOST_NEARBY = 8
MOST_BACKGROUND = 3
# A definition that the built-in engine is as sure of as this stands in the documents as such.
STRONG = 0.7
LONGEST_BACKGROUND = 300
# So little to read that a model loses nothing by doing several at a time: passages, and tokens.
LIGHT_PASSAGES = 3
LIGHT_TOKENS = 220
MOST_SHARING = 4
MOST_SHARED_TOKENS = 700
# One term in so many.
ALWAYS_BEGINS = 6
MOST_SPELLINGS = 6
# A passage is not cut shorter than this.
SHORTEST_PASSAGE = 200


@dataclass(frozen=True)
class Brief:
    """A term with all that is said of it in a request."""

    term: Term
    contexts: tuple[Context, ...]
    nearby: tuple[str, ...] = ()
    # Terms of the glossary that stand in the passages.
    mentioned: tuple[str, ...] = ()
    background: tuple[tuple[str, str], ...] = ()

    @property
    def tokens(self) -> int:
        passages = sum(estimate_text(context.text) for context in self.contexts)
        background = sum(estimate_text(words) for _, words in self.background)
        return passages + background + estimate_text(self.term.note)

    @property
    def is_light(self) -> bool:
        return len(self.contexts) <= LIGHT_PASSAGES and self.tokens <= LIGHT_TOKENS


def requests(
    terms: Sequence[Term],
    finder: ContextFinder,
    *,
    only: Container[str] | None = None,
    language: str,
    builtin: bool,
    most_tokens: int = DEFAULT_MOST_TOKENS,
) -> Iterator[Request]:
    """`terms` are all of the glossary; `only` the keys of those asked about, where the others have
    their entries: they are neighbours all the same. `most_tokens` is what a request and its answer
    may be together: the model's window."""
    briefs = _briefs(terms, finder, only=only, with_background=not builtin)
    if builtin:
        for brief in briefs:
            yield _builtin_request(brief, language=language)
        return
    prompt = prompt_for("generate", language)
    light = []
    for brief in briefs:
        if brief.is_light:
            light.append(brief)
        else:
            yield _fitting(prompt, brief, most_tokens)
    for sharing in _sharing(prompt, light, most_tokens):
        if len(sharing) == 1:
            yield _fitting(prompt, sharing[0], most_tokens)
        else:
            yield _request(prompt, sharing, most_tokens)


def read(
    request_key: str,
    data: Any,
    *,
    terms: Mapping[str, Term],
    finder: ContextFinder,
    lists: TermLists = NO_LISTS,
) -> list[Entry | Failure]:
    """One result for each term of the request: its entry, or why there is none."""
    return read_entries(request_key, data, terms=terms, finder=finder, excluded=lists.excluded)


def _briefs(
    terms: Sequence[Term],
    finder: ContextFinder,
    *,
    only: Container[str] | None,
    with_background: bool,
) -> Iterator[Brief]:
    finder.prepare(terms)
    near = relations(terms, finder)
    by_key = {term.key: term for term in terms}
    defined: dict[str, str] = {}

    def definition_of(term: Term) -> str:
        """Found once, however many terms are near it."""
        if term.key not in defined:
            # From the passages that may hold one: all else that an entry has takes far longer.
            strong = [each for each in finder.contexts(term) if each.definitional >= STRONG]
            entry = define(term, strong)
            defined[term.key] = entry.definition if entry.confidence >= STRONG else ""
        return defined[term.key]

    names = Names(term.text for term in terms)
    for term in terms:
        if only is not None and term.key not in only:
            continue
        nearby = tuple(near.get(term.key, ()))[:MOST_NEARBY]
        others = [by_key[key] for key in map(key_of, nearby) if key in by_key]
        background = (
            [(other.text, words) for other in others if (words := definition_of(other))]
            if with_background
            else []
        )
        contexts = finder.contexts(term)
        mentioned = names.standing_in("\n".join(context.text for context in contexts))
        yield Brief(
            term=term,
            contexts=tuple(contexts),
            nearby=nearby,
            mentioned=tuple(name for name in mentioned if name != term.text),
            background=tuple(background[:MOST_BACKGROUND]),
        )


def _builtin_request(brief: Brief, *, language: str) -> Request:
    # Where the term stands is known by its passages.
    term = replace(brief.term, occurrences=())
    inputs = {
        "terms": [
            {
                "term": asdict(term),
                "contexts": [asdict(context) for context in brief.contexts],
                "related": list(brief.nearby),
                "known": list(brief.mentioned),
            }
        ]
    }
    return Request(
        key=request_key([term.key], version=BUILTIN_VERSION, language=language),
        messages=NO_PROMPT,
        schema=SCHEMA,
        task=TASK,
        inputs=inputs,
    )


def _sharing(prompt: Prompt, briefs: Sequence[Brief], most_tokens: int) -> Iterator[list[Brief]]:
    """Who shares a request with whom. Every few terms a group begins at a term that always begins
    one: so a term that comes or goes changes the requests next to it, and all others are as they
    were, and known to the ledger."""
    group: list[Brief] = []
    for brief in sorted(briefs, key=lambda each: each.term.key):
        wider = [*group, brief]
        if group and (
            _begins(brief.term.key)
            or len(group) == MOST_SHARING
            or sum(each.tokens for each in wider) > MOST_SHARED_TOKENS
            or not fits(_request(prompt, wider, most_tokens), most_tokens)
        ):
            yield group
            wider = [brief]
        group = wider
    if group:
        yield group


def _begins(key: str) -> bool:
    return hashlib.sha256(key.encode()).digest()[0] % ALWAYS_BEGINS == 0


def _fitting(prompt: Prompt, brief: Brief, most_tokens: int) -> Request:
    """With as much as the window takes: first the background goes, then the last passages, then the
    end of the only one."""
    for smaller in _ever_smaller(brief):
        request = _request(prompt, [smaller], most_tokens)
        if fits(request, most_tokens):
            break
    return request


def _ever_smaller(brief: Brief) -> Iterator[Brief]:
    yield brief
    brief = replace(brief, background=())
    yield brief
    brief = replace(brief, nearby=(), mentioned=())
    for count in range(len(brief.contexts), 0, -1):
        yield replace(brief, contexts=brief.contexts[:count])
    if brief.contexts:
        only = brief.contexts[0]
        length = len(only.text) // 2
        while length >= SHORTEST_PASSAGE:
            yield replace(brief, contexts=(replace(only, text=only.text[:length]),))
            length //= 2
    yield replace(brief, contexts=())


def _request(prompt: Prompt, briefs: Sequence[Brief], most_tokens: int) -> Request:
    wanted = ANSWER_TOKENS + FURTHER_TOKENS * (len(briefs) - 1)
    blocks = [_block(prompt, number, brief) for number, brief in enumerate(briefs, 1)]
    return Request(
        key=request_key(
            (brief.term.key for brief in briefs), version=prompt.version, language=prompt.language
        ),
        messages=prompt.messages(terms="\n\n".join(blocks)),
        schema=SCHEMA,
        max_tokens=answer_tokens(wanted, most_tokens),
        task=TASK,
    )


def _block(prompt: Prompt, number: int, brief: Brief) -> str:
    others = tuple(dict.fromkeys((*brief.nearby, *brief.mentioned)))[:MOST_NEARBY]
    nearby = prompt.part("nearby", value=_list(others)) if others else ""
    said = [head(prompt, brief.term, number=number, more=nearby)]
    if brief.background:
        lines = "\n".join(
            f"{in_line(name)}: {in_line(words, most=LONGEST_BACKGROUND)}"
            for name, words in brief.background
        )
        said.append(prompt.part("background", value=fenced(lines, name="background")))
    return "\n".join([*said, *passages(brief.contexts, number=number)])


def head(prompt: Prompt, term: Term, *, number: int, more: str = "") -> str:
    """What is said of a term, a line each. Its names are found in documents, and may be whole
    sentences there: they stand in a fence like all that documents say. Notes are of people."""
    lines = [prompt.part("term", number=str(number), name=in_line(term.text))]
    if term.category:
        lines.append(prompt.part("category", value=in_line(term.category)))
    if len(term.spellings) > 1:
        lines.append(prompt.part("spellings", value=_list(term.spellings[1 : MOST_SPELLINGS + 1])))
    if more:
        lines.append(more)
    shown = fenced("\n".join(lines), name=f"term {number}")
    if term.note:
        shown += "\n" + prompt.part("note", value=in_line(term.note, most=1_000))
    return shown


def passages(contexts: Iterable[Context], *, number: int) -> Iterator[str]:
    """Each in a fence of its own, numbered within its term."""
    for place, context in enumerate(contexts, 1):
        yield fenced(context.text, name=f"term {number} passage {place}")


def _list(values: Iterable[str]) -> str:
    return " / ".join(in_line(value) for value in values)
