"""What is wrong with entries. Those that have to do with each other are looked at together, so that
contradictions and duplicates can be seen."""

import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from django.utils.translation import override

from glossary_site.llm.prompts import fenced
from glossary_site.llm.requests import Request
from glossary_site.llm.tokens import estimate_text
from indexing.lexical.analysis import words_of
from projects.terms.keys import key_of
from runs.choices import IssueKind
from runs.engine.reviewing import unsupported
from runs.pipeline.data import NO_LISTS, Entry, Issue, TermLists
from runs.pipeline.plan import (
    BUILTIN_VERSION,
    DEFAULT_MOST_TOKENS,
    NO_PROMPT,
    answer_tokens,
    halved,
    in_line,
    items_of,
    language_in,
    number_of,
    numbered,
    request_key,
    strict_list,
    text_of,
)
from runs.pipeline.prompts import Prompt, prompt_for

TASK = "runs.review"
# More entries than this are not compared with care, however many fit in.
MOST_TOGETHER = 40
MOST_TOKENS_TOGETHER = 4_000
# The built-in engine compares each with each.
MOST_TOGETHER_BUILTIN = 1_000
LONGEST_DEFINITION = 700
LONGEST_ISSUE = 600
MOST_ISSUES_EACH = 5
# A word that so many terms share says little about what belongs together.
MOST_SHARING_A_WORD = 40
ANSWER_TOKENS_EACH = 80
ANSWER_TOKENS_ALL = 256

SCHEMA = strict_list(
    "issues",
    {
        "number": {"type": "integer"},
        "kind": {"type": "string", "enum": list(IssueKind.values)},
        "description": {"type": "string"},
        "suggestion": {"type": "string"},
        "other": {"type": ["integer", "null"]},
        "exclude": {"type": "boolean"},
    },
)
# Without the other entry, these say nothing.
OF_TWO = frozenset({IssueKind.CONTRADICTION, IssueKind.MISSING_RELATION, IssueKind.DUPLICATE})


def requests(
    entries: Sequence[Entry],
    *,
    language: str,
    builtin: bool,
    most_tokens: int = DEFAULT_MOST_TOKENS,
    lists: TermLists = NO_LISTS,
) -> Iterator[Request]:
    """`most_tokens` is what a request and its answer may be together: the model's window."""
    if builtin:
        for batch in batches(entries, most=MOST_TOGETHER_BUILTIN):
            yield _builtin_request(batch, language=language, lists=lists)
        return
    prompt = prompt_for("review", language)
    for batch in batches(entries, most=MOST_TOGETHER, most_tokens=MOST_TOKENS_TOGETHER):
        yield from halved(
            batch, partial(_request, prompt, most_tokens=most_tokens, lists=lists), most_tokens
        )


def read(
    request_key: str,
    data: Any,
    *,
    entries: Mapping[str, Entry],
    lists: TermLists = NO_LISTS,
) -> list[Issue]:
    """What the answer finds, and what is certain without it: that an entry rests on nothing. A
    term that people require is never to be excluded."""
    asked = numbered(request_key)
    issues: dict[tuple[str, str, str], Issue] = {}
    counts: dict[str, int] = defaultdict(int)
    for item in items_of(data, "issues"):
        issue = _issue(item, asked, entries, lists)
        if issue is None or counts[issue.key] == MOST_ISSUES_EACH:
            continue
        if _named(issue) not in issues:
            counts[issue.key] += 1
            issues[_named(issue)] = issue
    with override(language_in(request_key)):
        for key in asked.values():
            if key in entries and (issue := unsupported(entries[key])):
                issues.setdefault(_named(issue), issue)
    order = {key: number for number, key in asked.items()}
    return sorted(issues.values(), key=lambda issue: order[issue.key])


def _named(issue: Issue) -> tuple[str, str, str]:
    """Two entries contradict each other once, whichever of them it is said of."""
    if issue.kind in OF_TWO and issue.kind != IssueKind.MISSING_RELATION:
        first, second = sorted((issue.key, issue.other_key))
        return issue.kind, first, second
    return issue.kind, issue.key, issue.other_key


def _issue(
    item: Mapping[str, Any],
    asked: Mapping[int, str],
    entries: Mapping[str, Entry],
    lists: TermLists,
) -> Issue | None:
    key = asked.get(number_of(item, "number") or 0, "")
    other_key = asked.get(number_of(item, "other") or 0, "")
    kind = item.get("kind")
    description = text_of(item, "description", most=LONGEST_ISSUE)
    if key not in entries or kind not in IssueKind.values or not description:
        return None
    if kind not in OF_TWO:
        other_key = ""
    elif other_key not in entries or other_key == key:
        return None
    return Issue(
        key=key,
        kind=str(kind),
        description=description,
        suggestion=text_of(item, "suggestion", most=LONGEST_ISSUE),
        other_key=other_key,
        exclude=item.get("exclude") is True and key not in lists.required,
    )


