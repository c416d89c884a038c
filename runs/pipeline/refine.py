"""A second look at the entries that a review found something wrong with. All others are left as
they are, and nobody is asked about them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from glossary_site.llm.prompts import fenced
from glossary_site.llm.requests import Request
from projects.terms.keys import key_of
from runs.choices import IssueKind
from runs.engine.definitions import ContextFinder
from runs.pipeline.answers import ANSWER_TOKENS, SCHEMA, better, read_entries
from runs.pipeline.data import Context, Entry, Failure, Issue, Term
from runs.pipeline.generate import facts_of, passages, term_block
from runs.pipeline.plan import (
    BUILTIN_VERSION,
    DEFAULT_MOST_TOKENS,
    NO_PROMPT,
    answer_tokens,
    fits,
    in_line,
    keys_in,
    request_key,
)
from runs.pipeline.prompts import Prompt, prompt_for

TASK = "runs.refine"
OF_BOTH = frozenset({IssueKind.DUPLICATE, IssueKind.CONTRADICTION})
LONGEST_DEFINITION = 1_000
SHORTEST_PASSAGE = 200


@dataclass(frozen=True)
class Work:
    """An entry with what is wrong with it, and what there is to mend it with."""

    entry: Entry
    issues: tuple[Issue, ...]
    term: Term
    contexts: tuple[Context, ...]
    others: tuple[Entry, ...] = ()


def mendable(issues: Iterable[Issue]) -> list[Issue]:
    """Those that other words could put right. Whether a term belongs into a glossary is none."""
    return [issue for issue in issues if not issue.exclude and issue.kind != IssueKind.UNNECESSARY]


def concerned(entries: Iterable[Entry], issues: Iterable[Issue]) -> dict[str, list[Issue]]:
    """The keys of the entries that get a second look, in the order of the entries, with what it is
    for. A duplicate or a contradiction concerns both, though it is said of one."""
    found: dict[str, list[Issue]] = {entry.key: [] for entry in entries}
    for issue in mendable(issues):
        if issue.key in found:
            found[issue.key].append(issue)
        if issue.kind in OF_BOTH and issue.other_key in found:
            found[issue.other_key].append(replace(issue, key=issue.other_key, other_key=issue.key))
    return {key: each for key, each in found.items() if each}


def requests(
    entries: Sequence[Entry],
    issues: Iterable[Issue],
    finder: ContextFinder,
    *,
    terms: Mapping[str, Term],
    language: str,
    builtin: bool,
    most_tokens: int = DEFAULT_MOST_TOKENS,
) -> Iterator[Request]:
    """One for each entry with an issue. `most_tokens` is what a request and its answer may be
    together: the model's window."""
    by_key = {entry.key: entry for entry in entries}
    issues_of = concerned(entries, issues)
    if not builtin:
        finder.prepare(terms.get(key) or term_of(by_key[key]) for key in issues_of)
    for key, found in issues_of.items():
        entry = by_key[key]
        others = dict.fromkeys(issue.other_key for issue in found if issue.other_key in by_key)
        term = terms.get(entry.key) or term_of(entry)
        work = Work(
            entry=entry,
            issues=tuple(found),
            term=term,
            contexts=() if builtin else tuple(finder.contexts(term)),
            others=tuple(by_key[key] for key in others),
        )
        if builtin:
            yield _builtin_request(work, language=language)
        else:
            yield _fitting(prompt_for("refine", language), work, most_tokens)


def read(
    request_key: str,
    data: Any,
    *,
    entries: Mapping[str, Entry],
    terms: Mapping[str, Term],
    finder: ContextFinder,
    names: Collection[str],
) -> list[Entry | Failure]:
    """The entries anew. What would rest on less than before is not taken over; what did not change
    comes back as it was. `names` are those of all entries: see `names_of`."""
    asked = {key: entries[key] for key in keys_in(request_key) if key in entries}
    orphans = {key: term_of(entry) for key, entry in asked.items() if key not in terms}
    results = read_entries(
        request_key,
        data,
        terms={**terms, **orphans} if orphans else terms,
        finder=finder,
        evidence={key: entry.evidence for key, entry in asked.items()},
        names=names,
    )
    return [
        better(entries[result.key], result)
        if isinstance(result, Entry) and result.key in entries
        else result
        for result in results
    ]


def names_of(entries: Iterable[Entry]) -> frozenset[str]:
    """The keys of all names that a glossary has."""
    return frozenset(key_of(name) for entry in entries for name in (entry.term, *entry.aliases))


def term_of(entry: Entry) -> Term:
    """Of an entry that has outlived its term."""
    return Term(
        text=entry.term,
        key=entry.key,
        language=entry.language,
        reading=entry.reading,
        category=entry.category,
        score=entry.score,
        frequency=entry.frequency,
    )


def _builtin_request(work: Work, *, language: str) -> Request:
    return Request(
        key=request_key([work.entry.key], version=BUILTIN_VERSION, language=language),
        messages=NO_PROMPT,
        schema=SCHEMA,
        task=TASK,
        inputs={
            "entry": asdict(work.entry),
            "issues": [asdict(issue) for issue in work.issues],
            "others": [asdict(replace(other, evidence=())) for other in work.others],
        },
    )


def _fitting(prompt: Prompt, work: Work, most_tokens: int) -> Request:
    """With as many passages as the window takes."""
    for smaller in _ever_smaller(work):
        request = _request(prompt, smaller, most_tokens)
        if fits(request, most_tokens):
            break
    return request


def _ever_smaller(work: Work) -> Iterator[Work]:
    for count in range(len(work.contexts), 0, -1):
        yield replace(work, contexts=work.contexts[:count])
    if work.contexts:
        only = work.contexts[0]
        length = len(only.text) // 2
        while length >= SHORTEST_PASSAGE:
            yield replace(work, contexts=(replace(only, text=only.text[:length]),))
            length //= 2
    yield replace(work, contexts=(), others=())


def _request(prompt: Prompt, work: Work, most_tokens: int) -> Request:
    facts = facts_of(prompt, work.term)
    facts.append(prompt.part("entry", value=fenced(_described(work.entry), name="entry")))
    issues = "\n".join(_issue_line(issue) for issue in work.issues)
    facts.append(prompt.part("issues", value=fenced(issues, name="review")))
    if work.others:
        others = "\n".join(map(_described, work.others))
        facts.append(prompt.part("others", value=fenced(others, name="other entries")))
    shown = passages(work.contexts, number=1)
    block = term_block(prompt, work.term, number=1, facts=facts, shown=shown)
    return Request(
        key=request_key([work.entry.key], version=prompt.version, language=prompt.language),
        messages=prompt.messages(terms=block),
        schema=SCHEMA,
        max_tokens=answer_tokens(ANSWER_TOKENS, most_tokens),
        task=TASK,
    )


def _described(entry: Entry) -> str:
    names = " / ".join(in_line(name) for name in (entry.term, *entry.aliases))
    lines = [f"{names}: {in_line(entry.definition, most=LONGEST_DEFINITION)}"]
    if entry.related:
        lines.append("→ " + " / ".join(in_line(name) for name in entry.related))
    return "\n".join(lines)


def _issue_line(issue: Issue) -> str:
    line = f"{issue.kind}: {in_line(issue.description)}"
    return f"{line} → {in_line(issue.suggestion)}" if issue.suggestion else line
