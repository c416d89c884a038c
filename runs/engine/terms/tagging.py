"""Parts of speech of English words: an averaged perceptron with the weights of textblob-aptagger.

Only the package's file of weights is used; its code would bring NLTK and TextBlob along. A word's
share in the decision about itself and its four neighbours is added up once for each word and kept,
so that a text costs a few additions of small arrays a word.
"""

import importlib.util
import pickle
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from glossary_site.checking import Check

_PACKAGE = "textblob_aptagger"
_FILE = "trontagger-0.1.0.pickle"

Row = npt.NDArray[np.float32]

# Where a word stands, seen from the word that is decided about: the places in a `_rows` block.
_ITSELF, *_NEIGHBOURS = range(5)
_BEFORE, _BEFORE_THAT, _AFTER, _AFTER_THAT = _NEIGHBOURS
WORDS_AT_A_TIME = 1000
# What stands before the first word and after the last.
_STARTS, _ENDS = ("-START-", "-START2-"), ("-END-", "-END2-")
_YEAR_DIGITS = 4
_SUFFIX = 3

_lock = threading.Lock()
_weights: "_Weights | None" = None


class _PlainData(pickle.Unpickler):
    """Dictionaries, sets, words and numbers: a file that names anything else is not read."""

    def find_class(self, module: str, name: str, /) -> type:
        if (module, name) in (("__builtin__", "set"), ("builtins", "set")):
            return set
        raise pickle.UnpicklingError(f"The weights must be plain data, not {module}.{name}.")


class _Weights:
    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            features, self.known, classes = _PlainData(file).load()
        # The last of equals wins, as in the package: its weights were learned that way.
        self.tags: list[str] = sorted(classes, reverse=True)
        places = {tag: place for place, tag in enumerate(self.tags)}
        self.nothing: Row = np.zeros(len(self.tags), np.float32)
        # Feature → the places of tags and what each gets: a tenth of the memory of dictionaries.
        self.features: dict[str, tuple[Any, Row]] = {
            feature: (
                np.fromiter((places[tag] for tag in shares), np.int8, len(shares)),
                np.fromiter(shares.values(), np.float32, len(shares)),
            )
            for feature, shares in features.items()
            if shares
        }

    def row(self, *features: str) -> Row:
        row = self.nothing.copy()
        for feature in features:
            if shares := self.features.get(feature):
                row[shares[0]] += shares[1]
        return row


def tags_of(words: Sequence[str], *, check: Check = bool) -> list[str]:
    """A Penn Treebank tag for each word of a text or a sentence."""
    weights = _loaded()
    last, last_but_one = "-START-", "-START2-"
    tags: list[str] = []
    for word, share in _shares(words, check):
        tag = weights.known.get(word)
        if not tag:
            row = share + _tag_row(last, last_but_one) + _pair_row(last, _shape(word))
            tag = weights.tags[int(row.argmax())]
        tags.append(tag)
        last, last_but_one = tag, last
    return tags


def _shares(words: Sequence[str], check: Check) -> Iterator[tuple[str, Row]]:
    """Each word with what it and its four neighbours add to the decision. A kilobyte a word: so for
    a few at a time, however long the text is."""
    around = [*_STARTS, *words, *_ENDS]
    for first in range(0, len(words), WORDS_AT_A_TIME):
        check()
        portion = words[first : first + WORDS_AT_A_TIME]
        count = len(portion)
        table = np.stack([_rows(word) for word in around[first : first + count + len(_NEIGHBOURS)]])
        shares = (
            table[2 : 2 + count, _ITSELF]
            + table[1 : 1 + count, _BEFORE]
            + table[:count, _BEFORE_THAT]
            + table[3 : 3 + count, _AFTER]
            + table[4 : 4 + count, _AFTER_THAT]
        )
        yield from zip(portion, shares, strict=True)


def _loaded() -> _Weights:
    global _weights
    with _lock:
        if _weights is None:
            package = importlib.util.find_spec(_PACKAGE)
            if package is None or package.origin is None:
                raise ImportError(f"The package {_PACKAGE} is not installed.")
            _weights = _Weights(Path(package.origin).with_name(_FILE))
        return _weights


def _shape(word: str) -> str:
    """What the weights know a word as."""
    if word in _STARTS or word in _ENDS:
        return word
    if "-" in word and word[0] != "-":
        return "!HYPHEN"
    if word.isdigit() and len(word) == _YEAR_DIGITS:
        return "!YEAR"
    if word[0].isdigit():
        return "!DIGITS"
    return word.lower()


@lru_cache(maxsize=1 << 14)
def _rows(word: str) -> Row:
    """What the word adds to the decision about itself and about each of its neighbours."""
    row = _loaded().row
    shape = _shape(word)
    return np.stack(
        (
            row("bias", f"i suffix {word[-_SUFFIX:]}", f"i pref1 {word[0]}", f"i word {shape}"),
            row(f"i-1 word {shape}", f"i-1 suffix {shape[-_SUFFIX:]}"),
            row(f"i-2 word {shape}"),
            row(f"i+1 word {shape}", f"i+1 suffix {shape[-_SUFFIX:]}"),
            row(f"i+2 word {shape}"),
        )
    )


@lru_cache(maxsize=1 << 12)
def _tag_row(last: str, last_but_one: str) -> Row:
    return _loaded().row(
        f"i-1 tag {last}", f"i-2 tag {last_but_one}", f"i tag+i-2 tag {last} {last_but_one}"
    )


@lru_cache(maxsize=1 << 15)
def _pair_row(last: str, shape: str) -> Row:
    return _loaded().row(f"i-1 tag+i word {last} {shape}")
