"""Markdown → safe HTML with a table of contents. Every block says which line it comes from."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from typing import Any

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from markdown_it.token import Token

from projects import front_matter
from projects.headings import split_anchor
from projects.rendering import raw_html
from projects.rendering.budget import Budget, OverBudget
from projects.rendering.clean import FOOTNOTE, Cleaner
from projects.rendering.links import Resolve, fragment, is_relative, nowhere
from projects.rendering.parser import PARSER, Sheet, plain_text
from projects.rendering.passage import MARK, Passage, mark
from projects.terms.links import NEW_TERM_LINK, TERM_LINK

MAX_SLUG = 200
ALIGNMENT = re.compile(r"text-align:\s*(left|center|right)")
PARAGRAPH = re.compile(r"[^\n]+(?:\n[^\n]+)*\n*|\n+")
LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class TocEntry:
    text: str
    slug: str
    # 0 for the outermost headings of the document, whatever their number of #.
    depth: int
    line: int


@dataclass(frozen=True)
class Rendered:
    html: SafeString
    toc: list[TocEntry] = field(default_factory=list)
    # The heading that opens the document. It is not in `html`: the page shows it as its own.
    title: TocEntry | None = None
    # Front matter: what the author noted about the document.
    meta: list[tuple[str, str]] = field(default_factory=list)
    # Markdown shown as it is written, because laying it out would take too long.
    over_budget: bool = False


def render(text: str, *, resolve: Resolve = nowhere, passage: Passage | None = None) -> Rendered:
    """Lay out Markdown. `resolve` is asked once, for all relative links of the document."""
    try:
        return _lay_out(text.removeprefix("\ufeff"), Budget(text), resolve, passage)
    except OverBudget:
        return Rendered(html=render_plain(text, passage=passage).html, over_budget=True)


def render_plain(text: str, *, passage: Passage | None = None) -> Rendered:
    """Text as it is written, a piece for each paragraph so that its lines can be pointed at."""
    pieces: list[str] = []
    line = 1
    for piece in PARAGRAPH.findall(text):
        pieces.append(_piece(piece, line, passage))
        line += piece.count("\n")
    return Rendered(html=_safe(f'<pre class="source">{"".join(pieces)}</pre>'))


def _piece(piece: str, line: int, passage: Passage | None) -> str:
    lines = LINE.findall(piece)
    if passage is None or not passage.touches(line, line + len(lines) - 1):
        return f'<span data-line="{line}">{escape(piece)}</span>'
    # Written as it is, a text can be marked to the very line.
    first = max(passage.first - line, 0)
    last = min(passage.last - line + 1, len(lines))
    place = f' id="{passage.anchor}"' if passage.first >= line else ""
    marked = f'<span class="{MARK}"{place}>{escape("".join(lines[first:last]))}</span>'
    before, after = escape("".join(lines[:first])), escape("".join(lines[last:]))
    return f'<span data-line="{line}">{before}{marked}{after}</span>'


def _lay_out(text: str, budget: Budget, resolve: Resolve, passage: Passage | None) -> Rendered:
    meta, body = front_matter.split(text)
    sheet = Sheet(budget)
    env: dict[str, Any] = {"sheet": sheet}
    tokens = PARSER.parse(body, env)
    headings = _mark_headings(tokens)
    urls = resolve(_relative_links(tokens))
    _mark_lines(tokens)
    _mark_links(tokens, urls)
    title = None
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        title, *headings = headings
        tokens = tokens[3:]
    if passage:
        mark(tokens, passage)
    sheet.cleaner = Cleaner(
        anchors={entry.slug for entry in headings},
        urls=urls,
        place=passage.anchor if passage else "",
    )
    html = sheet.cleaner.clean(PARSER.renderer.render(tokens, PARSER.options, env))
    return Rendered(html=_safe(html), toc=_from_outermost(headings), title=title, meta=meta)


def _safe(html: str) -> SafeString:
    return mark_safe(html)  # noqa: S308  # only what was cleaned or escaped above comes here


def _mark_headings(tokens: Sequence[Token]) -> list[TocEntry]:
    taken: dict[str, int] = {}
    headings: list[TocEntry] = []
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        anchor = _take_anchor(inline)
        text = plain_text(inline.children or []).strip()
        slug = _unused(slugify(anchor or text), taken)
        opening.attrSet("id", slug)
        line = opening.map[0] + 1 if opening.map else 1
        headings.append(TocEntry(text, slug, int(opening.tag[1:]), line))
    return headings


def _take_anchor(inline: Token) -> str:
    """The one that its author gave a heading, out of its words."""
    last = inline.children[-1] if inline.children else None
    if last is None or last.type != "text":
        return ""
    last.content, anchor = split_anchor(last.content)
    return anchor


def slugify(text: str) -> str:
    """The anchor of a heading, as GitHub makes it, so that links written for it lead here too."""
    # Cut first: to put a long row of accents in order takes quadratic time.
    text = unicodedata.normalize("NFC", text.strip().lower()[: 4 * MAX_SLUG])
    kept = "".join(char for char in text if char in "- " or _in_word(char))
    return kept.replace(" ", "-")[:MAX_SLUG] or "section"


def _in_word(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] in "LM" or category in ("Nd", "Pc")


def _unused(slug: str, taken: dict[str, int]) -> str:
    """`slug`, or the first free of `slug-1`, `slug-2`…; `taken` remembers where to go on."""
    candidate = slug
    while candidate in taken or FOOTNOTE.fullmatch(candidate):
        taken[slug] = taken.get(slug, 0) + 1
        candidate = f"{slug}-{taken[slug]}"
    taken.setdefault(candidate, 0)
    return candidate


def _from_outermost(headings: list[TocEntry]) -> list[TocEntry]:
    """Depths that begin at 0 and never jump, for documents that start at ### or skip a level."""
    open_levels: list[int] = []
    toc = []
    for entry in headings:
        while open_levels and open_levels[-1] >= entry.depth:
            open_levels.pop()
        toc.append(TocEntry(entry.text, entry.slug, len(open_levels), entry.line))
        open_levels.append(entry.depth)
    return toc


