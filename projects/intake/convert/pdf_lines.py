"""The lines of a PDF page as its library finds them: text, place, size of the letters."""

import ctypes
import math
import re
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

import pypdfium2 as pdfium
from pypdfium2 import raw

# The library's sign for a hyphen that only divides a word at the end of a line.
DIVIDED = "\ufffe"
# A gap of this many letter heights between two words separates columns of a table.
COLUMN_GAP = 1.1
# Behind the mark of a list item or the number of a heading a gap means nothing.
MARK = re.compile(
    r"[•‣▪●○◦・■□◆◇※–-]|[（(]?(?:\d{1,3}|[A-Za-z])[.)）]|\d{1,3}(?:\.\d{1,3})*|第\d+[章節条]|[①-⑳]"
)
# The dots that lead from a title to its page number.
LEADER = re.compile(r"\s*(?:[.．·…‥・]\s*){4,}")
SAMPLES = 8


@dataclass
class Line:
    text: str
    size: float
    left: float
    bottom: float
    right: float
    top: float
    # Where the letters stand. Boxes vary with the font, so distances are taken from here.
    base: float
    page: int = 0
    cells: list[str] = field(default_factory=list)

    @property
    def vertical(self) -> bool:
        return self.top - self.bottom > 2 * (self.right - self.left) and len(self.text) > 2


def lines_of(page: pdfium.PdfPage, number: int) -> list[Line]:
    textpage = page.get_textpage()
    try:
        lines: list[Line] = []
        start = 0
        count = textpage.count_chars()
        chars = [_character(textpage, index) for index in range(count)]
        for index in range(count + 1):
            if index < count and chars[index] not in "\r\n":
                continue
            line = _line(textpage, chars, start, index)
            if line is not None:
                line.page = number
                lines.append(line)
            start = index + 1
        return lines
    finally:
        textpage.close()


def _character(textpage: pdfium.PdfTextPage, index: int) -> str:
    code = raw.FPDFText_GetUnicode(textpage, index)
    return chr(code) if 0 < code < 0x110000 else "\ufffd"


def _line(textpage: pdfium.PdfTextPage, chars: list[str], start: int, end: int) -> Line | None:
    inked = [i for i in range(start, end) if not chars[i].isspace() and chars[i] != DIVIDED]
    if not inked:
        return None
    step = max(1, len(inked) // SAMPLES)
    samples = [*inked[::step], inked[-1]]
    boxes = [textpage.get_charbox(i, loose=True) for i in samples]
    size = median(_size(textpage, i) for i in samples)
    cells = _cells(textpage, chars, inked, size)
    return Line(
        text=LEADER.sub(" … ", " ".join(" ".join(cells).split())),
        size=round(size * 2) / 2,
        left=min(box[0] for box in boxes),
        bottom=min(box[1] for box in boxes),
        right=max(box[2] for box in boxes),
        top=max(box[3] for box in boxes),
        base=median(_base(textpage, i) for i in samples),
        cells=cells,
    )


def _size(textpage: pdfium.PdfTextPage, index: int) -> float:
    """How large the letter is on the page: many programs set size 1 and scale it up."""
    matrix = raw.FS_MATRIX()
    raw.FPDFText_GetMatrix(textpage, index, matrix)
    return float(raw.FPDFText_GetFontSize(textpage, index)) * math.hypot(matrix.b, matrix.d)


def _base(textpage: pdfium.PdfTextPage, index: int) -> float:
    x, y = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(textpage, index, x, y)
    return y.value


def _cells(
    textpage: pdfium.PdfTextPage, chars: list[str], inked: list[int], size: float
) -> list[str]:
    cells: list[str] = []
    piece = chars[inked[0]]
    for before, after in pairwise(inked):
        if after == before + 1:
            piece += chars[after]
            continue
        gap = (
            textpage.get_charbox(after, loose=True)[0] - textpage.get_charbox(before, loose=True)[2]
        )
        if gap > COLUMN_GAP * size:
            cells.append(piece)
            piece = chars[after]
        else:
            # Between the two there is only white space, or the hyphen of a divided word.
            piece += "".join(chars[before + 1 : after]).replace(DIVIDED, "") + chars[after]
    cells.append(piece)
    if len(cells) > 1 and MARK.fullmatch(cells[0]):
        cells[:2] = [f"{cells[0]} {cells[1]}"]
    return cells
