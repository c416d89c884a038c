"""A Markdown text → blocks of plain text, with the line of every character and what marks it.

Read line by line and not by a Markdown parser: of an inline token a parser knows no place, and the
line of every word is needed. Code, addresses, comments, tags, rulers and front matter are no text.
What is emphasised, begins a list item, heads a column or is defined tells what the author takes for
a term: that is kept as marks.
"""

import re
from bisect import bisect_right
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from html import unescape
from operator import attrgetter

from projects import front_matter
from projects.terms.links import NEW_TERM_LINK
from runs.engine.terms import references


class Kind(Enum):
    TEXT = "text"
    # What the whole document is about: the title among its settings, or its first heading.
    TITLE = "title"
    HEADING = "heading"
    CELL = "cell"
    # The first cell of a row: what the row is about.
    FIRST_CELL = "first cell"
    # What a definition list defines.
    DEFINED = "defined"


class Mark(Enum):
    STRONG = "strong"
    EMPHASIS = "emphasis"
    # A word in the type of code.
    CODE = "code"
    # Before the colon or the dash with which a list item or a paragraph begins.
    LEAD = "lead"
    # In quotation marks.
    QUOTED = "quoted"
    # The text of a link: what another page is about.
    LINK = "link"
    # What the author refers to a glossary for.
    REFERENCE = "reference"
    # A term where it is introduced.
    NAMED = "named"


@dataclass(frozen=True)
class Span:
    start: int
    end: int
    mark: Mark


@dataclass(frozen=True)
class Block:
    kind: Kind
    text: str
    # Where in the text each line begins, and the number of that line in the document (from 1).
    starts: Sequence[int]
    lines: Sequence[int]
    # In the order in which they end.
    spans: Sequence[Span] = field(default=())

    def line_at(self, place: int) -> int:
        return self.lines[bisect_right(self.starts, place) - 1]


