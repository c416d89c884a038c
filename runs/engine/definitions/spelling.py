"""How a term may be written in a text: plural, capitals, hyphens, long vowels, wide letters."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from indexing.lexical.analysis import JAPANESE
from runs.pipeline.data import Term

KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
KANJI = "\u3005-\u3007\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
IS_JAPANESE = re.compile(f"[{JAPANESE}]")
HAS_KANA = re.compile("[\u3041-\u309f\u30a1-\u30fa]")
# A trailing long vowel is written or not (サーバー, サーバ), but not where little else is left.
LONG_VOWEL = re.compile(f"(?<=[{KATAKANA}]{{3}})ー?$")
# In wide letters, one for one: what is found in the changed text stands at the same place.
WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
# A line break, a hyphen and a space between two words are all the same.
SAME = (
    WIDE | {ord(sign): " " for sign in "\n\t\r\u3000\u00a0>-\u2010\u2011\u2013－"} | {ord("’"): "'"}
)
SPACES = re.compile(" +")
# Stands for the term in a sentence that is looked at: a sign that no text has.
MASK = "\ue000"
# Kanji that stand before or after a word without making another of it.
BEFORE = "各全本同両他毎当"
AFTER = "等内中間時後前上下側毎"
LETTER = re.compile("[A-Za-z0-9]")
JOINT = re.compile(r"[-_./\\@]")
# Between these, anything is a word of its own.
APART = frozenset({"", *" \n\t,;:!?()、。「」"})
IS_KANJI = re.compile(f"[{KANJI}]")
IS_KATAKANA = re.compile(f"[{KATAKANA}]")
WORDLIKE = re.compile(f"[A-Za-z0-9{KATAKANA}{KANJI}]")
UNCHANGING = re.compile(r"(?:ss|us|is|ous)$")


def folded(text: str) -> str:
    """In one spelling, each character at its own place."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(small if len(small := each.lower()) == 1 else each for each in text)
    return lower.translate(SAME)


def stands_alone(text: str, start: int, end: int) -> bool | None:
    """Whether it is a word of its own there. None: it is only letters of another."""
    first, last = text[start], text[end - 1]
    before, after = text[start - 1 : start], text[end : end + 1]
    if before in APART and after in APART:
        # As nearly always: all else that is asked below is asked for nothing then.
        return True
    if LETTER.match(first) and (
        LETTER.match(before) or (JOINT.match(before) and LETTER.match(text[start - 2 : start - 1]))
    ):
        return None
    if LETTER.match(last) and (
        LETTER.match(after) or (JOINT.match(after) and LETTER.match(text[end + 1 : end + 2]))
    ):
        return None
    if IS_KATAKANA.match(first) and IS_KATAKANA.match(before):
        return None
    if IS_KATAKANA.match(last) and IS_KATAKANA.match(after):
        return None
    if IS_KANJI.match(first) and IS_KANJI.match(before) and before not in BEFORE:
        return False
    if IS_KANJI.match(last) and IS_KANJI.match(after) and after not in AFTER:
        return False
    return not (_joins(before, first, BEFORE) or _joins(after, last, AFTER))


def _joins(outside: str, inside: str, harmless: str) -> bool:
    """Whether two characters of different scripts are of one compound: 内在サイズ, Pod名."""
    if not outside or outside in harmless or not WORDLIKE.match(outside):
        return False
    return WORDLIKE.match(inside) is not None


def is_japanese(text: str) -> bool:
    """Whether it is a Japanese sentence: kana are in every one."""
    return not text.isascii() and HAS_KANA.search(text) is not None


def is_acronym(spelling: str) -> bool:
    """In capitals: `AS` and `IT` are not `as` and `it`."""
    return spelling.isascii() and spelling.isupper() and len(spelling) <= 6


def in_capitals(text: str) -> bool:
    """As an acronym is written, or its plural."""
    return text.rstrip("s").isupper()


@dataclass(frozen=True)
class Subject:
    """A term, ready to be looked for."""

    term: Term

    @cached_property
    def spellings(self) -> tuple[str, ...]:
        """Each way of writing it once, folded; its own before those of its synonyms."""
        ways: dict[str, None] = {}
        for spelling in self.term.spellings:
            ways.update(dict.fromkeys(self.ways_of(spelling)))
        return tuple(ways)

    @staticmethod
    def ways_of(spelling: str) -> list[str]:
        return _ways(SPACES.sub(" ", folded(spelling)).strip())

    @cached_property
    def acronyms(self) -> frozenset[str]:
        """Spellings that count in capitals only."""
        return frozenset(
            way for each in self.term.spellings if is_acronym(each) for way in self.ways_of(each)
        )

    @cached_property
    def _anywhere(self) -> re.Pattern[str]:
        """All spellings, for a folded text; longer ones are tried first. Made for each term, so
        without anything that takes long to compile: no letters of either case, no sets."""
        ways = sorted(self.spellings, key=lambda way: (-len(way), way))
        return re.compile("|".join(" +".join(map(re.escape, way.split(" "))) for way in ways))

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the term stands in a plain text, as a word of its own."""
        for found in self._anywhere.finditer(folded(text)):
            start, end = found.span()
            if SPACES.sub(" ", found[0]) in self.acronyms and not in_capitals(text[start:end]):
                continue
            if stands_alone(text, start, end):
                yield start, end

    def masked(self, text: str) -> str:
        """A plain text with a mask wherever the term stands: patterns are made for that, not for
        each term."""
        parts, last = [], 0
        for start, end in self.places(text):
            parts += [text[last:start], MASK]
            last = end
        return "".join([*parts, text[last:]])

    def is_named_by(self, text: str) -> bool:
        """Whether a text is the term and nothing else."""
        return SPACES.sub(" ", folded(text)).strip() in self.spellings


def _ways(spelling: str) -> list[str]:
    """With its plural or singular, with its long vowel and without."""
    if not spelling:
        return []
    if IS_JAPANESE.search(spelling[-1]):
        if LONG_VOWEL.search(spelling):
            return [spelling, LONG_VOWEL.sub("" if spelling.endswith("ー") else "ー", spelling, 1)]
        return [spelling]
    if not spelling[-1].isalpha() or not spelling.isascii():
        return [spelling]
    if spelling.endswith("s") and not UNCHANGING.search(spelling) and len(spelling) > 3:
        if spelling.endswith("ies"):
            return [spelling, spelling[:-3] + "y"]
        if spelling.endswith(("ses", "xes", "ches", "shes")):
            return [spelling, spelling[:-2], spelling[:-1]]
        return [spelling, spelling[:-1]]
    if spelling.endswith(("s", "x", "ch", "sh")):
        return [spelling, spelling + "es"]
    if spelling.endswith("y") and spelling[-2:-1] not in tuple("aeiou"):
        return [spelling, spelling[:-1] + "ies"]
    return [spelling, spelling + "s"]
