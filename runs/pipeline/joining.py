"""Two names of one thing become one entry.

A review says that two entries are about the same; that alone may be a mistake. Where one of them
also has the other's name among its own, a glossary with both would only say everything twice.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace

from projects.terms.keys import key_of
from runs.choices import IssueKind
from runs.engine.reviewing.alone import is_defined
from runs.pipeline.data import Entry, Issue


@dataclass(frozen=True)
class Joined:
    # Those that are another than before, by key.
    changed: Mapping[str, Entry]
    # Key → the key of the entry that it is a name of now.
    gone: Mapping[str, str]


def join(entries: Mapping[str, Entry], issues: Iterable[Issue], required: Container[str]) -> Joined:
    """`entries` in their order, best first. What people require keeps an entry of its own."""
    others = _names_of_one(entries, issues)
    place = {key: number for number, key in enumerate(entries)}

    def rank(key: str) -> tuple[bool, bool, int]:
        return key not in required, not is_defined(entries[key]), place[key]

    gone: dict[str, str] = {}
    heads: dict[str, Entry] = {}
    for key in sorted(others, key=rank):
        if key in gone:
            continue
        for other in sorted(others[key], key=rank):
            if other not in required and other not in gone and other not in heads:
                gone[other] = key
                heads[key] = _with(heads.get(key, entries[key]), entries[other])
    now = {key: heads.get(key, entry) for key, entry in entries.items() if key not in gone}
    result = {key: _renamed(entry, now, gone) for key, entry in now.items()}
    return Joined(
        changed={key: entry for key, entry in result.items() if entry != entries[key]}, gone=gone
    )


def _names_of_one(entries: Mapping[str, Entry], issues: Iterable[Issue]) -> dict[str, set[str]]:
    others: dict[str, set[str]] = defaultdict(set)
    for issue in issues:
        one, other = entries.get(issue.key), entries.get(issue.other_key)
        if issue.kind != IssueKind.DUPLICATE or one is None or other is None or one is other:
            continue
        if _has_name_of(one, other) or _has_name_of(other, one):
            others[one.key].add(other.key)
            others[other.key].add(one.key)
    return others


def _has_name_of(one: Entry, other: Entry) -> bool:
    return other.key in map(key_of, one.aliases)


def _with(entry: Entry, other: Entry) -> Entry:
    """With the names of the other, and what it says where the first says nothing."""
    if is_defined(other) and not is_defined(entry):
        entry = replace(
            entry,
            definition=other.definition,
            confidence=other.confidence,
            evidence=other.evidence,
            supported=other.supported,
            needs_review=other.needs_review,
            prompt_version=other.prompt_version,
        )
    return replace(
        entry,
        aliases=_once((*entry.aliases, other.term, *other.aliases), but={entry.key}),
        related=_once((*entry.related, *other.related), but={entry.key, other.key}),
    )


def _renamed(entry: Entry, now: Mapping[str, Entry], gone: Mapping[str, str]) -> Entry:
    """Related to what is there."""
    if not any(key_of(name) in gone for name in entry.related):
        return entry
    names = (
        now[gone[key]].term if (key := key_of(name)) in gone else name for name in entry.related
    )
    return replace(entry, related=_once(names, but={entry.key, *map(key_of, entry.aliases)}))


def _once(names: Iterable[str], *, but: Container[str]) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for name in names:
        if (key := key_of(name)) not in but:
            kept.setdefault(key, name)
    return tuple(kept.values())
