"""What can be put right without writing: relations and names. Nothing is taken away."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from projects.terms.keys import key_of
from runs.choices import IssueKind
from runs.engine.reviewing.duplicates import are_names_of_one
from runs.pipeline.data import Entry, Issue


def improve(entry: Entry, issues: Iterable[Issue], others: Mapping[str, Entry]) -> Entry:
    """The entry as it was, where nothing can be done for it."""
    aliases, related = list(entry.aliases), list(entry.related)
    for issue in issues:
        other = others.get(issue.other_key)
        if issue.key != entry.key or other is None:
            continue
        if issue.kind == IssueKind.DUPLICATE and are_names_of_one(entry, other):
            aliases += [other.term, *other.aliases]
        elif issue.kind in (IssueKind.DUPLICATE, IssueKind.MISSING_RELATION):
            related.append(other.term)
    aliases = _each_once(aliases, but={entry.key})
    related = _each_once(related, but={entry.key, *map(key_of, aliases)})
    return replace(entry, aliases=tuple(aliases), related=tuple(related))


def _each_once(names: Iterable[str], *, but: Iterable[str]) -> list[str]:
    kept: dict[str, str] = {}
    passed = set(but)
    for name in names:
        if (key := key_of(name)) not in passed:
            kept.setdefault(key, name)
    return list(kept.values())
