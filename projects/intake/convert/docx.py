"""A Word document to Markdown by way of mammoth's HTML: its structure, not its looks."""

import io
import zipfile
import zlib

import mammoth

from projects.intake.convert.errors import Unconvertible
from projects.intake.convert.html import to_markdown

# Styles that mammoth does not map by itself. Word stores the built-in ones under English names,
# other programs under the names people see.
STYLES = "\n".join(
    [
        "p[style-name='Title'] => h1:fresh",
        "p[style-name='表題'] => h1:fresh",
        "p[style-name='Subtitle'] => p:fresh > strong",
        *(f"p[style-name='見出し {n}'] => h{n}:fresh" for n in range(1, 7)),
        "p[style-name='Quote'] => blockquote:fresh > p:fresh",
        "p[style-name='Intense Quote'] => blockquote:fresh > p:fresh",
        "p[style-name='HTML Preformatted'] => pre:separator('\\n')",
        "r[style-name='HTML Code'] => code",
    ]
)
MAIN_PART = "word/document.xml"
# Below this a small file of repeated text may have any ratio.
HARMLESS_BYTES = 2**20
CHUNK = 2**16
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)


def convert(data: bytes, max_bytes: int, max_ratio: int) -> str:
    _refuse_bomb(data, max_bytes, max_ratio)
    result = mammoth.convert_to_html(
        io.BytesIO(data), style_map=STYLES, convert_image=lambda image: []
    )
    return to_markdown(result.value)


def _refuse_bomb(data: bytes, max_bytes: int, max_ratio: int) -> None:
    """Measure every part by unpacking it, because the sizes that the file states may be lies."""
    expanded = 0
    allowed = max(HARMLESS_BYTES, len(data) * max_ratio)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            if MAIN_PART not in package.namelist():
                raise Unconvertible("docx_other")
            for part in package.infolist():
                if part.flag_bits & 1:
                    raise Unconvertible("docx_password")
                with package.open(part) as stream:
                    while piece := stream.read(CHUNK):
                        expanded += len(piece)
                        if expanded > max_bytes:
                            raise Unconvertible("docx_too_large")
                        if expanded > allowed:
                            raise Unconvertible("docx_ratio")
    except BROKEN as error:
        raise Unconvertible("docx_broken") from error