def batches(
    entries: Sequence[Entry], *, most: int, most_tokens: int | None = None
) -> Iterator[list[Entry]]:
    """Each entry once. A batch begins with the first that is left, and always takes next whatever
    has most to do with those that it has."""
    near = _neighbours(entries)
    left = dict.fromkeys(range(len(entries)))
    while left:
        batch: list[int] = []
        tokens = 0
        ties: dict[int, float] = {}
        heap: list[tuple[float, int]] = []
        while left and len(batch) < most:
            chosen = _strongest(heap, ties, left)
            if chosen is None:
                chosen = next(iter(left))
                # Those that belong to it would be torn from it by a batch that is nearly full.
                company = sum(other in left for other in near[chosen])
                if len(batch) > most // 2 and company >= most - len(batch):
                    break
            cost = _tokens(entries[chosen])
            if batch and most_tokens is not None and tokens + cost > most_tokens:
                break
            tokens += cost
            batch.append(chosen)
            del left[chosen]
            for other, strength in near[chosen].items():
                if other in left:
                    ties[other] = ties.get(other, 0.0) + strength
                    heapq.heappush(heap, (-ties[other], other))
        yield [entries[number] for number in batch]


def _strongest(
    heap: list[tuple[float, int]], ties: dict[int, float], left: dict[int, None]
) -> int | None:
    while heap:
        strength, number = heapq.heappop(heap)
        # What was pushed before its ties grew is out of date.
        if number in left and ties[number] == -strength:
            return number
    return None


def _neighbours(entries: Sequence[Entry]) -> list[dict[int, float]]:
    """For each entry those near it, by words in common (rare ones and heads count for more), and by
    naming each other."""
    near: list[dict[int, float]] = [{} for _ in entries]
    by_key = {entry.key: number for number, entry in enumerate(entries)}
    by_word: dict[str, set[int]] = defaultdict(set)
    heads: list[str] = []
    for number, entry in enumerate(entries):
        words = words_of(entry.term)
        heads.append(words[-1] if words else "")
        for word in words:
            by_word[word].add(number)

    def tie(one: int, other: int, strength: float) -> None:
        if one != other:
            near[one][other] = near[one].get(other, 0.0) + strength
            near[other][one] = near[other].get(one, 0.0) + strength

    for number, entry in enumerate(entries):
        for name in (*entry.related, *entry.aliases):
            if (other := by_key.get(key_of(name))) is not None:
                tie(number, other, 1.0)
    for word, numbers in by_word.items():
        if len(numbers) > MOST_SHARING_A_WORD:
            continue
        ordered = sorted(numbers)
        for place, one in enumerate(ordered):
            for other in ordered[place + 1 :]:
                strength = 1.0 / len(ordered)
                tie(one, other, 2 * strength if heads[one] == heads[other] == word else strength)
    return near


def _tokens(entry: Entry) -> int:
    names = (entry.term, *entry.aliases, *entry.related)
    return sum(map(estimate_text, (entry.definition[:LONGEST_DEFINITION], *names))) + 12


def _request(
    prompt: Prompt, batch: Sequence[Entry], *, most_tokens: int, lists: TermLists
) -> Request:
    lines = [_line(prompt, number, entry, lists) for number, entry in enumerate(batch, 1)]
    return Request(
        key=request_key(
            (entry.key for entry in batch), version=prompt.version, language=prompt.language
        ),
        messages=prompt.messages(entries=fenced("\n".join(lines), name="entries")),
        schema=SCHEMA,
        max_tokens=answer_tokens(ANSWER_TOKENS_ALL + ANSWER_TOKENS_EACH * len(batch), most_tokens),
        task=TASK,
    )


def _line(prompt: Prompt, number: int, entry: Entry, lists: TermLists) -> str:
    """On one line, so that nothing in a definition looks like another entry."""
    more = []
    if entry.key in lists.required:
        more.append(prompt.part("required"))
    if entry.aliases:
        more.append(prompt.part("aliases", value=" / ".join(entry.aliases)))
    if entry.related:
        more.append(prompt.part("related", value=" / ".join(entry.related)))
    if note := lists.notes.get(entry.key):
        more.append(prompt.part("note", value=note))
    aside = f" [{in_line('; '.join(more))}]" if more else ""
    definition = in_line(entry.definition, most=LONGEST_DEFINITION)
    return f"{number}. {in_line(entry.term)}{aside}: {definition}"


def _builtin_request(batch: Sequence[Entry], *, language: str, lists: TermLists) -> Request:
    return Request(
        key=request_key((entry.key for entry in batch), version=BUILTIN_VERSION, language=language),
        messages=NO_PROMPT,
        schema=SCHEMA,
        task=TASK,
        inputs={
            "language": language,
            # What it rests on is known by whether it is supported.
            "entries": [asdict(replace(entry, evidence=())) for entry in batch],
            "required": [entry.key for entry in batch if entry.key in lists.required],
        },
    )
