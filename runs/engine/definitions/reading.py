"""A document as blocks that say something: paragraphs, items, rows of tables, definitions.

Headings are those of the index (`indexing.sections`), so that a passage is said to stand below the
same ones everywhere. What is in a section is read line by line: that is many times as fast as the
parser's own rules, and code, comments and rulers are all that must be told apart.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from glossary_site.checking import Check, checked
from indexing.sections.sheet import Sheet, sheet_of
from indexing.sections.tree import Section, sections_of
from projects import front_matter


class Kind(Enum):
    PROSE = auto()
    ITEM = auto()
    ROW = auto()
    # What is said of a term in a definition list.
    MEANING = auto()


@dataclass(frozen=True, slots=True)
class Block:
    kind: Kind
    # Positions in the text of the sheet.
    start: int
    end: int
    section: int
    # Whether nothing but headings is above it in its section.
    opens: bool = False
    ordered: bool = False
    # The cells of the first row, as they are written.
    header: tuple[str, ...] = ()
    # Where the term of a definition list stands.
    head: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Reading:
    sheet: Sheet
    sections: list[Section]
    blocks: list[Block]
    # What the settings at the top say the document is called.
    title: str

    def heading(self, block: Block) -> str:
        """The heading right above a block."""
        return self.sections[block.section].heading.text or self.title


FENCE = re.compile(r"[ \t>]*(?:(?:[-+*]|[0-9]{1,9}[.)])[ \t]+)?(`{3,}|~{3,})")
SEPARATOR = re.compile(
    r"[ \t>]*(?:$|#{1,6}(?:[ \t]|$)|(?:[-*_=][ \t]*){3,}$|\[[^\]^]+\]:[ \t]*\S+"
    r"|:{3,}|(?:!!!|\?\?\?\+?)[ \t]+\w|\[![a-z]+\]|\[\[?_?toc_?\]?\][ \t]*$"
    r"|import[ \t].*\bfrom[ \t]+[\"']|export[ \t]+(?:default|const|let|function)\b"
    r"|\{\{[<%/](?![^}]*\b(?:text|term_id)=)[^}]*\}\}[ \t]*$"
    r"|</?(?:div|table|thead|tbody|tr|td|th|ul|ol|li|p|details|section|figure|figcaption|br|hr|img"
    r"|script|style|center|pre|iframe|video|aside|nav|form)\b)",
    re.IGNORECASE,
)
COMMENT = re.compile(r"[ \t]*<!--")
ITEM = re.compile(
    r"[ \t>\u3000]*(?:(?:[-+*]|(?P<number>[0-9]{1,9}[.)]))[ \t]+|[・●○■◆◇▪◦•‣][ \t\u3000]*)"
    r"(?:\[[ xX]\][ \t]+)?(?=\S)"
)
RULER = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
MEANING = re.compile(r"[ \t]{0,3}:[ \t]+(?=\S)")
INDENT = re.compile(r"[ \t>]*")
CODE_INDENT = re.compile(r"(?: {4}|\t)")
# A line of a plain text that is the heading of the next one, which says its words again.
TITLE = re.compile(
    r"[ \t>\u3000]*(?:[0-9０-９]+(?:[.．][0-9０-９]+)*[.．)）]?[ \t\u3000]+|[・●○■◆◇▪◦•‣]\s*)?"
    r"(?P<name>[^|:：。．.!?！？\n]{2,60}?)[ \t]*$"
)
ARTICLE = re.compile(r"[ \t>\u3000]*(?:(?:an?|the)[ \t]+)?", re.IGNORECASE)
# What stands behind a name that is not the beginning of a longer one.
BEHIND_NAME = re.compile(r"(?:e?s)?[ \t,(]|[とはがをの、（「]")
CELL_BORDER = re.compile(r"(?<!\\)\|")
# Between two checks.
BLOCKS_AT_A_TIME = 500


def read(text: str, *, check: Check = bool) -> Reading:
    sheet = sheet_of(text)
    sections = sections_of(sheet.outline.headings, sheet.line_count)
    blocks: list[Block] = []
    for number, section in enumerate(sections):
        found = _Lines(sheet, number, section).blocks()
        blocks.extend(checked(found, check, every=BLOCKS_AT_A_TIME))
    settings, _rest = front_matter.split(text.removeprefix("\ufeff"))
    title = next((value for key, value in settings if key.lower() == "title"), "")
    return Reading(sheet, sections, blocks, title)


def cells(row: str) -> list[str]:
    """What stands between the bars of a table's row, as it is written."""
    return [cell.strip() for cell in CELL_BORDER.split(row.strip().strip("|"))]


