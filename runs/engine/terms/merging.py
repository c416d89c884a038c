"""Candidates under two keys that are one term all the same.

A short form goes with its long form if the texts give both in one place, the letters agree, and the
short form has no other long one. Japanese spellings go together that Sudachi's dictionary knows as
one word (取り付け, 取付け). The more frequent keeps its key, the other becomes a variant. Whatever
people have said something about stays on its own.
"""

import re
import threading
from collections import defaultdict
from collections.abc import Iterable

from sudachipy import SplitMode, Tokenizer

from projects.terms.keys import key_of
from projects.terms.sudachi import dictionary
from runs.engine.terms.abbreviations import Pair
from runs.engine.terms.gathering import Found
from runs.pipeline.data import TermLists

_KANJI = re.compile("[\u4e00-\u9fff]")
_HIRAGANA = re.compile("[\u3041-\u3096]")
# A spelling that is only known from a pair: the last among the variants.
_NO_WEIGHT = 0.0

_of_thread = threading.local()


def merge(found: dict[str, Found], pairs: Iterable[Pair], lists: TermLists) -> None:
    """Changes `found`."""
    decided = decided_in(lists)
    _merge_abbreviations(found, pairs, decided)
    _merge_dictionary_spellings(found, decided)


def decided_in(lists: TermLists) -> set[str]:
    """The keys of all that people have said something about."""
    members = {key_of(member) for group in lists.synonyms for member in group}
    named = {*lists.required, *lists.excluded, *lists.categories, *lists.notes, *lists.chosen}
    return named | members


def _merge_abbreviations(found: dict[str, Found], pairs: Iterable[Pair], decided: set[str]) -> None:
    longs: dict[str, dict[str, str]] = defaultdict(dict)
    for pair in pairs:
        if pair.is_spelled_out:
            longs[key_of(pair.short)].setdefault(key_of(pair.long), pair.long)
    for short, forms in sorted(longs.items()):
        (long, text), *others = forms.items()
        if others or short == long or short not in found or {short, long} & decided:
            continue
        if long in found:
            _join(found, short, long)
        else:
            found[short].spellings.setdefault(text, _NO_WEIGHT)


def _merge_dictionary_spellings(found: dict[str, Found], decided: set[str]) -> None:
    groups: dict[str, list[str]] = defaultdict(list)
    for key, candidate in found.items():
        if candidate.language == "ja" and _has_spellings(candidate):
            groups[_normal(key)].append(key)
    for _normal_form, keys in sorted(groups.items()):
        free = sorted(set(keys) - decided)
        for other in free[1:]:
            free[0] = _join(found, free[0], other)


def _has_spellings(candidate: Found) -> bool:
    """Looking closely takes time: of what was seen once only those that may be a spelling."""
    has_kanji = _KANJI.search(candidate.key) is not None
    return has_kanji and (candidate.count > 1 or _HIRAGANA.search(candidate.key) is not None)


def _join(found: dict[str, Found], one: str, other: str) -> str:
    """The key of what both are from now on."""
    kept, gone = sorted((found[one], found[other]), key=lambda each: (-each.count, each.key))
    kept.count += gone.count
    kept.alone += gone.alone
    kept.in_headings += gone.in_headings
    kept.documents |= gone.documents
    kept.marks.update(gone.marks)
    kept.longer |= gone.longer - {kept.key}
    kept.parts += gone.parts
    for text, weight in gone.spellings.items():
        # Behind the spellings that it has itself, or its text would no longer go with its key.
        kept.spellings.setdefault(text, min(weight, min(kept.spellings.values()) / 2))
    del found[gone.key]
    return kept.key


def _normal(text: str) -> str:
    sudachi: Tokenizer | None = getattr(_of_thread, "sudachi", None)
    if sudachi is None:
        fields = {"normalized_form"}
        sudachi = _of_thread.sudachi = dictionary().tokenizer(SplitMode.A, fields=fields)
    return "".join(morpheme.normalized_form() for morpheme in sudachi.tokenize(text))
