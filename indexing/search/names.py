"""Finding the names of a glossary in a text: all of them at once, however many there are.

The text is taken apart once; from each place at which a name may begin, longer and longer pieces
are looked up in a table. So the time goes with the length of the text and hardly with the number of
names, and nothing has to be compiled when the glossary changes.

A name is found in each of its spellings (`projects/terms/keys.py`), as words of their own: not
inside of a longer word or identifier, nor of a longer run of katakana or kanji. `IT` is not `it`.
Of names that overlap, the longest at the earliest place counts.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

from indexing.lexical.analysis import JAPANESE
from projects.terms.keys import LONGEST, key_of

HIRAGANA = "\u3041-\u3096\u309d-\u309f"
KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
KANJI = "\u3005-\u3007\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
LETTER = rf"[^\W_{JAPANESE}]"
# A run of one script, or of letters and digits. Hiragana has no borders to go by: each is one.
_TOKEN = re.compile(
    rf"(?P<kanji>[{KANJI}]+)|[{HIRAGANA}]|[{KATAKANA}]+(?:[・·][{KATAKANA}]+)*"
    rf"|(?P<word>(?:(?<!\S)\.)?{LETTER}+(?:['’]{LETTER}+)*(?:\+\+|\#)?)"
)
# Kanji that stand before or after a word without making another of it: 各部署, 会議中.
_BEFORE = frozenset("各全本同両他毎当")
_AFTER = frozenset("等内中間時後前上下側毎")
_SHORTEST_BESIDE = 2
# Between two words with nothing else there: they are parts of one, as in `file-name`, `a/b`, `x.y`.
_ATTACHED = frozenset("-_./\\@\u2010\u2011")
_MARKDOWN = re.compile("[*`~]")
_SPACE = re.compile(r"[^\S\n]*\n?[^\S\n]*")
_JOINT = re.compile("[-\u2010]\n|[-_\u2010-\u2015\u2212\u30fb\u00b7\u30a0]")
_SIGN = re.compile(r"\s?[/&+]\s?|[.:#@]")
_POSSESSIVE = re.compile("['’]s?$")
_HIRAGANA_ONLY = re.compile(f"[{HIRAGANA}]+")
# So short a name in hiragana is a part of everything.
_SHORTEST_HIRAGANA = 3
_LONGEST_ACRONYM = 6
# Letters by which a place is known as one where a longer name may begin: most are not.
_HEAD = 4
# Between two words of a name: no more than a line end and an indent.
_WIDEST = 40
_NEAR_ENOUGH = 0.6
# Shorter than this, it is a part of too much to be near.
_SHORTEST_PART = 2


class Token(NamedTuple):
    # As it counts before another word, and as the last or only one (`queues`, `queue`).
    inner: str
    last: str
    # What stands between it and the one before; None: no name goes across.
    glue: str | None
    # Whether it is only a part of a word together with the one before.
    attached: bool
    start: int
    end: int


@dataclass(frozen=True)
class Row:
    """An entry, and everything it is called."""

    id: int
    term: str
    key: str
    aliases: Sequence[str] = ()


class Owner(NamedTuple):
    id: int
    # Counts in capitals only.
    capitals: bool


class Names:
    """The names of one glossary. Never changed once made: threads share it."""

    def __init__(self, rows: Iterable[Row]) -> None:
        terms: dict[str, tuple[Owner, ...]] = {}
        aliases: dict[str, tuple[Owner, ...]] = {}
        for row in rows:
            _add(terms, row.term, row.key, row.id)
            for alias in row.aliases:
                _add(aliases, alias, key_of(alias), row.id)
        # What an entry is called is not for an alias of another one to claim.
        self._owners = aliases | terms
        # How long the longest is that begins so.
        self._longest: dict[str, int] = {}
        for spelling in self._owners:
            for letters in range(1, _HEAD + 1):
                head = spelling[:letters]
                self._longest[head] = max(self._longest.get(head, 0), len(spelling))

    def __bool__(self) -> bool:
        return bool(self._owners)

    def named(self, text: str) -> list[int]:
        """The entries that are called so, term or alias, in whatever spelling."""
        if not text.strip():
            return []
        owners = self._owners.get(key_of(text)) or self._owners.get(_joined(text)) or ()
        return [owner.id for owner in owners]

    def nearest(self, text: str, *, limit: int) -> list[int]:
        """Entries with a name like that: one that has it as a part, or is a part of it, or differs
        in a few letters; the nearest first."""
        if not text.strip():
            return []
        key = key_of(text)
        parts = [name for name in self._owners if _is_part(key, name) or _is_part(name, key)]
        parts.sort(key=lambda name: (abs(len(name) - len(key)), name))
        alike = get_close_matches(key, self._owners, n=limit, cutoff=_NEAR_ENOUGH)
        ids = [owner.id for name in (*alike, *parts) for owner in self._owners[name]]
        return list(dict.fromkeys(ids))[:limit]

    def ids_in(self, text: str) -> set[int]:
        """The entries whose names stand in a text."""
        text = normalize("NFKC", text)
        tokens = list(_tokens(text))
        ids: set[int] = set()
        after = 0
        for place, token in enumerate(tokens):
            # Within a name that was found; or nothing begins here, which is quickly seen.
            if place < after or not self._may_begin(token):
                continue
            after, owners = self._longest_at(tokens, place)
            if owners:
                written = text[token.start : tokens[after - 1].end]
                ids.update(o.id for o in owners if not o.capitals or written.rstrip("s").isupper())
        return ids

    def _may_begin(self, token: Token) -> bool:
        longest = self._longest.get(token.inner[:_HEAD], 0)
        return longest > len(token.inner) or token.last in self._owners

    def _longest_at(
        self, tokens: Sequence[Token], place: int
    ) -> tuple[int, tuple[Owner, ...] | None]:
        """Where the longest name that begins here is over, and whose it is."""
        token = tokens[place]
        if token.attached:
            return place + 1, None
        found = after = place + 1
        owners = self._alone(tokens, after, token.last)
        whole = token.inner
        longest = self._longest.get(whole[:_HEAD], 0)
        while after < len(tokens) and len(whole) < longest:
            token = tokens[after]
            if token.glue is None:
                break
            whole += token.glue
            after += 1
            if longer := self._alone(tokens, after, whole + token.last):
                found, owners = after, longer
            whole += token.inner
        return found, owners

    def _alone(
        self, tokens: Sequence[Token], after: int, spelling: str
    ) -> tuple[Owner, ...] | None:
        owners = self._owners.get(spelling)
        if owners is None or (after < len(tokens) and tokens[after].attached):
            return None
        return owners


def _add(names: dict[str, tuple[Owner, ...]], name: str, key: str, id: int) -> None:
    if len(name) < _SHORTEST_HIRAGANA and _HIRAGANA_ONLY.fullmatch(name):
        return
    owner = Owner(id, _is_acronym(name))
    for spelling in {key, _joined(name)} - {""}:
        names[spelling] = (*names.get(spelling, ()), owner)


def _is_acronym(name: str) -> bool:
    return name.isascii() and name.isupper() and len(name) <= _LONGEST_ACRONYM


def _joined(name: str) -> str:
    """A name as it is put together from the words of a text: long vowels, for one, are weighed
    word by word there and over the whole in the key. Empty: no text has it in one piece."""
    tokens = list(_tokens(normalize("NFKC", name)))
    if not tokens or any(token.glue is None for token in tokens[1:]):
        return ""
    inner = "".join(f"{token.glue}{token.inner}" for token in tokens[1:-1])
    first = tokens[0].inner if len(tokens) > 1 else ""
    last = tokens[-1]
    return f"{first}{inner}{last.glue if first else ''}{last.last}"


def _is_part(part: str, whole: str) -> bool:
    return len(part) >= _SHORTEST_PART and part in whole


def _tokens(text: str) -> Iterator[Token]:
    end = 0
    was_word = False
    glue: str | None = None
    for found in _TOKEN.finditer(text):
        between = text[end : found.start()]
        is_word = found.lastgroup == "word"
        attached = is_word and was_word and between in _ATTACHED
        glue = _glue(between)
        start = found.start()
        for piece in _pieces(found[0]) if found.lastgroup == "kanji" else (found[0],):
            inner, last = _forms(piece) if len(piece) <= LONGEST else (piece, piece)
            yield Token(inner, last, glue, attached, start, start + len(piece))
            start += len(piece)
            glue, attached = "", False
        end, was_word = found.end(), is_word


def _pieces(kanji: str) -> list[str]:
    """A run of kanji without those that only stand beside a word."""
    front = kanji[:1] if kanji[0] in _BEFORE and len(kanji) > _SHORTEST_BESIDE else ""
    rest = kanji[len(front) :]
    back = rest[-1:] if rest[-1] in _AFTER and len(rest) > _SHORTEST_BESIDE else ""
    return [piece for piece in (front, rest[: len(rest) - len(back)], back) if piece]


@lru_cache(maxsize=1 << 16)
def _forms(token: str) -> tuple[str, str]:
    last = key_of(token)
    if not token[0].isascii():
        return last, last
    return _POSSESSIVE.sub("", token).casefold(), last


@lru_cache(maxsize=1 << 10)
def _glue(between: str) -> str | None:
    """As keys have it: spaces and joints go, other signs stay. None where a sentence, a line of a
    list or a cell may be over."""
    if len(between) > _WIDEST:
        return None
    between = _MARKDOWN.sub("", between)
    if _SPACE.fullmatch(between) or _JOINT.fullmatch(between):
        return ""
    return between.strip() if _SIGN.fullmatch(between) else None
