"""Long forms with their short ones: "Message Queue (MQ)", 再生可能エネルギー（再エネ）."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from runs.engine.terms.markup import Block


class Pair(NamedTuple):
    short: str
    long: str
    # The letters of the short form are found in the long one, in order: it is the same thing, and
    # not only its name in another language.
    is_spelled_out: bool


_BRACKETS = re.compile(r"\s?[(（]([^()（）\n]{2,60})[)）]")
_SHORT = re.compile(r"[A-Za-z][A-Za-z0-9/&-]{1,9}")
_WORDS = re.compile(r"[A-Za-z][\w'’/-]*")
_JAPANESE_BEFORE = re.compile("[\u3005\u30a1-\u30fa\u30fc\u4e00-\u9fffA-Za-z0-9・]{2,30}$")
_JAPANESE = re.compile("[\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fff]+")
_LETTERS = 60
_SMALL_WORDS = frozenset(["of", "and", "the", "for", "in", "on", "to", "a", "an", "with"])
# 以下「NTD」, 略称: X, abbreviated as X.
_CALLED = re.compile(
    r"(?:以下、?|略称|略して|略:|通称|or|abbreviated|abbr\.?)[\s「:：『“\"]*([^」』”\"]+)"
)


def pairs_in(block: Block) -> Iterator[Pair]:
    if "(" not in block.text and "（" not in block.text:
        return
    for brackets in _BRACKETS.finditer(block.text):
        inner = brackets[1].strip()
        if called := _CALLED.match(inner):
            inner = called[1].strip()
        before = block.text[max(0, brackets.start() - _LETTERS) : brackets.start()]
        pair = _english(before, inner) or _japanese(before, inner)
        if pair:
            yield pair


def _english(before: str, inner: str) -> Pair | None:
    words = _WORDS.findall(before)
    if _looks_short(inner) and (long := _long_form(words, inner)):
        return Pair(inner, long, is_spelled_out=True)
    # TCP (Transmission Control Protocol)
    if words and before.endswith(words[-1]) and _looks_short(words[-1]):
        inside = _WORDS.findall(inner)
        if " ".join(inside) == inner and _long_form(inside, words[-1]) == inner:
            return Pair(words[-1], inner, is_spelled_out=True)
    return None


def _looks_short(text: str) -> bool:
    """Letters of which at least two are capitals."""
    return _SHORT.fullmatch(text) is not None and sum(map(str.isupper, text)) > 1


def _long_form(words: list[str], short: str) -> str:
    """The last words, if their initials are the letters of the short form."""
    letters = re.sub(r"[^a-z0-9]", "", short.removesuffix("s").lower())
    for count in range(2, min(len(letters) + 3, len(words)) + 1):
        tail = words[-count:]
        if tail[0].lower() in _SMALL_WORDS:
            continue
        if _initials_match(tail, letters):
            return " ".join(tail)
    return ""


def _initials_match(words: list[str], letters: str) -> bool:
    parts = [part.lower() for word in words for part in re.split(r"[-/]", word) if part]
    every = "".join(part[0] for part in parts)
    main = "".join(part[0] for part in parts if part not in _SMALL_WORDS)
    return letters in (every, main)


def _japanese(before: str, inner: str) -> Pair | None:
    found = _JAPANESE_BEFORE.search(before)
    if not found or not _JAPANESE.search(found[0]):
        return None
    long = found[0].strip("・")
    if _looks_short(inner):
        return Pair(inner, long, is_spelled_out=False)
    shorter = _JAPANESE.fullmatch(inner) and 2 <= len(inner) < len(long)
    if shorter and inner not in long and inner[0] == long[0] and _in_order(inner, long):
        return Pair(inner, long, is_spelled_out=True)
    return None


def _in_order(letters: str, text: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in letters)