# Signs of no language's own, put in for marks while a text is cleaned.
_ON = {
    Mark.STRONG: "\ue000",
    Mark.EMPHASIS: "\ue001",
    Mark.CODE: "\ue002",
    Mark.QUOTED: "\ue003",
    Mark.LINK: "\ue006",
    Mark.REFERENCE: "\ue007",
    Mark.NAMED: "\ue008",
}
_OFF = "\ue004"
_MARK_OF = {sign: mark for mark, sign in _ON.items()}
_SIGNS = re.compile("[\ue000-\ue004\ue006-\ue008]")
# In place of what is no text: a phrase must not run through it.
BARRIER = "\ue005"

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})(.*)$")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+|$)(.*?)(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
_RULER = re.compile(r"[ \t]*(?:(?:[-*_=~+#.][ \t]*){3,})$")
_TABLE_RULER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_QUOTE = re.compile(r"(?:[ \t]{0,3}>[ \t]?)+")
_ITEM = re.compile(r"[ \t]*(?:[-*+•・]|\d{1,9}[.)]|[a-zA-Z][.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_DEFINITION = re.compile(r"[ \t]{0,3}:[ \t]+")
_INDENTED = re.compile(r"(?: {4}|\t| {1,3}\t)")
_SILENT_TAGS = re.compile(r"<(script|style|pre|textarea|svg|math)\b", re.IGNORECASE)
# The beginning and end of a box (`::: tip`, `!!! note`, `> [!NOTE]`), and the place of contents.
_BOX = re.compile(
    r"[ \t]*(?::{3,}.*|(?:!!!|\?\?\?\+?)[ \t]+\w.*|\[![A-Za-z]+\][-+]?.*|\[\[?_?toc_?\]?\])[ \t]*$",
    re.IGNORECASE,
)
_LINK_TARGET = re.compile(r" {0,3}\[[^\]]+\]:\s*\S+")
_CELLS = re.compile(r"(?<!\\)\|")

# One that is not closed reaches to the next at most: `{#name}` is in the headings of a whole book.
_COMMENT = re.compile(
    r"<!--.*?(?:-->|\Z)|\{\{(?:(?!\{\{).)*?\}\}|\{%(?:(?!\{%).)*?%\}|\{#(?:(?!\{#).)*?#\}",
    re.DOTALL,
)
# What a page of components loads, and gives to others.
_MODULES = re.compile(
    r"^(?:import\s+(?:[\w$*{},\s]{1,400}?\sfrom\s+)?[\"'][^\"'\n]+[\"'];?|export\s+(?:default|const|let"
    r"|function)\b.*)[ \t]*$",
    re.MULTILINE,
)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
# Code that is a word, and so may be a term: `kubelet`, `ReplicaSet`; not `--name`, `a.b()`, `x_1`.
_CODE_WORD = re.compile(r"[^\W\d_][^\W_]*(?:[- ][^\W_]+){0,2}")
_IMAGE = re.compile(r"!\[[^\]!]*(?:!(?!\[)[^\]!]*)*\](?:\([^)!]*(?:!(?!\[)[^)!]*)*\)|\[[^\[\]]*\])")
_FOOTNOTE = re.compile(r"\[\^[^\[\]]+\]:?")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\](?:\(((?:[^()]|\([^()]*\))*)\)|\[[^\]]*\])")
# No name is longer: without an end to them, each sign of a long run would be looked at from each.
_ADDRESS = re.compile(
    r"<?\b(?:[a-z][a-z0-9+.-]{0,30}://|www\.|mailto:)[^\s<>「」、。）]*>?"
    r"|[\w.+-]{1,64}@[\w-]+\.[\w.-]*\w",
    re.IGNORECASE,
)
_STRONG_TAG = re.compile(r"<(/?)(?:b|strong|dfn|dt)\b[^<>]*>", re.IGNORECASE)
_EMPHASIS_TAG = re.compile(r"<(/?)(?:i|em|cite)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]*>|<!DOCTYPE[^>]*>", re.IGNORECASE)
_MATH = re.compile(
    r"\$\$.*?\$\$|(?<![\w$])\$(?=\S)[^$\n\\^_{}=]*[\\^_{}=][^$\n]*\$(?!\w)", re.DOTALL
)
_STRONG = re.compile(r"(\*\*|__)(?=\S)((?:(?!\1).)+?)(?<=\S)\1", re.DOTALL)
_EMPHASIS = re.compile(
    r"(?<![*\w])\*(?=[^\s*])((?:[^*])+?)(?<=[^\s*])\*(?!\*)"
    r"|(?<![\w_])_(?=[^\s_])((?:[^_])+?)(?<=[^\s_])_(?![\w_])",
    re.DOTALL,
)
_QUOTED = re.compile(
    r"「([^「」\n]{1,40})」|『([^『』\n]{1,40})』|“([^“”\n]{1,60})”|\"([^\"\n]{1,60})\""
)
_ATTRIBUTES = re.compile(r"\{[:#.][^{}\n]*\}")
_PATH = re.compile(r"(?<![\w/])(?:~|\.{1,2})?/(?:[\w.-]+/)+[\w.-]*|\b[\w-]{1,100}(?:/[\w.-]+){2,}")
_FILE = re.compile(
    r"(?<![\w/])[\w-]{1,100}(?:\.[\w-]{1,100}){0,9}\.(?:md|rst|txt|py|js|ts|go|rs|java|rb|sh|ya?ml|json|toml|xml|html?|css|cfg|conf|ini|log|csv|png|svg|jpg|gz|zip|deb|exe|dll)\b"
)
_LEAD = re.compile(r"[^:：.。!?\n—–]{1,60}?(?=\s*(?::(?=\s|$)|：|\s[-–—]{1,2}\s|―))")
_LEAD_WORDS = 6
_EAST_ASIAN = re.compile("[\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff、。「」『』（）・ー]")