def _mark_lines(tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.map and token.nesting >= 0 and not token.hidden:
            token.attrSet("data-line", str(token.map[0] + 1))
        # The page forbids inline styles; only the cells of tables bring any.
        style = str(token.attrs.pop("style", ""))
        if alignment := ALIGNMENT.fullmatch(style):
            token.attrSet("class", f"align-{alignment[1]}")


def _relative_links(tokens: Sequence[Token]) -> Collection[str]:
    found: dict[str, None] = {}
    for token in _with_children(tokens):
        if token.type == "link_open":
            found[str(token.attrs.get("href", ""))] = None
        elif token.type in ("html_inline", "html_block"):
            found.update(dict.fromkeys(raw_html.hrefs(token.content)))
    return [href for href in found if is_relative(href)]


def _mark_links(tokens: Sequence[Token], urls: Mapping[str, str]) -> None:
    """Point relative links at reader pages; those that lead nowhere become marked words."""
    missing = _("There is no such document in this project: %(link)s")
    open_links: list[Token] = []
    for token in _with_children(tokens):
        if token.type == "link_open":
            open_links.append(token)
            href = str(token.attrs.get("href", ""))
            if href.startswith("#"):
                token.attrs["href"] = fragment(href)
            elif href in urls:
                token.attrs["href"] = urls[href]
            elif href in (TERM_LINK, NEW_TERM_LINK):
                token.tag, token.attrs = "span", {}
            elif is_relative(href):
                token.tag = "span"
                token.attrs = {"class": "missing-link", "title": missing % {"link": href}}
        elif token.type == "link_close" and open_links:
            token.tag = open_links.pop().tag
        elif token.type == "image" and open_links:
            token.meta["in_link"] = True


def _with_children(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.children or ()
