"""Compounds of Japanese text: Sudachi's shortest units (mode A), put together again."""

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from sudachipy import SplitMode, Tokenizer

from glossary_site.checking import Check, checked
from projects.terms.sudachi import dictionary
from runs.engine.terms.markup import Block
from runs.engine.terms.phrases import LONGEST_PHRASE, Phrase, Sort, Word
from runs.engine.terms.vocabulary import (
    EMPTY_PREFIXES,
    HONORIFICS,
    NOT_ALONE,
    NOT_JAPANESE,
    UNITS,
)

# Sudachi refuses more than 49,149 bytes at once; a character has up to four.
_MOST_CHARACTERS = 12_000
UNITS_AT_A_TIME = 1000
_SENTENCES = re.compile(r"[^。！？!?]*[。！？!?]*")
# Kept whole, whatever Sudachi makes of it: Node.js, e-mail, TCP/IP, C++.
_ASCII_RUN = re.compile(
    r"\.?[A-Za-z0-9](?:[A-Za-z0-9]|[-._/&'](?=[A-Za-z0-9]))*(?:\+\+|\#)?", re.ASCII
)
_NUMBER = re.compile(r"[\d.,%/-]+")
_JOINTS = frozenset("・･")
# 鐘ヶ浦
_INSIDE_NAMES = frozenset("ヶケヵ")
_KATAKANA = re.compile("[ァ-ヺー]+")
_LONGEST_WORD = 40
_MAY_END = frozenset(
    {Sort.NOUN, Sort.SUFFIX, Sort.NAME, Sort.PERSON, Sort.PLACE, Sort.ORGANISATION}
)
_NOT_FIRST = frozenset({Sort.SUFFIX, Sort.OTHER, Sort.NUMBER})

_of_thread = threading.local()


class _Unit(NamedTuple):
    surface: str
    place: int
    sort: Sort | None
    is_ascii: bool = False


def japanese_phrases(block: Block, *, check: Check = bool) -> Iterator[Phrase]:
    run: list[tuple[Word, int]] = []
    end = 0
    before: _Unit | None = None
    units = _units(_same_length_normal(block.text))
    for unit in checked(units, check, every=UNITS_AT_A_TIME):
        joint = ""
        if before is not None:
            joint = block.text[end : unit.place]
            if not _goes_on(before, joint, unit):
                yield from _closed(run, end)
                run = []
        if unit.sort is None or len(unit.surface) > _LONGEST_WORD:
            yield from _closed(run, end)
            run, before = [], None
            continue
        # The text as it is written, and not as it is normalised, is what people search for.
        written = block.text[unit.place : unit.place + len(unit.surface)]
        run.append((Word((joint if run else "") + written, unit.sort), unit.place))
        end = unit.place + len(unit.surface)
        before = unit
    yield from _closed(run, end)


def _goes_on(before: _Unit, joint: str, unit: _Unit) -> bool:
    if not joint:
        return True
    if joint == " ":
        # Between Latin and Japanese words a space is a matter of style.
        return before.is_ascii or unit.is_ascii
    return (
        joint in _JOINTS
        and _KATAKANA.fullmatch(before.surface) is not None
        and _KATAKANA.fullmatch(unit.surface) is not None
    )


def _closed(run: list[tuple[Word, int]], end: int) -> Iterator[Phrase]:
    """The run without what can stand neither first nor last."""
    if _begins_with_number_in_words(run):
        run = [(Word(run[0][0].surface, Sort.PREFIX), run[0][1]), *run[1:]]
    while run and (run[0][0].sort in _NOT_FIRST or _is_empty(run[0][0])):
        run = run[1:]
        if run:
            run[0] = (Word(run[0][0].surface.lstrip(" ・･"), run[0][0].sort), run[0][1])
    while run and (run[-1][0].sort not in _MAY_END or (len(run) == 1 and _is_empty(run[0][0]))):
        end = run[-1][1]
        run = run[:-1]
    if run:
        run = run[-LONGEST_PHRASE:]
        places = tuple(place for _word, place in run)
        words = tuple(word for word, _place in run)
        yield Phrase(words, places[0], places, end, "ja")


def _begins_with_number_in_words(run: list[tuple[Word, int]]) -> bool:
    """二要素認証, ゼロ知識証明; not 三人, nor 3要素."""
    sorts = [word.sort for word, _place in run[:2]]
    return sorts == [Sort.NUMBER, Sort.NOUN] and not run[0][0].surface.isascii()


def _is_empty(word: Word) -> bool:
    return word.surface in NOT_ALONE


