"""From lines as a program wrote them to lines as a person reads them, without page furniture."""

import re
import unicodedata
from collections.abc import Hashable, Iterator
from itertools import groupby

from projects.intake.convert.pdf_lines import Line

# More blocks than this on a page is a drawing or a form; the order of the file is as good.
MAX_BLOCKS = 150
# The part of a page's height where headers and footers stand, and how they are set off.
MARGIN, MIN_GAP = 0.12, 0.7
SAME_PLACE = 4.0
PAGE_NUMBER = re.compile(
    r"[-–—\s]*(?:page|p\.?)?\s*(?:\d{1,4}|[ivxl]{1,7})\s*(?:(?:/|of|／)\s*\d{1,4})?\s*(?:ページ|頁)?[-–—\s]*",
    re.IGNORECASE,
)
END_NUMBERS = re.compile(r"^\d{1,4}(?!\S)|(?<!\S)\d{1,4}$")


def reading_order(lines: list[Line]) -> list[Line]:
    """Blocks top to bottom, columns left to right (right to left where the writing is vertical)."""
    if lines and sum(line.vertical for line in lines) > len(lines) / 2:
        return sorted(lines, key=lambda line: (-round(line.right), -line.top))
    blocks = _blocks(lines)
    if len(blocks) > MAX_BLOCKS:
        return lines
    ordered: list[Line] = []
    waiting = list(range(len(blocks)))
    boxes = [_box(block) for block in blocks]
    while waiting:
        # The first one, as the file has them, that nothing else must come before.
        ready = (i for i in waiting if not any(_precedes(boxes[j], boxes[i]) for j in waiting))
        chosen = next(ready, waiting[0])
        waiting.remove(chosen)
        ordered += blocks[chosen]
    return ordered


def _blocks(lines: list[Line]) -> list[list[Line]]:
    """Runs of lines that the file writes one below the other."""
    blocks: list[list[Line]] = []
    for line in lines:
        last = blocks[-1][-1] if blocks else None
        near = last is not None and last.bottom - line.top < 2 * line.size
        if last is not None and near and line.top <= last.top and _overlap(last, line):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return blocks


def _overlap(a: Line, b: Line) -> bool:
    return a.left < b.right and b.left < a.right


def _box(block: list[Line]) -> Line:
    return Line(
        text="",
        size=block[0].size,
        left=min(line.left for line in block),
        bottom=min(line.bottom for line in block),
        right=max(line.right for line in block),
        top=max(line.top for line in block),
        base=block[0].base,
    )


def _precedes(a: Line, b: Line) -> bool:
    if a is b:
        return False
    if _overlap(a, b):
        # Boxes may touch; the middle decides.
        return a.top + a.bottom > b.top + b.bottom
    side_by_side = a.bottom < b.top and b.bottom < a.top
    return side_by_side and a.right <= b.left


def without_furniture(lines: list[Line], heights: list[float], body: float) -> list[Line]:
    """Drop what stands at the edge of most pages: headers, footers, page numbers."""
    pages = len(heights)
    if pages < 2:
        return lines
    edges = [
        line
        for number, page in groupby(lines, key=lambda line: line.page)
        for line in _at_edges(list(page), heights[number])
    ]
    alike: dict[Hashable, list[Line]] = {}
    for line in edges:
        for key in _furniture_keys(line, body):
            alike.setdefault(key, []).append(line)
    # Left and right pages may differ, so two fifths are most pages too.
    needed = 2 if pages < 4 else max(3, pages * 2 // 5)
    dropped = {
        id(line)
        for found in alike.values()
        if len({line.page for line in found}) >= needed
        for line in found
    }
    # A document of nothing but furniture is one whose text happens to stand there.
    return [line for line in lines if id(line) not in dropped] or lines


def _at_edges(page: list[Line], height: float) -> list[Line]:
    """The lines in the margins, from the edge inwards, that a gap sets apart from the text."""
    found: list[Line] = []
    downwards = sorted(page, key=lambda line: -line.bottom)
    for ordered, is_margin in (
        (downwards, lambda line: line.bottom > height * (1 - MARGIN)),
        (downwards[::-1], lambda line: line.top < height * MARGIN),
    ):
        margin = [line for line in ordered if is_margin(line)]
        inside = ordered[len(margin) :]
        # Where the margin runs into the text without a gap, its last lines are text.
        while margin and inside and _gap(margin[-1], inside[0]) < margin[-1].size * MIN_GAP:
            inside.insert(0, margin.pop())
        found += margin
    return found


def _gap(a: Line, b: Line) -> float:
    return max(a.bottom, b.bottom) - min(a.top, b.top)


def _furniture_keys(line: Line, body: float) -> Iterator[Hashable]:
    """What a line has in common with its like on other pages."""
    text = unicodedata.normalize("NFKC", line.text).strip()
    place = round(line.base / SAME_PLACE)
    is_small = line.size <= body
    if PAGE_NUMBER.fullmatch(text):
        yield "page number", place
    # "Chapter 1", "Chapter 2" in large letters are headings; in small ones they run along.
    shape = re.sub(r"\d+", "0", text) if is_small else text
    # A place on the edge of two counts for both.
    yield shape, place
    yield shape, place + 1
    # A running title changes with the chapter, but the number beside it counts the pages.
    if is_small:
        for number in {found[0] for found in END_NUMBERS.finditer(text)}:
            yield "counts", int(number) - line.page
