"""Bytes to text: byte order marks, UTF-8, UTF-16, the Japanese encodings, Western as a last resort.

Every decoder is strict. A wrong guess would store garbage for good, so when no reading looks like
text the file is refused, and its owner is asked to save it as UTF-8.
"""

import codecs
import re
import unicodedata
from collections import Counter

from django.utils.translation import gettext_lazy as _

from projects.intake import japanese, western
from projects.intake.errors import Refused

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    # Before UTF-16: its mark begins with the same two bytes.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Tab, newline, form feed and carriage return are text.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
CONTROL_BYTES = re.compile(CONTROL.pattern.encode())
JIS_ESCAPE = re.compile(rb"\x1b(?:\$[@B]|\$\([DOQ]|\([BIJ])")
# EUC-JP as found in the wild has vendors' signs (①) that only the newer tables know.
EUC_JP = ("euc_jp", "euc_jis_2004")
# UTF-16 only shows itself by its zero bytes, and a line of nothing but Japanese has none.
JAPANESE = ("cp932", *EUC_JP, "utf-16-le", "utf-16-be")
UTF16_PENALTY = 6.0
JIS = ("iso2022_jp", "iso2022_jp_ext", "iso2022_jp_2004")
# Enough to tell encodings apart; the whole file is still decoded strictly.
SAMPLE = 20_000
ASCII_RUN = re.compile(rb"([\x00-\x7f]{8})[\x00-\x7f]{40,}([\x00-\x7f]{8})")

# Letters that stand apart from any word and that hardly any language writes.
RARE_SIGNS = re.compile("(?<![A-Za-z])[\u0180-\u0384\u03cf-\u03ff]+(?![A-Za-z])")

# Kana, kanji, Hangul and the marks between them.
LATIN = re.compile("[\t-\u00ff]")
EAST_ASIAN = re.compile("[\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uff9f]")

