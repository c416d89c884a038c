import io
import zipfile

import pytest

from projects.intake.convert.docx import convert
from projects.intake.convert.errors import Unconvertible
from projects.intake.files import Draft, Rejected
from tests.projects.intake.builders import codes, make_docx, make_zip, read_all, read_one

LIMITS = {"max_bytes": 10**8, "max_ratio": 100}


def with_part(name: str, data: bytes) -> bytes:
    buffer = io.BytesIO(make_docx())
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as package:
        package.writestr(name, data)
    return buffer.getvalue()


def test_structure_without_pictures():
    result = read_one("手順書.docx", make_docx())
    assert isinstance(result, Draft)
    assert (result.title, result.format) == ("製品マニュアル", "docx")
    text = result.content
    assert text.startswith("# 製品マニュアル\n\n# はじめに\n\nこの装置は**自動**で動く。")
    assert "Use snake_case \\<b> here." in text
    assert "- one\n- two\n" in text
    assert "1. first\n" in text
    assert "| 用語 | 定義 |\n| --- | --- |\n| API | a \\| b |" in text
    assert "## Details" in text
    assert "base64" not in text


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (LIMITS, "docx_ratio"),
        ({"max_bytes": 10**6, "max_ratio": 10**6}, "docx_too_large"),
    ],
)
def test_a_bomb_is_found_before_it_is_parsed(limits, reason):
    with pytest.raises(Unconvertible) as caught:
        convert(with_part("word/media/x.bin", bytes(15_000_000)), **limits)
    assert caught.value.reason == reason


def test_what_is_no_word_document_is_refused():
    results = read_all(
        {
            "text.docx": b"plain text",
            "pdf.docx": b"%PDF-1.4",
            "old.docx": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100),
            "sheet.docx": make_zip({"xl/workbook.xml": "<x/>"}),
            "cut.docx": b"PK\x03\x04 cut off",
            "damaged.docx": make_zip({"word/document.xml": "<not xml"}),
            "bomb.docx": with_part("word/media/x.bin", bytes(15_000_000)),
        }
    )
    assert codes(results) == {
        "text.docx": "unsupported_format",
        "pdf.docx": "unsupported_format",
        "old.docx": "unsupported_format",
        "sheet.docx": "unsupported_format",
        "cut.docx": "conversion_failed",
        "damaged.docx": "conversion_failed",
        "bomb.docx": "archive_ratio",
    }
    assert all(isinstance(result, Rejected) and result.message for result in results)
