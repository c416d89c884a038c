"""Terms in the definitions of other terms."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _

from indexing.lexical.analysis import words_of
from projects.terms.keys import key_of
from runs.choices import IssueKind
from runs.engine.definitions.spelling import IS_JAPANESE, SPACES, Subject, folded
from runs.engine.reviewing.alone import COMMON_NOUN, is_defined
from runs.pipeline.data import Entry, Issue

# A review that reports every mention is read by nobody.
MOST_EACH = 2
# An abbreviation that a single definition uses is its own affair.
FEWEST_USES = 2
MOST_UNDEFINED = 10
LONGEST_NAME = 8  # words

_ABBREVIATION = re.compile(r"(?<![A-Za-z0-9-])[A-Z]{2}[A-Z0-9]{0,4}(?![A-Za-z0-9-])")
# In capitals, but words; and what everybody knows.
_NO_ABBREVIATIONS = frozenset(
    {
        "AND",
        "OR",
        "NOT",
        "ALL",
        "ANY",
        "NO",
        "YES",
        "OK",
        "TRUE",
        "FALSE",
        "NULL",
        "NONE",
        "ID",
        "PC",
    }
)


def missing_relations(entries: Sequence[Entry]) -> list[Issue]:
    """A definition that uses another term of the glossary, and does not lead to it."""
    names = Names(entries)
    issues = []
    for entry in entries:
        if not is_defined(entry):
            # An example of its use mentions whatever stood there.
            continue
        led_to = {entry.key, *map(key_of, (*entry.related, *entry.aliases))}
        mentioned = dict.fromkeys(_mentioned(entry, names))
        missing = [key for key in mentioned if key not in led_to]
        for key in missing[:MOST_EACH]:
            other = names[key]
            issues.append(
                Issue(
                    entry.key,
                    IssueKind.MISSING_RELATION,
                    _("The definition uses “%(other)s”, which has an entry of its own.")
                    % {"other": other.term},
                    _("Name it as a related term."),
                    other_key=key,
                )
            )
    return issues


class Names:
    """The entries, by the words of their names."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = {entry.key: entry for entry in entries}
        self.by_words: dict[tuple[str, ...], str] = {}
        self._spelt: dict[str, re.Pattern[str]] = {}
        for entry in entries:
            # Common words stand in every definition.
            if entry.category == COMMON_NOUN:
                continue
            words = tuple(words_of(entry.term))
            if 0 < len(words) <= LONGEST_NAME:
                self.by_words.setdefault(words, entry.key)
        self.longest = max(map(len, self.by_words), default=0)

    def __getitem__(self, key: str) -> Entry:
        return self._entries[key]

    def stand_in(self, key: str, text: str) -> bool:
        """Whether a folded text that has the stems of a name has its words, or their plural:
        “reservation” has the stem of “reserve”, and is another word."""
        name = self._entries[key].term
        if IS_JAPANESE.search(name):
            # Has no stems.
            return True
        if key not in self._spelt:
            ways = map(re.escape, Subject.ways_of(name))
            self._spelt[key] = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(ways)})(?![a-z0-9])")
        return self._spelt[key].search(text) is not None


def _mentioned(entry: Entry, names: Names) -> Iterator[str]:
    """The keys of the terms in a definition. Where one is part of another, the longer counts; what
    is part of the term's own name is no news."""
    words = words_of(entry.definition)
    text = SPACES.sub(" ", folded(entry.definition))
    own = tuple(words_of(entry.term))
    place = 0
    while place < len(words):
        for length in range(min(names.longest, len(words) - place), 0, -1):
            said = tuple(words[place : place + length])
            if said == own:
                break
            key = names.by_words.get(said)
            if key is not None and names.stand_in(key, text):
                if not _is_part(said, own):
                    yield key
                break
        else:
            length = 1
        place += length


def _is_part(said: tuple[str, ...], own: tuple[str, ...]) -> bool:
    starts = range(len(own) - len(said) + 1)
    return any(own[start : start + len(said)] == said for start in starts)


def undefined(entries: Sequence[Entry]) -> list[Issue]:
    """Abbreviations that several definitions use and none explains. Each is reported once, on the
    first of them."""
    explained = {
        key_of(name) for entry in entries for name in (entry.term, *entry.aliases, *entry.related)
    }
    # What stands within a term is explained with it.
    within = {word for entry in entries for word in _ABBREVIATION.findall(entry.term)}
    users: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if not is_defined(entry):
            continue
        for word in dict.fromkeys(_ABBREVIATION.findall(entry.definition)):
            if word not in _NO_ABBREVIATIONS | within and key_of(word) not in explained:
                users[word].append(entry)
    often = [word for word, found in users.items() if len(found) >= FEWEST_USES]
    often.sort(key=lambda word: (-len(users[word]), word))
    return [
        Issue(
            users[word][0].key,
            IssueKind.UNCLEAR,
            _("“%(word)s” is used in %(count)d definitions, but explained in none.")
            % {"word": word, "count": len(users[word])},
            _("Add “%(word)s” to the required terms, or write it out.") % {"word": word},
        )
        for word in often[:MOST_UNDEFINED]
    ]
