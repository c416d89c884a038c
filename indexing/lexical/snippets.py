"""The passage of a section that answers a query best, with the matches marked.

Matches are found by the same analysis as in the index, so that what is marked is what was found:
"running" for "run", a Japanese word but not a piece of another one.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from indexing.lexical.analysis import is_japanese, spans_of
from indexing.lexical.query import Query

# Stand for the marks while the text is being cut and cleaned: characters that no text has a
# meaning for.
_ON, _OFF = "\ue000", "\ue001"
_PRIVATE = re.compile(f"[{_ON}{_OFF}]")

# Where a passage may begin: after the end of a sentence or of a line.
_SENTENCE_END = re.compile(r"[。．！？\n]|[.!?](?=\s)")
_WORD_BORDER = re.compile(r"[\s、，,;:）)」』】]")
# So much of the passage may stand before its first match.
_LEAD = 0.3
# A word that comes again is worth little beside one that was not there yet.
_AGAIN = 0.1

# Particles and articles: marking each of them would hide what was asked for.
_SMALL = re.compile(
    "[ぁ-ゖ]{1,2}|a|an|and|are|as|at|be|by|do|for|from|how|in|is|it|not|of|on|or|that|the|this|to|"
    "was|what|when|where|which|who|whi|with"
)

# What Markdown has for the eye of a machine: targets of links and pictures, fences, rules, table
# borders, signs at the beginning of a line, emphasis.
_LINKS = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*(?:\s+\"[^\"\n]*\")?\)")
_MARKUP = re.compile(
    r"""
    ^[ \t]*(?:```|~~~)[^\n]*$
    | ^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)*\|?[ \t]*$
    | ^[ \t]*(?:[-*_][ \t]*){3,}$
    | ^[ \t]*(?:\#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)
    | \*\*|__(?=\S)|(?<=\S)__|`+|<!--.*?-->|</?[A-Za-z][^<>\n]*>
    """,
    re.VERBOSE | re.MULTILINE,
)
# Between words only: in "a*b*c" and "*.md" a star is a star.
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])")
# A link that was cut off in its target.
_HALF_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*$")
_PIPES = re.compile(r"\s*\|\s*")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Snippet:
    text: str
    # Escaped, with the matches in <mark>.
    html: SafeString
    # How many lines of the content come before the line with the first match that is shown.
    line_offset: int
    has_match: bool


class _Match(NamedTuple):
    start: int
    end: int
    # Which part of the query: matches of one part count once.
    part: int


def snippet(content: str, query: Query, *, length: int) -> Snippet:
    """Of about `length` characters; the beginning, where nothing of the query is in the text."""
    content = _PRIVATE.sub(" ", content)
    matches = _matches(content, query)
    if matches:
        first, start = _window(content, matches, length)
    else:
        first, start = 0, len(content) - len(content.lstrip())
    end = _end(content, start, length)
    shown = [match for match in matches if start <= match.start and match.end <= end]
    marked = _cleaned(_marked(content, start, end, shown))
    before = "…" if content[:start].strip() else ""
    after = "…" if content[end:].strip() else ""
    html = escape(marked).replace(_ON, "<mark>").replace(_OFF, "</mark>")
    return Snippet(
        text=before + _PRIVATE.sub("", marked) + after,
        html=mark_safe(before + html + after),  # noqa: S308 (escaped, but for our own marks)
        line_offset=content.count("\n", 0, first),
        has_match=bool(shown),
    )


def _matches(content: str, query: Query) -> list[_Match]:
    parts = {word: number for number, word in enumerate(_telling(query))}
    prefixes = (*query.prefixes, *query.unfinished)
    phrases = query.phrases
    if not (parts or prefixes or phrases):
        return []
    found: list[_Match] = []
    # What was read last, as far back as the longest phrase goes.
    longest = max(map(len, phrases), default=0)
    recent: deque[tuple[str, int, int]] = deque(maxlen=longest)
    for start, end, words in spans_of(content, _wanted((*parts, *prefixes), phrases)):
        if not words:
            recent.clear()
        for word in words:
            if word in parts:
                found.append(_Match(start, end, parts[word]))
            elif prefixes and word.startswith(prefixes):
                found.append(_Match(start, end, len(parts)))
            if longest:
                recent.append((word, start, end))
                found.extend(_phrases_at_end(recent, phrases, len(parts) + 1))
    return sorted(set(found), key=lambda match: (match.start, -match.end))


def _telling(query: Query) -> Sequence[str]:
    """Without the small words that are everywhere, unless there are no others."""
    telling = [word for word in query.words if not _SMALL.fullmatch(word)]
    return telling or query.words


def _phrases_at_end(
    recent: deque[tuple[str, int, int]], phrases: Sequence[tuple[str, ...]], first: int
) -> Iterator[_Match]:
    last = recent[-1][0]
    for number, phrase in enumerate(phrases, first):
        if last != phrase[-1] or len(recent) < len(phrase):
            continue
        tail = list(recent)[-len(phrase) :]
        if tuple(word for word, _, _ in tail) == phrase:
            yield _Match(tail[0][1], tail[-1][2], number)


@lru_cache(maxsize=64)
def _wanted(words: tuple[str, ...], phrases: tuple[tuple[str, ...], ...]) -> re.Pattern[str]:
    """What a run must have for a closer look: a Japanese word, or the beginning of another one,
    whose end the stemmer may have changed."""
    every = {*words, *(word for phrase in phrases for word in phrase)}
    signs = {word if is_japanese(word) else _beginning(word) for word in every}
    return re.compile("|".join(map(re.escape, sorted(signs))) or r"(?!)")


def _beginning(word: str) -> str:
    # "dying" and "die" are one word, and so are those like it. Of all others no more than the last
    # letter is changed.
    return word[:1] if word[1:] == "ie" else word[: max(2, len(word) - 1)]


def _window(content: str, matches: list[_Match], length: int) -> tuple[int, int]:
    """Where the first match of the best passage is, and where the passage begins."""
    best, first = -1.0, matches[0].start
    room = int(length * (1 - _LEAD))
    for number, match in enumerate(matches):
        parts: set[int] = set()
        worth = 0.0
        last = match.start + room
        for start, end, part in islice(matches, number, None):
            if end > last:
                break
            if part in parts:
                worth += _AGAIN
            else:
                worth += 1 + (end - start) / 1000
                parts.add(part)
        if worth > best:
            best, first = worth, match.start
    return first, _start(content, first, int(length * _LEAD), length)


def _start(content: str, first: int, lead: int, length: int) -> int:
    """The beginning of the sentence, or of a word, at most `lead` before the match. All of the
    text before it when the rest would not fill the passage."""
    earliest = max(0, min(first - lead, len(content) - length))
    if earliest == 0:
        return 0
    before = content[earliest:first]
    ends = [end.end() for end in _SENTENCE_END.finditer(before)]
    if not ends:
        ends = [border.end() for border in _WORD_BORDER.finditer(before)][:1]
    return earliest + (ends[0] if ends else 0)


def _end(content: str, start: int, length: int) -> int:
    end = min(len(content), start + length)
    if end == len(content):
        return end
    # Back to a border, if one is near.
    tail = content[start:end]
    for borders in (_SENTENCE_END, _WORD_BORDER):
        last = max((border.end() for border in borders.finditer(tail)), default=0)
        if last > length * 0.75:
            return start + last
    return end


def _marked(content: str, start: int, end: int, matches: list[_Match]) -> str:
    """With the marks in; those that touch or overlap are one."""
    pieces: list[str] = []
    place = start
    open_until: int | None = None
    for match in matches:
        if open_until is not None and match.start <= open_until:
            open_until = max(open_until, match.end)
            continue
        if open_until is not None:
            pieces += [content[place:open_until], _OFF]
            place = open_until
        pieces += [content[place : match.start], _ON]
        place, open_until = match.start, match.end
    if open_until is not None:
        pieces += [content[place:open_until], _OFF]
        place = open_until
    return "".join([*pieces, content[place:end]])


def _cleaned(marked: str) -> str:
    # A mark inside what is taken away goes with it, both of its ends: words are never cut in two.
    text = _HALF_LINK.sub(r"\1", _LINKS.sub(r"\1", marked))
    text = _EMPHASIS.sub(r"\1", _MARKUP.sub("", text))
    text = _PIPES.sub(" ", text)
    text = _SPACE.sub(" ", text).strip()
    return _balanced(text)


def _balanced(text: str) -> str:
    """A link that was cut off in the middle may have taken one end of a mark."""
    depth = 0
    pieces: list[str] = []
    for piece in re.split(f"([{_ON}{_OFF}])", text):
        if piece == _ON:
            if depth:
                continue
            depth = 1
        elif piece == _OFF:
            if not depth:
                continue
            depth = 0
        pieces.append(piece)
    return "".join(pieces) + (_OFF if depth else "")
