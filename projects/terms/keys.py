"""The key of a term: the same for all its spellings.

What is made equal: full and half width and other forms of a character (NFKC), case, hyphens and
spaces and middle dots (`e-mail`, `email`; `file name`, `filename`), the plural of the last English
word, the possessive, long-vowel marks (サーバ, サーバー) and a few ways to write foreign sounds
(ヴァ, バ; ウィ, ウイ). What is not: okurigana and kanji against kana,
which need a dictionary (`runs/engine/terms/merging.py` has one), and anything about meaning.

A key is for comparing, never for showing.
"""

import hashlib
import re
import unicodedata
from functools import lru_cache

from projects.terms.plurals import singular

LONGEST = 200
_KEPT_OF_LONG = 180

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufe00-\ufe0f\ufeff]")
_APOSTROPHES = re.compile("[\u2018\u2019\u02bc\u00b4`]")
_POSSESSIVE = re.compile(r"'s?(?=\s|$)", re.IGNORECASE)
# Hyphens and dashes, underscores, middle dots, and the double hyphen between foreign names.
_JOINTS = re.compile("[\\s_\\-\u2010-\u2015\u2212\u30fb\u00b7=\u30a0]+")
# What stands around a term, never in it. Dots go only at the end: `.NET` has one of its own.
_AROUND = "\"'«»“”„()[]{}<>「」『』【】〈〉《》〔〕,;:!?、。，．；：！？…*~|"
_DOTTED = re.compile(r"\b(?:[a-z]\.)+(?:[a-z]\b)?", re.IGNORECASE)
_LAST_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*$")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]+")
# サーバー is サーバ, but キー is not キ.
_LONG_VOWEL_FROM = 4
# From here on the marks inside say nothing either: two words of a few letters do not meet by that.
_ALL_LONG_VOWELS_FROM = 6
_FOREIGN = (
    ("ヴァ", "バ"),
    ("ヴィ", "ビ"),
    ("ヴェ", "ベ"),
    ("ヴォ", "ボ"),
    ("ヴ", "ブ"),
    ("ウィ", "ウイ"),
    ("ウェ", "ウエ"),
    ("ウォ", "ウオ"),
    ("フェイス", "フェース"),
)
_AMERICAN = (
    (re.compile("(?<=[a-z]{3})is(?=ations?$)"), "iz"),
    (re.compile("(col|behavi|neighb|lab|harb|vap)our"), r"\1or"),
    (re.compile("(cent|met|lit|fib)re(?=s?$)"), r"\1er"),
    (re.compile("licenc(?=e)"), "licens"),
)


@lru_cache(maxsize=1 << 16)
def key_of(text: str) -> str:
    """Never empty, if the text is more than blank; at most 200 characters; its own key."""
    key = text
    # A key is its own key: what one pass uncovers (a plural below another) the next one takes.
    while (shorter := _pass(key)) != key:
        key = shorter
    return key


def _pass(text: str) -> str:
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).strip()
    key = _APOSTROPHES.sub("'", plain)
    key = _DOTTED.sub(lambda dotted: dotted[0].replace(".", ""), key)
    key = key.strip(_AROUND + " \t\n").rstrip(".") or plain
    key = _POSSESSIVE.sub("", key) or key
    words = [word for word in _JOINTS.split(key) if word]
    if not words:
        return plain.casefold()[:LONGEST]
    words[-1] = _LAST_WORD.sub(lambda last: singular(last[0]), words[-1])
    key = unicodedata.normalize("NFKC", "".join(words).casefold())
    if not key.isascii():
        key = _KATAKANA.sub(lambda run: _one_spelling(run[0]), key)
    else:
        for british, american in _AMERICAN:
            key = british.sub(american, key)
    if len(key) > LONGEST:
        # Two long ones that begin alike are still two.
        key = key[:_KEPT_OF_LONG] + "~" + hashlib.sha256(key.encode()).hexdigest()[:16]
    return key


def _one_spelling(katakana: str) -> str:
    for sound, other in _FOREIGN:
        katakana = katakana.replace(sound, other)
    if len(katakana) >= _LONG_VOWEL_FROM:
        katakana = katakana.rstrip("ー") or katakana
    if len(katakana) >= _ALL_LONG_VOWELS_FROM:
        katakana = katakana.replace("ー", "") or katakana
    return katakana