def blocks_of(text: str) -> Iterator[Block]:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    first_lines = text[: front_matter.LIMIT].split("\n")
    settings, text = front_matter.split(text)
    title = dict(settings).get("title", "")
    if title:
        lines = (number for number, line in enumerate(first_lines, 1) if title in line)
        yield from _block(Kind.TITLE, [(next(lines, 1), title)])
    text = references.marked(text.lstrip("\ufeff"), _referred)
    text = _MODULES.sub(_blank, _COMMENT.sub(_blank, text))
    is_titled = bool(title)
    for block in _Reader(text.split("\n")).blocks():
        if block.kind is Kind.HEADING and not is_titled:
            is_titled = True
            yield replace(block, kind=Kind.TITLE)
        else:
            yield block


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.paragraph: list[tuple[int, str]] = []
        self.is_item = False
        # Within a list what is indented goes on with an item; elsewhere it is code.
        self.in_list = False
        # Tags that no line ends any more.
        self.endless: set[str] = set()

    def blocks(self) -> Iterator[Block]:
        number, count = 0, len(self.lines)
        while number < count:
            raw = self.lines[number]
            number += 1
            line = raw
            if quote := _QUOTE.match(line):
                line = line[quote.end() :]
            if fence := _FENCE.match(raw):
                yield from self._flush()
                number = self._after_fence(number, fence[1])
                continue
            if tag := _SILENT_TAGS.match(line.lstrip()):
                yield from self._flush()
                number = self._after_tag(number, tag[1].lower())
                continue
            if not line.strip():
                yield from self._flush()
                continue
            if heading := _HEADING.match(line):
                yield from self._flush()
                self.in_list = False
                yield from _block(Kind.HEADING, [(number, heading[1])])
                continue
            if self.paragraph and not self.is_item and _UNDERLINE.match(line):
                yield from _block(Kind.HEADING, self._taken())
                continue
            if self._is_table(number, line):
                yield from self._flush()
                number = yield from self._table(number)
                continue
            if any(sign.match(line) for sign in (_RULER, _TABLE_RULER, _LINK_TARGET)):
                yield from self._flush()
                continue
            if _BOX.match(line):
                yield from self._flush()
                # What is in a box of this kind is indented, as in a list.
                self.in_list = line.lstrip()[:3] in ("!!!", "???")
                continue
            if definition := _DEFINITION.match(line):
                if self.paragraph:
                    for defined in self._taken():
                        yield from _block(Kind.DEFINED, [defined])
                self.paragraph.append((number, line[definition.end() :]))
                continue
            if not self.paragraph and not self.in_list and _INDENTED.match(line):
                continue
            if item := _ITEM.match(line):
                yield from self._flush()
                self.in_list = self.is_item = True
                self.paragraph.append((number, line[item.end() :]))
                continue
            if not self.paragraph and not line[0].isspace():
                self.in_list = False
            self.paragraph.append((number, line))
        yield from self._flush()

    def _taken(self) -> list[tuple[int, str]]:
        taken, self.paragraph, self.is_item = self.paragraph, [], False
        return taken

    def _flush(self) -> Iterator[Block]:
        if taken := self._taken():
            yield from _block(Kind.TEXT, taken)

    def _after_fence(self, number: int, fence: str) -> int:
        closing = re.compile(rf"[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$")
        while number < len(self.lines):
            number += 1
            if closing.match(self.lines[number - 1]):
                break
        return number

    def _after_tag(self, number: int, tag: str) -> int:
        if tag in self.endless:
            return number
        end = re.compile(rf"</{tag}\s*>", re.IGNORECASE)
        at = number - 1
        while at < len(self.lines) and not end.search(self.lines[at]):
            at += 1
        if at < len(self.lines):
            return at + 1
        # One that never ends is no reason to read no more.
        self.endless.add(tag)
        return number

    def _is_table(self, number: int, line: str) -> bool:
        return (
            "|" in line
            and number < len(self.lines)
            and "|" in self.lines[number]
            and _TABLE_RULER.match(self.lines[number]) is not None
        )

    def _table(self, number: int) -> Generator[Block, None, int]:
        """The rows from the head on; returns the number of the first line after them."""
        first = number - 1
        at = first
        while at < len(self.lines) and "|" in self.lines[at]:
            row = self.lines[at]
            if at != first + 1:
                cells = [cell.strip() for cell in _CELLS.split(row.strip().strip("|"))]
                for place, cell in enumerate(cells):
                    is_first = place == 0 and at != first
                    kind = Kind.FIRST_CELL if is_first else Kind.CELL
                    yield from _block(kind, [(at + 1, cell)])
            at += 1
        return at


def _block(kind: Kind, numbered: list[tuple[int, str]]) -> Iterator[Block]:
    cleaned = _cleaned("\n".join(line for _number, line in numbered))
    text: list[str] = []
    starts: list[int] = []
    lines: list[int] = []
    length = 0
    for (number, _line), line in zip(numbered, cleaned.split("\n"), strict=True):
        line = line.strip()
        if not line:
            continue
        if text:
            # Japanese is wrapped in the middle of a word.
            before = _SIGNS.sub("", text[-1])[-1:]
            after = _SIGNS.sub("", line)[:1]
            joint = "" if _EAST_ASIAN.match(before) and _EAST_ASIAN.match(after) else " "
            text[-1] += joint
            length += len(joint)
        text.append(line)
        starts.append(length)
        lines.append(number)
        length += len(line)
    if text:
        yield _unmarked(kind, "".join(text), starts, lines)


