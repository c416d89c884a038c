"""What somebody types to find a term, and whether a name is meant by it.

More spellings meet here than in `keys.py`, where two of them would become one term: hiragana finds
katakana, and kana find what is read so. A part of a name is enough.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from projects.terms.keys import key_of
from projects.terms.readings import as_hiragana
from projects.terms.signs import visible

_HIRAGANA = re.compile("[\u3041-\u3096\u309d\u309e]")


@dataclass(frozen=True)
class Wanted:
    text: str
    # Of what was typed, and of the same in katakana. None where nothing of it can be seen.
    keys: frozenset[str] = field(init=False)
    # As `reading_of` writes kana; what is not kana stands there in small letters.
    reading: str = field(init=False)

    def __post_init__(self) -> None:
        plain = unicodedata.normalize("NFKC", visible(self.text))
        object.__setattr__(self, "keys", frozenset(map(key_of, (plain, _katakana(plain)))) - {""})
        object.__setattr__(self, "reading", as_hiragana(plain.casefold().strip()))

    def is_one_of(self, names: Iterable[str]) -> bool:
        return any(key_of(name) in self.keys for name in names)

    def is_part_of(self, names: Iterable[str]) -> bool:
        return any(key in key_of(name) for name in names for key in self.keys)


def _katakana(text: str) -> str:
    return _HIRAGANA.sub(lambda kana: chr(ord(kana[0]) + 0x60), text)
