"""Where the headings and blocks of a Markdown text are. Lines are counted from 0 here."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block.state_block import StateBlock
from markdown_it.token import Token

from projects.headings import split_anchor
from projects.rendering import cjk

# Deep lists are real, and the preset's 20 would silently swallow the headings below them.
MAX_NESTING = 100
# More than this is no heading, but a paragraph with a ruler right below it.
MAX_HEADING = 300
# Lists in quotations in lists take long; over this the text is taken as it is, without headings.
# Counted and not timed, so that a text is always split in the same way.
FREE_EFFORT = 100_000
EFFORT_PER_CHARACTER = 4
# Nobody wrote more than these; they are there to keep the memory small.
MAX_HEADINGS = 100_000
MAX_TOKENS_OF_BLOCK = 300_000
TOKENS_AT_A_TIME = 1000

# What most documents are made of: paragraphs in which no line can begin or end another block,
# tables, and lists of plain lines. The rules of the parser ask a dozen questions about each such
# line, and none can be a heading. A blank line must follow; after a list, then one with no
# indent, so that nothing below can belong to the last item.
PLAIN = r"(?:[^\s#>\-+*_=~`<|:0-9]|`(?!``)|\*\*(?=\w)|-(?=\w)|[0-9]++(?![.)]))[^\n]*"
BLANK_LINE = r"(?=\n[ \t]*(?:\n|\Z)|\Z)"
# What a link stands for may be said in brackets before a colon.
LABEL = r"\[(?![^\[\]\\\n]*\](?!:))"
PROSE = re.compile(rf"(?!{LABEL}){PLAIN}(?:\n{PLAIN})*+{BLANK_LINE}")
TABLE = re.compile(rf"\|[^\n]*(?:\n\|[^\n]*)*+{BLANK_LINE}")
MARKER = r"(?:[-+*]|[0-9]{1,9}[.)])[ ]"
LIST = re.compile(
    rf"{MARKER}{PLAIN}(?:\n[ ]*(?:{MARKER})?{PLAIN})*+(?=\n(?:[ \t]*\n)++(?:\S|\Z)|\n?\Z)"
)
MARKUP = re.compile(r"[\\`*_\[\]<>&!~]")
FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]")
BREAK = re.compile(r"<br\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    # Without markup, in one line; empty for `##` alone.
    text: str
    # The lines of the heading itself: [start, end).
    start: int
    end: int
    # Whether `text` is only its beginning.
    is_cut: bool = False


@dataclass(frozen=True)
class Outline:
    headings: list[Heading] = field(default_factory=list)
    # Lines on which a block begins, in order; how deep in others it lies; whether it is prose.
    lines: list[int] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    are_prose: list[bool] = field(default_factory=list)

    def borders(self, start: int, end: int) -> list[int]:
        """The lines that cut (start, end) into the largest blocks it has."""
        low, high = bisect_right(self.lines, start), bisect_left(self.lines, end)
        if low >= high:
            return []
        outermost = min(self.levels[low:high])
        return [self.lines[i] for i in range(low, high) if self.levels[i] == outermost]

    def is_prose(self, line: int) -> bool:
        """Whether the block around a line has sentences, rather than lines that mean something."""
        index = bisect_right(self.lines, line) - 1
        return index >= 0 and self.are_prose[index]


class TooMuch(Exception):
    """The text asks too much of the parser."""


def outline(text: str) -> Outline:
    """`text` has only "\\n" between its lines. Headings in lists and quotations are not listed:
    they are part of what is said around them."""
    reader = Reader(effort=FREE_EFFORT + EFFORT_PER_CHARACTER * len(text))
    try:
        reader.take(_blocks.parse(text, reader.env))
    except TooMuch:
        return Outline()
    return reader.finish()


class Reader:
    """Makes the outline while the parser runs, so that few of its tokens are kept at a time."""

    def __init__(self, effort: int) -> None:
        self.env: dict[str, Any] = {"reader": self}
        self._effort = effort
        self._outline = Outline()
        # Their level, source and lines.
        self._headings: list[tuple[int, str, int, int]] = []

    def spend(self, state: StateBlock) -> None:
        self._effort -= state.level
        if self._effort < 0 or len(state.tokens) > MAX_TOKENS_OF_BLOCK:
            raise TooMuch

    def take(self, tokens: list[Token]) -> None:
        outline = self._outline
        lines, levels, are_prose = outline.lines, outline.levels, outline.are_prose
        for index, token in enumerate(tokens):
            if token.map is None or token.type == "inline":
                continue
            start, end = token.map
            if token.type == "heading_open" and token.level == 0:
                level, source = int(token.tag[1:]), tokens[index + 1].content
                self._headings.append((level, source, start, end))
            is_prose = token.type == "paragraph_open"
            if lines and lines[-1] == start:
                # The innermost block says what the text is like, the outermost where to cut it.
                are_prose[-1] = is_prose
            else:
                lines.append(start)
                levels.append(token.level)
                are_prose.append(is_prose)
        tokens.clear()
        if len(self._headings) > MAX_HEADINGS:
            raise TooMuch

    def finish(self) -> Outline:
        """The words of headings come last: where a link in one leads may be said at the end."""
        self._outline.headings.extend(
            Heading(level, _plain(source, self.env), start, end, len(source) > MAX_HEADING)
            for level, source, start, end in self._headings
        )
        return self._outline


def _plain(source: str, env: dict[str, Any]) -> str:
    """Words without markup. Cut first: hostile brackets take quadratic time."""
    source, _anchor = split_anchor(source[: 2 * MAX_HEADING])
    if MARKUP.search(source):
        children: list[Token] = []
        _inline.inline.parse(FOOTNOTE.sub("", source), _inline, env, children)
        source = _words(children)
    return " ".join(source.split())[:MAX_HEADING]


def _words(children: Sequence[Token]) -> str:
    words = []
    for token in children:
        if token.type in ("text", "text_special", "code_inline"):
            words.append(token.content)
        elif token.type == "image":
            words.append(_words(token.children or []))
        elif token.type in ("softbreak", "hardbreak") or BREAK.match(token.content):
            words.append(" ")
    return "".join(words)


def _ordinary(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Asked before the parser's own rules: passes over plain blocks, watches the others."""
    reader = state.env["reader"]
    if state.level:
        reader.spend(state)
        return False
    if len(state.tokens) > TOKENS_AT_A_TIME:
        reader.take(state.tokens)
    position = state.bMarks[start_line]
    plain = PROSE.match(state.src, position)
    kind = "paragraph_open" if plain else "other"
    plain = plain or LIST.match(state.src, position) or TABLE.match(state.src, position)
    if plain is None:
        return False
    state.line = start_line + 1 + state.src.count("\n", position, plain.end())
    state.tokens.append(Token(kind, "", 0, map=[start_line, state.line]))
    return True


def _block_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.block.ruler.before("table", "ordinary", _ordinary)
    return parser


def _inline_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("strikethrough")
    parser.inline.ruler.at("emphasis", cjk.emphasis)
    return parser


_blocks = _block_parser()
_inline = _inline_parser()
