"""Links to the lines of a document, and those lines as a list shows them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from projects.rendering.passage import Passage
from projects.rendering.plain import plain

# As many characters of a hash as a link needs to name a text.
HASH_LENGTH = 12
# A line of a list is about this long; what surrounds the term is what people want to see.
EXCERPT = 240
BEFORE = 80


@dataclass(frozen=True)
class Part:
    """A piece of a line; marked where the term stands."""

    text: str
    marked: bool = False


def lines_url(
    *, project_id: int, document_id: int, first: int, last: int, file_hash: str = ""
) -> str:
    """The page of the document with these lines marked. The hash says for which text the numbers
    are meant, so that the page can tell when they may be others by now."""
    passage = Passage(first, last)
    asked = {"lines": f"{first}-{last}" if last > first else str(first)}
    if file_hash:
        asked["hash"] = file_hash[:HASH_LENGTH]
    page = reverse("document", args=[project_id, document_id])
    return f"{page}?{urlencode(asked)}#{passage.anchor}"


def spelling_pattern(spellings: Iterable[str]) -> re.Pattern[str]:
    """Finds any of the spellings in a line, whatever their case; the longest wins."""
    longest_first = sorted({text for text in spellings if text.strip()}, key=len, reverse=True)
    pieces = [_piece(text) for text in longest_first]
    return re.compile("|".join(pieces) or r"(?!)", re.IGNORECASE)


def _piece(text: str) -> str:
    piece = r"\s+".join(re.escape(word) for word in text.split())
    # An English word is not found within another one; Japanese has no such borders.
    front = r"(?<![A-Za-z0-9])" if text[0].isascii() and text[0].isalnum() else ""
    back = r"(?![A-Za-z0-9])" if text[-1].isascii() and text[-1].isalnum() else ""
    return f"{front}{piece}{back}"


def stands_in(pattern: re.Pattern[str], line: str, next_line: str) -> bool:
    """A term that begins at the end of a line may end in the next one."""
    text = plain(line)
    return bool(pattern.search(text) or pattern.search(f"{text} {plain(next_line)}"))


def excerpt(line: str, pattern: re.Pattern[str]) -> list[Part]:
    """A line of Markdown as plain words around the first place of the term, with it marked."""
    text = plain(line)
    first = pattern.search(text)
    low = max(0, first.start() - BEFORE) if first and len(text) > EXCERPT else 0
    high = min(len(text), low + EXCERPT)
    shown = text[low:high]
    parts: list[Part] = [Part("…")] if low else []
    end = 0
    for match in pattern.finditer(shown):
        if match.start() > end:
            parts.append(Part(shown[end : match.start()]))
        parts.append(Part(match[0], marked=True))
        end = match.end()
    if end < len(shown):
        parts.append(Part(shown[end:]))
    return [*parts, Part("…")] if high < len(text) else parts
