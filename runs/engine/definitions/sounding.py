"""Whether a word in katakana and one in Latin letters are one: by the consonants they share."""

import re
import unicodedata
from difflib import SequenceMatcher

# Sounds that loanwords mix up are one letter: l and r, b and v, s and z; vowels say too little.
CLASSES = {
    "K": "カキクケコガギグゲゴヵヶkqgcx",
    "S": "サシスセソザジズゼゾszj",
    "T": "タチツテトダヂヅデドtd",
    "N": "ナニヌネノンn",
    "B": "ハヒフヘホバビブベボパピプペポヴbpfhv",
    "M": "マミムメモm",
    "R": "ラリルレロrl",
}
CLASS_OF = {sign: name for name, signs in CLASSES.items() for sign in signs}
SOFT = re.compile(r"c(?=[eiy])")
TWICE = re.compile(r"([a-z])\1")
# Of 1: as much of both is the same.
ALIKE = 0.7


def sounds_alike(one: str, other: str) -> bool:
    """`コンポーザブル` and `composable`; not `データベース` and `MySQL`."""
    first, second = _consonants(one), _consonants(other)
    if not first or first[:1] != second[:1]:
        return False
    return SequenceMatcher(None, first, second, autojunk=False).ratio() >= ALIKE


def begins_alike(one: str, other: str) -> bool:
    """As far as the consonants at the beginning tell: `クロスサイト` and `XSS`."""
    first, second = _sound(one[:1]), _sound(other[:1])
    return first == second or (other[:1].lower() == "c" and first in ("S", "T"))


def _consonants(word: str) -> str:
    letters = TWICE.sub(r"\1", SOFT.sub("s", unicodedata.normalize("NFKC", word).lower()))
    return "".join(map(_sound, letters))


def _sound(letter: str) -> str:
    return CLASS_OF.get(letter.lower(), "")
