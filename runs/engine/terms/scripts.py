"""Which letters a text is written in."""

import re

_JAPANESE = re.compile("[\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u9fff\uf900-\ufaff]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
# A kana or a kanji says about as much as several Latin letters.
_LETTERS_FOR_ONE = 8


def has_japanese(text: str) -> bool:
    return not text.isascii() and _JAPANESE.search(text) is not None


def is_japanese_text(text: str) -> bool:
    """Japanese is more in it than a word or two among others."""
    japanese = len(_JAPANESE.findall(text))
    return japanese > 0 and japanese * _LETTERS_FOR_ONE >= len(_LATIN.findall(text))
