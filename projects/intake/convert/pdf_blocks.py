"""Lines in reading order to Markdown: headings by their size, paragraphs, list items, tables."""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from projects.intake.convert.escape import escape_inline, escape_start
from projects.intake.convert.pdf_lines import Line
from projects.intake.convert.text import IS_EAST_ASIAN, join_lines

# How much larger than the body a heading must be set.
HEADING_RATIO, HEADING_POINTS = 1.15, 1.0
MAX_HEADING_CHARACTERS, MAX_HEADING_LINES = 200, 3
BULLET = re.compile(r"^[•‣▪●○◦・‐–]\s*(?=\S)")
ITEM = re.compile(r"^(?:[•‣▪●○◦・■□◆◇※]|[-–*]\s|\(?\d{1,3}[.)]\s|[（(]\d{1,3}[)）]|[①-⑳])")
LEADER_TO_PAGE = re.compile(r" … [0-9ivxl]+$")
ENDS_SENTENCE = re.compile(r"[.!?:;。．！？：」』）)]$")


@dataclass
class Block:
    lines: list[Line]
    level: int
    table: bool


def body_size(lines: list[Line]) -> float:
    """The size that most letters have."""
    letters: Counter[float] = Counter()
    for line in lines:
        letters[line.size] += len(line.text)
    return letters.most_common(1)[0][0] if letters else 0.0


def to_markdown(lines: list[Line], body: float) -> str:
    levels = _heading_levels(lines, body)
    layout = _Layout(lines)
    blocks: list[Block] = []
    for line in lines:
        level = levels.get(line.size, 0) if _may_be_heading(line) else 0
        last = blocks[-1] if blocks else None
        if last is not None and last.level == level and layout.continues(last, line):
            last.lines.append(line)
        else:
            blocks.append(Block([line], level, table=level == 0 and len(line.cells) > 1))
    texts = [_render(block) for block in blocks]
    pieces = texts[:1]
    for before, text in pairwise(texts):
        # Items of one list stay together.
        pieces.append(("\n" if before[:2] == text[:2] == "- " else "\n\n") + text)
    return "".join(pieces)


def _heading_levels(lines: list[Line], body: float) -> dict[float, int]:
    least = max(body * HEADING_RATIO, body + HEADING_POINTS)
    sizes = sorted({line.size for line in lines if line.size >= least and _may_be_heading(line)})
    return {size: min(rank, 3) for rank, size in enumerate(reversed(sizes), start=1)}


def _may_be_heading(line: Line) -> bool:
    letters = [char for char in line.text if char.isalpha()]
    # One large letter is the ornament at the start of a chapter.
    enough = len(letters) > 1 or any(IS_EAST_ASIAN.match(char) for char in letters)
    is_listed = LEADER_TO_PAGE.search(line.text)
    return enough and not is_listed and len(line.text) <= MAX_HEADING_CHARACTERS


class _Layout:
    """Where the text of this document ends on the right, and how far its lines are apart."""

    def __init__(self, lines: list[Line]) -> None:
        edges: dict[int, list[float]] = {}
        pitches: dict[float, list[float]] = {}
        for line in lines:
            if len(line.cells) < 2:
                edges.setdefault(_column(line), []).append(line.right)
        # A few lines stick out into the margin; they do not say where it is.
        self._right = {c: sorted(rights)[-1 - len(rights) // 20] for c, rights in edges.items()}
        for above, below in pairwise(lines):
            pitch = above.base - below.base
            if above.page == below.page and above.size == below.size and 0 < pitch < 3 * above.size:
                pitches.setdefault(above.size, []).append(pitch)
        self._pitch = {size: median(values) for size, values in pitches.items()}

    def continues(self, block: Block, line: Line) -> bool:
        last = block.lines[-1]
        if last.size != line.size:
            return False
        if block.level:
            near = last.page == line.page and 0 < last.base - line.base < 2 * line.size
            return near and len(block.lines) < MAX_HEADING_LINES
        if block.table or len(line.cells) > 1:
            return block.table and len(line.cells) == len(last.cells) and last.page == line.page
        if ITEM.match(line.text) or LEADER_TO_PAGE.search(last.text):
            return False
        if last.vertical:
            return not ENDS_SENTENCE.search(last.text)
        below = last.page == line.page and last.base - line.base > 0
        if not below:
            # The next column or page: only a sentence that has not ended goes on there.
            return not ENDS_SENTENCE.search(last.text) and not self._is_short(last, line)
        if last.base - line.base > 1.35 * self._pitch.get(line.size, line.size * 1.5):
            return False
        return not self._is_indented(block, line) and not self._is_short(last, line)

    def _is_indented(self, block: Block, line: Line) -> bool:
        """A first line set in. Below an item's mark, or below a term, all other lines are."""
        if len(block.lines) == 1 or ITEM.match(block.lines[0].text):
            return False
        return line.left > block.lines[-1].left + 0.7 * line.size

    def _is_short(self, last: Line, line: Line) -> bool:
        """Whether the next word had found room in the line before: then that one had ended."""
        column = _column(last)
        room = max(self._right.get(c, 0.0) for c in range(column - 3, column + 4)) - last.right
        if IS_EAST_ASIAN.match(line.text[0]):
            return room > 2.5 * last.size
        letter = (last.right - last.left) / len(last.text)
        return room > (len(line.text.split()[0]) + 2) * 1.15 * letter


def _column(line: Line) -> int:
    return int(line.left // 10)


def _render(block: Block) -> str:
    if block.table and len(block.lines) > 1:
        return _table(block)
    text = ""
    for line in block.lines:
        if text.endswith("-") and text[-2:-1].isalpha() and line.text[:1].islower():
            # A word divided by hand; the library undoes the others.
            text = text[:-1] + line.text
        else:
            text = join_lines(text, line.text)
    if block.level:
        return f"{'#' * block.level} {escape_inline(text)}"
    if BULLET.match(text):
        return f"- {escape_inline(BULLET.sub('', text))}"
    return escape_start(escape_inline(text))


def _table(block: Block) -> str:
    rows = [
        [escape_inline(cell.strip()).replace("|", "\\|") for cell in line.cells]
        for line in block.lines
    ]
    rows.insert(1, ["---"] * len(rows[0]))
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