# What a page may name in its own head. The values are how browsers read those names.
HTML_CHARSETS = {
    **dict.fromkeys(["shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j", "ms932"], "cp932"),
    **dict.fromkeys(["euc-jp", "x-euc-jp"], "euc_jis_2004"),
    **dict.fromkeys(["iso-8859-1", "latin1", "us-ascii", "windows-1252"], "cp1252"),
    **dict.fromkeys(["gb2312", "gbk", "gb18030"], "gb18030"),
    **dict.fromkeys(["euc-kr", "ks_c_5601-1987"], "cp949"),
    **{f"windows-125{n}": f"cp125{n}" for n in (0, 1, 3, 4, 5, 6, 7, 8)},
    **{f"iso-8859-{n}": f"iso8859_{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    "iso-8859-9": "cp1254",
    "big5": "big5hkscs",
    "koi8-r": "koi8_r",
    "koi8-u": "koi8_u",
}
DECLARED = re.compile(
    rb"""<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w-]{2,40})|<\?xml[^>]{0,200}?encoding=["']([\w-]+)""",
    re.IGNORECASE,
)


def decode(data: bytes) -> str:
    """The text, with plain newlines and without a byte order mark; `Refused` when it is none."""
    text = _marked(data)
    if text is None:
        text = _universal(data)
    if text is None:
        text = _regional(data)
    return _tidy(text)


def decode_html(data: bytes) -> str:
    """Like `decode`, but where the bytes are not Unicode a page's own charset is believed first."""
    text = _marked(data)
    if text is None:
        text = _universal(data)
    if text is None:
        text = _declared(data)
    if text is None:
        text = _regional(data)
    return _tidy(text)


def _marked(data: bytes) -> str | None:
    for mark, name in MARKS:
        if data.startswith(mark):
            text = _strict(data[len(mark) :], name)
            if text is None:
                raise _unknown()
            return text
    return None


def _universal(data: bytes) -> str | None:
    """The encodings that cannot be mistaken for another: ISO-2022-JP, UTF-8 and UTF-16."""
    control = CONTROL_BYTES.search(data)
    if not control:
        text = _strict(data, "utf-8")
        return None if text is not None and _is_kanji_in_disguise(text, data) else text
    if JIS_ESCAPE.search(data) and data.isascii():
        text = _first_strict(data, JIS) or _jis_with_vendor_signs(data)
        if text is not None:
            return text
    text = _utf16_without_mark(data)
    # A DOS file may end in Ctrl-Z; older programs fill the last block with it.
    if text is None and data.endswith(b"\x1a"):
        return _universal(data.rstrip(b"\x1a"))
    if text is None:
        raise _binary(data[control.start()], data.count(b"\n", 0, control.start()) + 1)
    return text


def _is_kanji_in_disguise(text: str, data: bytes) -> bool:
    """Whether a few lone kanji in EUC-JP happen to be valid UTF-8: phonetic signs, no kana."""
    if text.isascii() or len(text) > 200 or not RARE_SIGNS.search(text):
        return False
    kanji = _strict(data, "euc_jp")
    return kanji is not None and japanese.is_plausible(kanji)


def _declared(data: bytes) -> str | None:
    found = DECLARED.search(data[:4096])
    if not found:
        return None
    name = (found[1] or found[2]).decode("ascii").lower()
    return _strict(data, HTML_CHARSETS[name]) if name in HTML_CHARSETS else None


def _regional(data: bytes) -> str:
    """The likeliest of Shift_JIS, EUC-JP and Western, by what the characters cost in each."""
    sample = _sample(data)
    readings: list[tuple[float, str]] = []
    for name in JAPANESE:
        text = _strict(data, name)
        part = sample.decode(name, errors="ignore")
        if text is None or not japanese.is_plausible(part):
            continue
        rare = 0.0
        if name.startswith("utf-16"):
            if japanese.share_of_kana(part) < 0.3:
                continue
            rare = UTF16_PENALTY
        readings.append((rare + japanese.cost(part, euc=name in EUC_JP), text))
    text = _strict(data, "cp1252")
    part = sample.decode("cp1252", errors="ignore")
    if text is not None and western.is_plausible(part):
        readings.append((western.cost(part), text))
    if not readings:
        raise _unknown()
    return min(readings, key=lambda reading: reading[0])[1]


def _sample(data: bytes) -> bytes:
    """The telling part: long runs of ASCII say nothing, so only their ends are kept."""
    return ASCII_RUN.sub(rb"\1\n\2", data)[:SAMPLE]


def _utf16_without_mark(data: bytes) -> str | None:
    if len(data) % 2:
        return None
    readings = [
        (_share_of_text(text), text)
        for name in ("utf-16-le", "utf-16-be")
        if (text := _strict(data, name)) is not None and not CONTROL.search(text)
    ]
    share, text = max(readings, default=(0.0, ""))
    # Two letters of ASCII make one kanji; only zero bytes or real Japanese say that they do not.
    is_sure = LATIN.search(text) or japanese.is_plausible(text[:SAMPLE])
    return text if share >= 0.8 and is_sure else None


def _share_of_text(text: str) -> float:
    """Words stay within one block of characters; chance scatters over all of them."""
    sample = text[:SAMPLE]
    if any(unicodedata.category(char) in ("Cn", "Co") for char in sample):
        return 0.0
    blocks = Counter("east" if EAST_ASIAN.match(char) else ord(char) >> 8 for char in sample)
    plain = blocks.pop(0, 0)
    return (plain + max(blocks.values(), default=0)) / len(sample)


def _jis_with_vendor_signs(data: bytes) -> str | None:
    """ISO-2022-JP mail with ① and friends: the same table as EUC-JP, so it is read as that."""
    parts: list[bytes] = []
    escape = b"\x1b(B"
    position = 0
    for found in [*JIS_ESCAPE.finditer(data), None]:
        run = data[position : found.start() if found else len(data)]
        high = bytes(byte | 0x80 if byte > 0x20 else byte for byte in run)
        if escape.startswith(b"\x1b$"):
            run = high
        elif escape == b"\x1b(I":
            run = b"".join(b"\x8e" + high[i : i + 1] for i in range(len(high)))
        parts.append(run)
        if found:
            escape, position = found[0], found.end()
    return _strict(b"".join(parts), "euc_jis_2004")


def _strict(data: bytes, name: str) -> str | None:
    try:
        return data.decode(name)
    except UnicodeDecodeError:
        return None


def _first_strict(data: bytes, names: tuple[str, ...]) -> str | None:
    readings = (_strict(data, name) for name in names)
    return next((text for text in readings if text is not None), None)


def _unknown() -> Refused:
    return Refused(
        "encoding_unknown",
        _("The encoding of the text could not be told. Save the file as UTF-8 and try again."),
    )


def _tidy(text: str) -> str:
    found = CONTROL.search(text)
    if found:
        raise _binary(ord(found[0]), text.count("\n", 0, found.start()) + 1)
    # A second mark hides at the start of files that were joined or converted twice.
    return text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _binary(code: int, line: int) -> Refused:
    return Refused(
        "binary_content",
        _("The file is not text: it has the control character U+%(code)s in line %(line)s."),
        code=f"{code:04X}",
        line=line,
    )