def _units(text: str) -> Iterator[_Unit]:
    """Sudachi's units, those inside one Latin run put together."""
    runs = [(run.start(), run.end()) for run in _ASCII_RUN.finditer(text)]
    at = 0
    number_before = False
    before: Sort | None = None
    for surface, place, pos in _morphemes(text):
        while at < len(runs) and runs[at][1] <= place:
            at += 1
        if at < len(runs) and runs[at][0] <= place:
            if runs[at][0] == place:
                whole = text[place : runs[at][1]]
                is_unit = number_before and whole.lower() in UNITS
                number_before = _NUMBER.fullmatch(whole) is not None
                sort = before = None if is_unit else _latin_sort(whole)
                yield _Unit(whole, place, sort, is_ascii=True)
            continue
        if not surface.strip() or surface in _JOINTS:
            # Seen by what is between the words around it.
            continue
        sort, is_counter = _sort(pos)
        if surface in _INSIDE_NAMES:
            sort = Sort.OTHER
        elif (
            surface in NOT_JAPANESE
            or (is_counter and number_before)
            or (sort is Sort.PREFIX and surface in EMPTY_PREFIXES)
            or (sort is Sort.SUFFIX and surface in HONORIFICS)
            or (sort is Sort.OTHER and _is_helping_verb(pos) and before is not Sort.PARTICIPLE)
        ):
            sort = None
        number_before = sort is Sort.NUMBER
        before = sort
        yield _Unit(surface, place, sort)


def _latin_sort(word: str) -> Sort | None:
    if _NUMBER.fullmatch(word):
        return Sort.NUMBER
    if word[0].isdigit() or (len(word) == 1 and not word.isalpha()):
        return Sort.NUMBER
    return Sort.NAME if word != word.lower() else Sort.NOUN


def _morphemes(text: str) -> Iterator[tuple[str, int, int]]:
    sudachi = _sudachi()
    for sentence in _SENTENCES.finditer(text):
        for start in range(sentence.start(), sentence.end(), _MOST_CHARACTERS):
            piece = text[start : min(start + _MOST_CHARACTERS, sentence.end())]
            place = start
            for morpheme in sudachi.tokenize(piece):
                surface = morpheme.surface()
                yield surface, place, morpheme.part_of_speech_id()
                place += len(surface)


@cache
def _sort(pos: int) -> tuple[Sort | None, bool]:
    """What a part of speech may do in a term, and whether it counts things after a number."""
    kind, sub, detail, *rest = dictionary().pos_of(pos)
    if kind == "名詞":
        if sub == "固有名詞":
            names = {"人名": Sort.PERSON, "地名": Sort.PLACE, "組織名": Sort.ORGANISATION}
            return names.get(detail, Sort.NAME), False
        if sub == "数詞":
            return Sort.NUMBER, False
        return (Sort.NOUN, detail == "助数詞可能") if sub == "普通名詞" else (None, False)
    if kind == "接頭辞":
        return Sort.PREFIX, False
    if kind == "接尾辞":
        if sub == "名詞的" and detail in ("一般", "サ変可能"):
            return Sort.SUFFIX, False
        # 論理的削除: 的 neither begins nor ends it.
        return (Sort.OTHER if sub == "形状詞的" else None), detail == "助数詞"
    if kind == "形状詞" and sub == "一般":
        return Sort.ADJECTIVE, False
    if kind == "動詞" and sub == "一般" and rest[-1].startswith("連用形"):
        # 読み取り専用: the stem of a verb, if a noun follows at once.
        return Sort.PARTICIPLE, False
    return (Sort.OTHER if _is_helping_verb(pos) else None), False


@cache
def _is_helping_verb(pos: int) -> bool:
    """付け in 取り付け作業: only after the stem of another verb."""
    kind, sub, *_rest, form = dictionary().pos_of(pos)
    return kind == "動詞" and sub == "非自立可能" and form.startswith("連用形")


def _same_length_normal(text: str) -> str:
    """NFKC where it changes no length, so that places stay: ＡＰＩ is a Latin run too."""
    if text.isascii() or unicodedata.is_normalized("NFKC", text):
        return text
    normal = unicodedata.normalize("NFKC", text)
    if len(normal) == len(text):
        return normal
    return "".join(map(_normal_alone, text))


@lru_cache(maxsize=1 << 12)
def _normal_alone(character: str) -> str:
    normal = unicodedata.normalize("NFKC", character)
    return normal if len(normal) == 1 else character


def _sudachi() -> Tokenizer:
    sudachi: Tokenizer | None = getattr(_of_thread, "sudachi", None)
    if sudachi is None:
        sudachi = _of_thread.sudachi = dictionary().tokenizer(SplitMode.A, fields={"pos"})
    return sudachi
