"""Markdown as plain words, for lists and quotes: quick, and good enough for a line."""

import re

from projects.headings import split_anchor

# What Markdown puts in front of a line and around words, which says nothing in a list.
_FRONT = re.compile(r"^\s*(?:>\s*)*(?:#{1,6}\s+|[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,9}[.)]\s+)?")
_CODE = re.compile(r"(`+)(.+?)\1")
_AROUND = re.compile(r"\*\*|__|`+|~~")
_EMPHASIS = re.compile(
    r"(?<!\\)\*(?=[^\s*])([^*\n]*[^\s*\\])\*"
    r"|(?<![A-Za-z0-9_\\])_(?=[^\s_])([^_\n]*[^\s_])_(?![A-Za-z0-9_])"
)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_CELLS = re.compile(r"^\s*\|\s*|\s*\|\s*$")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
_SPACE = re.compile(r"\s+")


def plain(line: str) -> str:
    """A line without the signs that only mean something to Markdown."""
    if line.startswith("#"):
        line, _anchor = split_anchor(line)
    words = _LINK.sub(r"\1", _FRONT.sub("", _CELLS.sub("", line)))
    # What is code is as it is written: `*args` is no emphasis.
    last, shown = 0, []
    for code in _CODE.finditer(words):
        shown += [_without_signs(words[last : code.start()]), code[2]]
        last = code.end()
    return _SPACE.sub(" ", "".join([*shown, _without_signs(words[last:])])).strip()


def _without_signs(words: str) -> str:
    words = _EMPHASIS.sub(lambda found: found[1] or found[2], _AROUND.sub("", words))
    return _ESCAPED.sub(r"\1", words)


def plain_quote(quote: str) -> str:
    """A quote as a reader of its document sees it, line by line."""
    return "\n".join(map(plain, quote.splitlines()))
