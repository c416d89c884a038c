"""The glossary as a document for people."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.conf import settings
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from projects.exports.data import EntryData
from projects.rendering.plain import plain_quote
from projects.terms.readings import index_letter

# What would be markup within a line. An underscore between letters or digits is none.
INLINE = re.compile(r"[\\`*\[\]<>|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
# What would be markup at the beginning of a line.
AT_START = re.compile(r"^([ \t]*)([#+\-=]|\d{1,9}[.)])(?=[ \t]|$|[-=#])", re.MULTILINE)
# What would close a heading, and not be seen.
AT_END = re.compile(r" (#+)$")
INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
# Places of one entry; the quotes beyond are in the other formats.
SHOWN_EVIDENCE = 3


def glossary_markdown(
    entries: Iterable[EntryData],
    *,
    title: str = "",
    language: str = "",
    categories: Mapping[str, Any] | None = None,
    letters: bool = False,
) -> Iterator[str]:
    """In the order they come, in the glossary's own language, else in the reader's; with a heading
    for each letter if they are sorted so."""
    language = language or get_language() or settings.LANGUAGE_CODE
    with override(language):
        head = f"# {_heading(title or _('Glossary'))}\n"
    yield head
    level = "###" if letters else "##"
    letter = ""
    for entry in entries:
        if letters and (here := index_letter(entry.reading)) != letter:
            letter = here
            yield f"\n## {_text(letter)}\n"
        # Not around the whole: while an entry is being sent, the thread is somebody else's.
        with override(language):
            text = f"\n{level} {_heading(entry.term)}\n\n{_body(entry, categories or {})}"
        yield text


def _body(entry: EntryData, categories: Mapping[str, Any]) -> str:
    parts = []
    if entry.definition:
        parts.append(_text(entry.definition) + "\n")
    facts = []
    if entry.category:
        name = categories.get(entry.category, entry.category)
        facts.append((_("Category"), _line(str(name))))
    if entry.aliases:
        facts.append((_("Also called"), ", ".join(map(_line, entry.aliases))))
    if entry.related:
        facts.append((_("See also"), ", ".join(map(_line, entry.related))))
    if entry.needs_review or not entry.supported:
        facts.append((_("Note"), _("needs review")))
    if facts:
        parts.append("".join(f"- {name}: {value}\n" for name, value in facts))
    for piece in entry.evidence[:SHOWN_EVIDENCE]:
        place = f"{piece['path']}:{piece['line_start']}"
        quote = _text(" ".join(plain_quote(str(piece["quote"])).split()))
        parts.append(f"> {quote}\n>\n> — {_line(place)}\n")
    return "\n".join(parts)


def _heading(text: str) -> str:
    return AT_END.sub(r" \\\1", _line(text))


def _line(text: str) -> str:
    return _text(" ".join(text.split()))


def _text(text: str) -> str:
    """Words as words, whatever signs are in them. Lines stay lines."""
    text = INLINE.sub(lambda sign: "\\" + sign[0], INDENT.sub("", text))
    return AT_START.sub(_escaped_start, text)


def _escaped_start(start: re.Match[str]) -> str:
    mark = start[2]
    return start[1] + (f"\\{mark}" if len(mark) == 1 else f"{mark[:-1]}\\{mark[-1]}")
