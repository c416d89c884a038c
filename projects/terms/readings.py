"""How a term is read, and under which letter of an index it stands."""

import re
import threading
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import chain

from sudachipy import SplitMode, Tokenizer

from projects.choices import Language
from projects.terms.sudachi import dictionary

# The rows of the Japanese index, each with the kana that stand in it (without voicing marks).
ROWS = {
    "あ": "あいうえお",
    "か": "かきくけこ",
    "さ": "さしすせそ",
    "た": "たちつてと",
    "な": "なにぬねの",
    "は": "はひふへほ",
    "ま": "まみむめも",
    "や": "やゆよ",
    "ら": "らりるれろ",
    "わ": "わゐゑをん",
}
LATIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Under which everything else stands.
REST = "#"
LETTERS = (*LATIN, *ROWS, REST)

_ROW_OF = {kana: row for row, members in ROWS.items() for kana in members}
_SMALL = str.maketrans("ぁぃぅぇぉっゃゅょゎゕゖ", "あいうえおつやゆよわかけ")
_KANA = [chr(point) for point in range(0x3041, 0x3100)]
_KATAKANA = re.compile("[\u30a1-\u30f6\u30fd\u30fe]")
_JAPANESE = re.compile(
    "[\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_FIRST = re.compile(r"^[\W_]+")
_SPACES = re.compile(r"\s+")
# A reading is for sorting: what comes after this many characters never decides.
LONGEST = 200

_of_thread = threading.local()


def reading_of(text: str) -> str:
    """In hiragana; what is not Japanese in small letters. Its first sign says under which letter it
    stands."""
    text = _SPACES.sub(" ", unicodedata.normalize("NFKC", text)).strip()[:LONGEST]
    if not _JAPANESE.search(text):
        return _beginning(text.casefold())[:LONGEST]
    parts = (
        # An abbreviation has a reading of its own (エーピーアイ), but is looked for under A.
        morpheme.reading_form() if _JAPANESE.search(morpheme.surface()) else morpheme.surface()
        for morpheme in _sudachi().tokenize(text)
    )
    return _beginning(as_hiragana("".join(parts).casefold()))[:LONGEST]


def _beginning(reading: str) -> str:
    """Without signs in front (`.net`), and without an accent on the first letter."""
    reading = _FIRST.sub("", reading) or reading
    first = unicodedata.normalize("NFKD", reading[:1])[:1]
    return first + reading[1:] if "a" <= first <= "z" else reading


def index_letter(reading: str) -> str:
    """One of `LETTERS`: `#` for what begins with neither a letter nor a kana. Signs in front
    (`.net`) are passed over."""
    first = unicodedata.normalize("NFKD", _FIRST.sub("", reading)[:1])[:1]
    if "a" <= first.lower() <= "z":
        return first.upper()
    kana = as_hiragana(first).translate(_SMALL)
    return _ROW_OF.get(kana, REST)


def scripts_of(language: str) -> tuple[Sequence[str], Sequence[str]]:
    """A–Z and 五十音, that of the language first. `REST` comes after both."""
    return (tuple(ROWS), LATIN) if language == Language.JAPANESE else (LATIN, tuple(ROWS))


@cache
def signs_in_order(language: str) -> str:
    """What readings under a letter begin with, as an index in this language has them: ゔ beside う,
    though its code point is beyond わ."""
    places = {letter: at for at, letter in enumerate(chain(*scripts_of(language)))}
    signs = [sign for sign in (*LATIN.lower(), *_KANA) if index_letter(sign) in places]
    return "".join(sorted(signs, key=lambda sign: (places[index_letter(sign)], _plain(sign), sign)))


def _plain(kana: str) -> str:
    """With its voicing mark as a sign of its own."""
    return as_hiragana(unicodedata.normalize("NFKD", kana)).translate(_SMALL)


def as_hiragana(text: str) -> str:
    return _KATAKANA.sub(lambda kana: chr(ord(kana[0]) - 0x60), text)


def _sudachi() -> Tokenizer:
    sudachi: Tokenizer | None = getattr(_of_thread, "sudachi", None)
    if sudachi is None:
        sudachi = _of_thread.sudachi = dictionary().tokenizer(SplitMode.C, fields={"reading_form"})
    return sudachi
