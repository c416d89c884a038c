"""Markdown as plain words, for lists and quotes: quick, and good enough for a line."""

import re
from collections.abc import Callable
from html import unescape

from projects.headings import split_anchor
from projects.intake.convert.text import join_lines

# What Markdown puts in front of a line and around words, which says nothing in a list.
_FRONT = re.compile(r"^\s*(?:>\s*)*(?:#{1,6}\s+|[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,9}[.)]\s+)?")
_QUOTED = re.compile(r"^\s*(?:>\s*)*")
# Lines of their own: headings, items, rows of tables, fences; and a break that is meant.
_BEGINS = re.compile(r"#{1,6}\s|[-*+]\s|\d{1,9}[.)]\s|\||:\s|`{3}|~{3}")
_ENDS = re.compile(r"^(?:`{3}|~{3})|(?: {2}|\\|<br\s*/?>)$", re.I)
# The whole of a run of signs opens it, and a run as long closes it.
_CODE = re.compile(r"(?<!`)(`++)(.+?)(?<!`)\1(?!`)", re.DOTALL)
# Two signs that no text has, around the number of what is set aside.
_ASIDE = re.compile("\ue0f0([0-9]+)\ue0f1")
# A line may have only one end of them.
_AROUND = re.compile(r"\*\*|__|`+|~~")
_EMPHASIS = re.compile(
    r"(?<!\\)\*(?=[^\s*])([^*\n]*[^\s*\\])\*"
    r"|(?<![A-Za-z0-9_\\])_(?=[^\s_])([^_\n]*[^\s_])_(?![A-Za-z0-9_])"
)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_LINK = re.compile(
    r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]"
    r"(?:\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)|\[[^\]]*\])"
)
# What is said instead of a picture is all that a line can show of it.
_PICTURE = re.compile(r"!(?=\[[^\[\]\n]*\][(\[])")
_BARE_LINK = re.compile(r"<((?:https?|mailto):[^<>\s]+)>")
_BREAK = re.compile(r"<br\s*/?>", re.I)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_TAG_OR_COMMENT = re.compile(rf"<!--.*?-->|{_TAG.pattern}", re.DOTALL)
_COMMENT_ENDS = "-->"
_SPACE = re.compile(r"\s+")


def plain(line: str) -> str:
    """A line without the signs that only mean something to Markdown."""
    if line.startswith("#"):
        line, _anchor = split_anchor(line)
    words = outside_code(_FRONT.sub("", _without_borders(line)), _without_signs)
    return _SPACE.sub(" ", words).strip()


def _without_borders(line: str) -> str:
    """Of a row of a table, the words between its first stroke and its last."""
    line = line.lstrip().removeprefix("|")
    row = line.rstrip()
    return row.removesuffix("|").rstrip() if row.endswith("|") else line


def plain_quote(quote: str) -> str:
    """A quote as a reader of its document sees it: a paragraph is one line, wherever its source is
    wrapped."""
    lines: list[str] = []
    before = ""
    for source in quote.splitlines():
        line = plain(source)
        if lines and _goes_on(before, source):
            lines[-1] = join_lines(lines[-1], line)
        else:
            lines.append(line)
        before = source
    return "\n".join(lines)


def _goes_on(before: str, source: str) -> bool:
    """Whether two lines of Markdown belong to one paragraph."""
    before, source = _QUOTED.sub("", before), _QUOTED.sub("", source)
    if not before or not source or before.startswith(("#", "|")):
        return False
    return not _ENDS.search(before) and not _BEGINS.match(source)


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """What is code is as it is written: `*args` is no emphasis, `<tag>` no tag."""
    text = _ASIDE.sub("", text)
    codes = {str(number): code for number, (_mark, code) in enumerate(_CODE.findall(text))}
    numbers = iter(codes)
    changed = change(_CODE.sub(lambda _code: f"\ue0f0{next(numbers)}\ue0f1", text))
    # A text may have spelled the two signs as entities.
    return _ASIDE.sub(lambda aside: codes.get(aside[1], ""), changed)


def without_links(text: str) -> str:
    """The words of links, and what stands between tags."""
    text = _BREAK.sub("\n", _BARE_LINK.sub(r"\1", _LINK.sub(r"\1", text)))
    # Beyond, no comment ends: that would be looked for from the beginning of each.
    last = text.rfind(_COMMENT_ENDS) + len(_COMMENT_ENDS) if _COMMENT_ENDS in text else 0
    return _TAG_OR_COMMENT.sub("", text[:last]) + _TAG.sub("", text[last:])


def without_escapes(text: str) -> str:
    return unescape(_ESCAPED.sub(r"\1", text))


def _without_signs(words: str) -> str:
    words = _AROUND.sub("", without_links(_PICTURE.sub("", words)))
    return without_escapes(_EMPHASIS.sub(lambda found: found[1] or found[2], words))