def _unmarked(kind: Kind, text: str, starts: list[int], lines: list[int]) -> Block:
    """Takes the signs out, and remembers where they were."""
    plain: list[str] = []
    spans: list[Span] = []
    opened: list[tuple[int, Mark]] = []
    before = 0
    shifts: list[int] = []
    for sign in _SIGNS.finditer(text):
        plain.append(text[before : sign.start()])
        before = sign.end()
        place = sign.start() - len(shifts)
        shifts.append(sign.start())
        if mark := _MARK_OF.get(sign[0]):
            opened.append((place, mark))
        elif opened:
            start, mark = opened.pop()
            spans.append(Span(start, place, mark))
    plain.append(text[before:])
    moved = [start - bisect_right(shifts, start - 1) for start in starts]
    whole = "".join(plain)
    if kind is Kind.TEXT and (lead := _LEAD.match(whole)) and lead[0].count(" ") < _LEAD_WORDS:
        spans.append(Span(0, lead.end(), Mark.LEAD))
        spans.sort(key=attrgetter("end"))
    return Block(kind, whole, moved, lines, spans)


def _cleaned(text: str) -> str:
    """Without markup, with signs for marks, and with as many line breaks as before."""
    if text.isalnum():
        return text
    text = _MATH.sub(_barrier, text)
    text = _CODE.sub(_code, text)
    text = _IMAGE.sub(_barrier, text)
    text = _FOOTNOTE.sub(_blank, text)
    text = _LINK.sub(_link, text)
    text = _ADDRESS.sub(_barrier, text)
    if "<" in text:
        text = _STRONG_TAG.sub(lambda tag: _tag(tag, Mark.STRONG), text)
        text = _EMPHASIS_TAG.sub(lambda tag: _tag(tag, Mark.EMPHASIS), text)
        text = _TAG.sub(_blank_space, text)
    text = _STRONG.sub(lambda strong: _ON[Mark.STRONG] + strong[2] + _OFF, text)
    text = _EMPHASIS.sub(lambda weak: _ON[Mark.EMPHASIS] + (weak[1] or weak[2]) + _OFF, text)
    text = _ATTRIBUTES.sub(_blank, text)
    text = _PATH.sub(_barrier, text)
    text = _FILE.sub(_barrier, text)
    text = _ESCAPED.sub(r"\1", text)
    text = _QUOTED.sub(_quoted, text)
    if "&" in text:
        text = re.sub(r"&(?:#\d+|#x[0-9a-f]+|[a-z]+\d*);", _entity, text, flags=re.IGNORECASE)
    return text


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _blank_space(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n") or " "


def _barrier(match: re.Match[str]) -> str:
    return BARRIER + "\n" * match[0].count("\n")


def _tag(match: re.Match[str], mark: Mark) -> str:
    return (_OFF if match[1] else _ON[mark]) + _blank(match)


def _entity(match: re.Match[str]) -> str:
    return unescape(match[0]).replace("\n", " ")


def _code(match: re.Match[str]) -> str:
    word = match[2].strip()
    if _CODE_WORD.fullmatch(word):
        return _ON[Mark.CODE] + match[2].replace("\n", " ") + _OFF + "\n" * match[2].count("\n")
    return _barrier(match)


def _link(match: re.Match[str]) -> str:
    # The address may be broken over lines; the text keeps its own breaks.
    breaks = "\n" * (match[0].count("\n") - match[1].count("\n"))
    if match[2] and references.ENTRY.search(match[2]):
        return _referred(match[1]) + breaks
    return _ON[Mark.NAMED if match[2] == NEW_TERM_LINK else Mark.LINK] + match[1] + _OFF + breaks


def _referred(text: str) -> str:
    """Of "Continuous Integration (CI)" the long form; the other is found beside it."""
    name = re.split(r"\s*[(（]", text, maxsplit=1)[0] or text
    return _ON[Mark.REFERENCE] + name + _OFF + text[len(name) :]


def _quoted(match: re.Match[str]) -> str:
    inner = match[1] or match[2] or match[3] or match[4]
    return match[0][0] + _ON[Mark.QUOTED] + inner + _OFF + match[0][-1]
