"""Files as people, programs and attackers make them."""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable

import docx
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from projects.intake.files import Draft, Incoming, Rejected
from projects.intake.limits import Limits
from projects.intake.reader import read

MINCHO, GOTHIC = "HeiseiMin-W3", "HeiseiKakuGo-W5"


def read_all(files: dict[str, bytes], limits: Limits | None = None) -> list[Draft | Rejected]:
    incoming = [Incoming.from_bytes(path, data) for path, data in files.items()]
    return list(read(incoming, limits or Limits()))


def read_one(path: str, data: bytes, limits: Limits | None = None) -> Draft | Rejected:
    (result,) = read_all({path: data}, limits)
    return result


def codes(results: Iterable[Draft | Rejected]) -> dict[str, str]:
    """Path → what became of it."""
    return {r.path: r.code if isinstance(r, Rejected) else "read" for r in results}


def make_zip(files: dict[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def zip_with_raw_name(name: bytes, data: bytes, *, encrypted: bool = False) -> bytes:
    """One file whose name has exactly these bytes and no UTF-8 flag."""
    return _raw_zip(name, data, copies=1, flags=1 if encrypted else 0)


def zip_of_copies(name: str, data: bytes, copies: int) -> bytes:
    """Many entries that all point at one packed file: a few kilobytes become gigabytes."""
    return _raw_zip(name.encode(), data, copies=copies, flags=0)


def _raw_zip(name: bytes, data: bytes, copies: int, flags: int) -> bytes:
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = squeeze.compress(data) + squeeze.flush()
    sizes = struct.pack("<III", zlib.crc32(data), len(packed), len(data))
    local = struct.pack("<IHHHHH", 0x04034B50, 20, flags, 8, 0, 0x21) + sizes
    local += struct.pack("<HH", len(name), 0) + name + packed
    entry = struct.pack("<IHHHHHH", 0x02014B50, 20, 20, flags, 8, 0, 0x21) + sizes
    entry += struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, 0) + name
    directory = entry * copies
    end = struct.pack("<IHHHH", 0x06054B50, 0, 0, copies, copies)
    return local + directory + end + struct.pack("<IIH", len(directory), len(local), 0)


def make_docx() -> bytes:
    document = docx.Document()
    document.add_heading("製品マニュアル", 0)
    document.add_heading("はじめに", 1)
    paragraph = document.add_paragraph("この装置は")
    paragraph.add_run("自動").bold = True
    paragraph.add_run("で動く。Use snake_case <b> here.")
    document.add_paragraph("one", style="List Bullet")
    document.add_paragraph("two", style="List Bullet")
    document.add_paragraph("first", style="List Number")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ["用語", "定義", "API", "a | b"], strict=True):
        cell.text = text
    document.add_heading("Details", 2)
    document.add_picture(io.BytesIO(_tiny_png()))
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def _tiny_png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + crc

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"\x00\x00")
    body = chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


class Pdf:
    """A PDF written line by line, each at its own place and in its own size."""

    def __init__(self, *, password: str | None = None, vertical: bool = False) -> None:
        self._buffer = io.BytesIO()
        self._canvas = Canvas(self._buffer, pagesize=A4, encrypt=password)
        for font in (MINCHO, GOTHIC):
            pdfmetrics.registerFont(UnicodeCIDFont(font, isVertical=vertical))

    def line(
        self, x: float, y: float, text: str, size: float = 10, font: str = "Helvetica"
    ) -> None:
        self._canvas.setFont(font, size)
        self._canvas.drawString(x, y, text)

    def lines(self, x: float, y: float, texts: list[str], pitch: float = 14, **style) -> None:
        for number, text in enumerate(texts):
            self.line(x, y - number * pitch, text, **style)

    def box(self) -> None:
        self._canvas.rect(50, 50, 100, 100, fill=1)

    def next_page(self) -> None:
        self._canvas.showPage()

    def data(self) -> bytes:
        self._canvas.save()
        return self._buffer.getvalue()
