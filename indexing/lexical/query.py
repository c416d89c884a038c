"""What somebody typed, taken apart. Whatever it is, it is a query: nothing here can fail.

    words             any of them, the rarer the better
    "exact phrase"    has to be there; also 「…」 and “…”
    begin*            words that begin so; and the last word while somebody types
    -word -"phrase"   must not be there

Everything else, operators of other search engines among it, is text.
"""

import re
import unicodedata
from dataclasses import dataclass, field, replace
from typing import TypeVar

from django.utils.translation import gettext as _

from indexing.lexical.analysis import Language, Span, is_japanese, language_of, spans_of, words_of

# More of a query is not looked at.
MOST_CHARACTERS = 2000
MOST_PHRASES = 8
MOST_EXCLUSIONS = 16
MOST_PREFIXES = 4
# A phrase need not be longer to be exact enough.
MOST_PHRASE_WORDS = 24
# How many are worth asking the index about; search.py takes the rarest of them.
MOST_WORDS = 64

_OPENING = '"“「『'
_TOKENS = re.compile(
    rf"""
    (?P<minus>(?:(?<=\s)|\A)-)?
    (?:"(?P<straight>[^"]*)"|“(?P<curly>[^”]*)”|「(?P<corner>[^」]*)」|『(?P<double>[^』]*)』)
    | (?P<plain>[^\s{_OPENING}]+)
    """,
    re.VERBOSE,
)
T = TypeVar("T")

# Half of a character, and what no text has.
_BROKEN = re.compile("[\ud800-\udfff\x00]")


@dataclass(frozen=True)
class Query:
    text: str
    language: Language
    words: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    # Beginnings of words: as asked for with *, and of a word that is not finished yet.
    prefixes: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    # Phrases too; a single word is one of length one.
    excluded: tuple[tuple[str, ...], ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Nothing to look for: there may still be something to leave out."""
        return not (self.words or self.phrases or self.prefixes or self.unfinished)


@dataclass
class _Parts:
    words: dict[str, None] = field(default_factory=dict)
    phrases: dict[tuple[str, ...], None] = field(default_factory=dict)
    prefixes: dict[str, None] = field(default_factory=dict)
    excluded: dict[tuple[str, ...], None] = field(default_factory=dict)


def parse(text: str, *, typing: bool = False) -> Query:
    """With `typing`, the last word may go on."""
    notices: list[str] = []
    if len(text) > MOST_CHARACTERS:
        text = text[:MOST_CHARACTERS]
        notices.append(
            _("Only the first %(count)d characters of the query were looked at.")
            % {"count": MOST_CHARACTERS}
        )
    # Full-width quotes, stars and spaces are what they look like.
    text = unicodedata.normalize("NFKC", _BROKEN.sub(" ", text))
    parts = _Parts()
    unfinished: tuple[str, ...] = ()
    for token in _TOKENS.finditer(text):
        unfinished = _take(token, parts)
    if not typing or text[-1:].isspace():
        unfinished = ()
    query = Query(
        text=text.strip(),
        language=language_of(text),
        words=_first(parts.words, MOST_WORDS, notices),
        phrases=_first(parts.phrases, MOST_PHRASES, notices),
        prefixes=_first(parts.prefixes, MOST_PREFIXES, notices),
        unfinished=unfinished,
        excluded=_first(parts.excluded, MOST_EXCLUSIONS, notices),
    )
    if query.is_empty and query.excluded:
        notices.append(_("Say also what to look for, not only what to leave out."))
    return replace(query, notices=tuple(dict.fromkeys(notices)))


def _take(token: re.Match[str], parts: _Parts) -> tuple[str, ...]:
    """Put the token where it belongs. What is returned may go on, if nothing comes after it."""
    plain = token["plain"]
    if plain is None:
        quoted = token["straight"] or token["curly"] or token["corner"] or token["double"] or ""
        phrase = tuple(words_of(quoted)[:MOST_PHRASE_WORDS])
        if phrase:
            (parts.excluded if token["minus"] else parts.phrases)[phrase] = None
        return ()
    # `--help` and `a-b` exclude nothing.
    begins = token.start() == 0 or token.string[token.start() - 1].isspace()
    if begins and re.match(r"-[^-]", plain):
        if phrase := tuple(words_of(plain)[:MOST_PHRASE_WORDS]):
            parts.excluded[phrase] = None
        return ()
    words = words_of(plain)
    spans = list(spans_of(plain))
    last = spans[-1].words if spans else ()
    if last and plain.endswith("*"):
        parts.words.update(dict.fromkeys(words[: -len(last)]))
        parts.prefixes.update(dict.fromkeys(_ends(last)))
        return ()
    parts.words.update(dict.fromkeys(words))
    # One Latin letter begins too much to mean anything.
    begun = [end for end in _ends(last) if len(end) > 1 or is_japanese(end)]
    return tuple(dict.fromkeys([*begun, *_across(spans)]))


def _ends(run: tuple[str, ...]) -> tuple[str, ...]:
    """Of an identifier, itself and its last part may go on."""
    return tuple(dict.fromkeys((*run[:1], *run[-1:])))


def _across(spans: list[Span]) -> list[str]:
    """Half of a Japanese word may be cut otherwise than all of it ("全文検" as 全 and 文検): the
    word may have begun with the one before."""
    if len(spans) < 2 or spans[-2].end != spans[-1].start:
        return []
    before, last = spans[-2].words[-1:], spans[-1].words[-1:]
    if not before or not last or not (is_japanese(before[0]) and is_japanese(last[0])):
        return []
    return [before[0] + last[0]]


def _first(items: dict[T, None], most: int, notices: list[str]) -> tuple[T, ...]:
    if len(items) > most:
        notices.append(_("The query is very long: a part of it was left out."))
    return tuple(items)[:most]
