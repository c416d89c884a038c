"""A PDF to Markdown: its text in reading order, with headings and paragraphs put together again."""

import unicodedata

import pypdfium2 as pdfium
from pypdfium2 import raw

from projects.intake.convert.errors import Unconvertible
from projects.intake.convert.pdf_blocks import body_size, to_markdown
from projects.intake.convert.pdf_layout import reading_order, without_furniture
from projects.intake.convert.pdf_lines import Line, lines_of

# Above this share of signs without a meaning the rest is not worth storing either.
MAX_UNREADABLE = 0.3


def convert(data: bytes) -> str:
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        locked = error.err_code == raw.FPDF_ERR_PASSWORD
        raise Unconvertible("pdf_password" if locked else "pdf_broken") from error
    try:
        lines, heights = _read(document)
    except pdfium.PdfiumError as error:
        # Without one of its pages a document would say something else.
        raise Unconvertible("pdf_broken") from error
    finally:
        document.close()
    if not lines:
        raise Unconvertible("pdf_images")
    if _unreadable_share(lines) > MAX_UNREADABLE:
        raise Unconvertible("pdf_garbled")
    body = body_size(lines)
    return to_markdown(without_furniture(lines, heights, body), body)


def _read(document: pdfium.PdfDocument) -> tuple[list[Line], list[float]]:
    """The lines of all pages in reading order, and how high each page is."""
    lines: list[Line] = []
    heights: list[float] = []
    for number in range(len(document)):
        page = document[number]
        try:
            lines += reading_order(lines_of(page, number))
            heights.append(page.get_height())
        finally:
            page.close()
    return lines, heights


def _unreadable_share(lines: list[Line]) -> float:
    """Fonts may draw letters without saying which; they come out as signs of no meaning."""
    signs = [char for line in lines for char in line.text if not char.isspace()]
    bad = sum(
        char == "\ufffd" or unicodedata.category(char) in ("Co", "Cn", "Cc") for char in signs
    )
    return bad / len(signs)