class _Lines:
    """The lines of one section, taken in order."""

    def __init__(self, sheet: Sheet, number: int, section: Section) -> None:
        self._sheet, self._number = sheet, number
        self._line, self._end = section.first_line, section.end_line
        self._count = 0
        self._in_list = False

    def blocks(self) -> Iterator[Block]:
        before: Block | None = None
        while self._line < self._end:
            if self._passes_over():
                continue
            header = self._header()
            if header:
                for block in self._rows(header):
                    before = self._counted(block)
                    yield before
                continue
            block = self._meaning(before) or self._text()
            before = self._counted(block)
            yield before

    def _counted(self, block: Block) -> Block:
        self._count += 1
        return block

    def _at(self, line: int) -> str:
        starts = self._sheet.starts
        return self._sheet.text[starts[line] : starts[line + 1]].rstrip("\n")

    def _passes_over(self) -> bool:
        """Blank lines, rulers, comments, code: what has no sentences."""
        line = self._at(self._line)
        if not line.strip():
            self._line += 1
            return True
        if fence := FENCE.match(line):
            self._line = self._after_fence(fence[1])
            return True
        if COMMENT.match(line):
            while self._line < self._end and "-->" not in self._at(self._line):
                self._line += 1
            self._line += 1
            return True
        if SEPARATOR.match(line) and not self._header():
            # What is in a box of this kind is indented, as in a list.
            self._in_list = self._in_list or line.lstrip()[:3] in ("!!!", "???")
            self._line += 1
            return True
        if not line[0].isspace():
            self._in_list = ITEM.match(line) is not None
        elif not self._in_list and CODE_INDENT.match(line) and not ITEM.match(line):
            self._line += 1
            return True
        if self._is_title():
            self._line += 1
            return True
        return False

    def _is_title(self) -> bool:
        """Whether the next line begins with the words of this one."""
        title = TITLE.match(self._at(self._line))
        if title is None or self._line + 1 >= self._end:
            return False
        following = self._at(self._line + 1)
        article = ARTICLE.match(following)
        said = following[article.end() if article else 0 :]
        name = title["name"]
        return said.lower().startswith(name.lower()) and bool(BEHIND_NAME.match(said, len(name)))

    def _after_fence(self, mark: str) -> int:
        for number in range(self._line + 1, self._end):
            line = self._at(number).strip("> \t")
            if line.startswith(mark) and not line.strip(mark[0]):
                return number + 1
        return self._end

    def _header(self) -> tuple[str, ...]:
        """The cells of a table that begins here."""
        if self._line + 1 >= self._end or "|" not in self._at(self._line):
            return ()
        ruler = self._at(self._line + 1)
        if "|" not in ruler or "-" not in ruler or not RULER.match(ruler):
            return ()
        return tuple(cells(self._at(self._line)))

    def _rows(self, header: tuple[str, ...]) -> Iterator[Block]:
        self._line += 2
        while self._line < self._end and "|" in self._at(self._line):
            start, end = self._span(self._line, self._line + 1)
            self._line += 1
            yield Block(Kind.ROW, start, end, self._number, header=header)

    def _meaning(self, before: Block | None) -> Block | None:
        mark = MEANING.match(self._at(self._line))
        if mark is None or before is None or before.kind not in (Kind.PROSE, Kind.MEANING):
            return None
        head = before.head if before.kind is Kind.MEANING else (before.start, before.end)
        first, offset = self._line, mark.end()
        self._line += 1
        self._take_more()
        start, end = self._span(first, self._line, offset)
        return Block(Kind.MEANING, start, end, self._number, head=head)

    def _text(self) -> Block:
        first, line = self._line, self._at(self._line)
        item = ITEM.match(line)
        margin = item or INDENT.match(line)
        self._line += 1
        self._take_more()
        start, end = self._span(first, self._line, margin.end() if margin else 0)
        ordered = bool(item and item["number"])
        kind = Kind.ITEM if item else Kind.PROSE
        return Block(kind, start, end, self._number, opens=self._count == 0, ordered=ordered)

    def _take_more(self) -> None:
        """The lines that go on with what the last one said."""
        while self._line < self._end:
            line = self._at(self._line)
            # A wide space opens a paragraph in a plain Japanese text.
            if line.startswith("\u3000") or SEPARATOR.match(line) or ITEM.match(line):
                return
            if FENCE.match(line) or COMMENT.match(line) or MEANING.match(line) or self._header():
                return
            self._line += 1

    def _span(self, first: int, end: int, offset: int = 0) -> tuple[int, int]:
        starts, text = self._sheet.starts, self._sheet.text
        start = starts[first] + offset
        piece = text[start : starts[end]]
        start += len(piece) - len(piece.lstrip())
        return start, start + len(piece.strip())
