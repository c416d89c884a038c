"""Words, as the search sees them: one function for what is stored and for what is asked.

Text is cut into runs: Japanese (kana and kanji) and everything else that is made of letters and
digits. A Japanese run is cut into words by Sudachi (mode A, as written); another run is a word,
lower-cased and stemmed as English, and an identifier is itself and its parts. A run gives the same
words wherever it stands, so that an asked run and a stored one always agree. Signs between runs
are dropped, nothing else is: particles count for little by their frequency, and phrases need them.
"""

import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, cast

import Stemmer
from sudachipy import SplitMode
from sudachipy import Tokenizer as Sudachi

from projects.terms.sudachi import dictionary

Language = Literal["ja", "en"]

# Kana and kanji with their repetition marks and the rare planes; not the middle dot, which
# separates.
JAPANESE = (
    "\u3005-\u3007\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)


def _other_run(letter: str) -> str:
    """`C#`, or letters and digits with single joints inside (`file-name.txt`, `don't`); `C++17`."""
    return rf"[A-Za-z]#(?!{letter})|{letter}++(?:[-.']{letter}++)*+(?:\+\+[0-9]*+(?!{letter}))?"


_LETTER = rf"[^\W{JAPANESE}]"
_RUNS = re.compile(f"[{JAPANESE}]++|{_other_run(_LETTER)}")
_ASCII_RUNS = re.compile(_other_run("[A-Za-z0-9_]"))
_JAPANESE = re.compile(f"[{JAPANESE}]")

# Look like an ASCII sign but are not one after NFKC; and what is there but not seen.
_LOOKALIKE = (("\u2010", "-"), ("\u2019", "'"))
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]")

_JOINTS = re.compile(r"[-_]+")
_VERSION = re.compile(r"[vV]?(\d+(?:\.\d+)*)")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
# Snowball sees no plural where no vowel is.
_ABBREVIATIONS = re.compile(r"([A-Z]{2,})s")
_PLUSES = re.compile(r"(.+?)(\+\+)(\d*)")

# The beginning of a longer one stands for it: keys, hashes, and data that is no text.
LONGEST_WORD = 64
# Sudachi refuses more than 49,149 bytes at once; a character has up to four.
_SUDACHI_CHARACTERS = 12_000
# Runs whose words are kept: short ones in Japanese ("の", "します") and all others come again and
# again. When they are too many, all are forgotten.
_SHORT_RUN = 8
_KNOWN_RUNS = 1 << 15
# サーバー is サーバ, but キー is not キ.
_LONG_VOWEL_FROM = 4

_of_thread = threading.local()


class Span(NamedTuple):
    """Words with their place in the text that was given (not in its normal form)."""

    start: int
    end: int
    words: tuple[str, ...]


_PASSED_OVER = Span(0, 0, ())


def words_of(text: str) -> list[str]:
    """In the order of the text. None has a space in it, none is empty."""
    return spaced_words_of(text).split()


def spaced_words_of(text: str) -> str:
    """The same words with a space between, as they are stored: much quicker than a list."""
    runs = _ASCII_RUNS.findall(text) if text.isascii() else _RUNS.findall(_normal(text))
    return " ".join(filter(None, map(_known.__getitem__, runs)))


def spans_of(text: str, wanted: re.Pattern[str] | None = None) -> Iterator[Span]:
    """The same words with their places. Runs in which `wanted` finds nothing (in lower case) are
    passed over, with an empty span in their place: looking closely is what takes the time."""
    normal, places = _normal_with_places(text)
    runs = _ASCII_RUNS if normal.isascii() else _RUNS
    found = _runs_with(wanted, normal, runs) if wanted else runs.finditer(normal)
    for run in found:
        if run is None:
            yield _PASSED_OVER
            continue
        start, end = run.span()
        if not is_japanese(run[0]):
            yield Span(places[start], _end(places, start, end), tuple(_known[run[0]].split()))
            continue
        for surface in _surfaces(run[0]):
            end = start + len(surface)
            yield Span(places[start], _end(places, start, end), (_japanese_word(surface),))
            start = end


def _runs_with(
    wanted: re.Pattern[str], normal: str, runs: re.Pattern[str]
) -> Iterator[re.Match[str] | None]:
    """Those in which something wanted begins; None for those between them."""
    done = 0
    for hit in _hits(normal, wanted):
        if hit < done:
            continue
        # No run has a space in it.
        start = max(normal.rfind(" ", done, hit), normal.rfind("\n", done, hit), done - 1) + 1
        run = next(run for run in runs.finditer(normal, start) if run.end() > hit)
        if runs.search(normal, done, run.start()):
            yield None
        yield run
        done = run.end()
    if runs.search(normal, done):
        yield None


def _hits(normal: str, wanted: re.Pattern[str]) -> Iterator[int]:
    """Where something wanted begins: all at once, which is much quicker than run by run."""
    lower = normal.lower()
    if len(lower) != len(normal):
        # A letter or two have a longer lower case: their places would not be the same.
        lower = "".join(map(_lower_alone, normal))
    return (found.start() for found in wanted.finditer(lower))


def _lower_alone(character: str) -> str:
    lower = character.lower()
    return lower if len(lower) == 1 else character


def _end(places: Sequence[int], start: int, end: int) -> int:
    # Words inside one character (㍿) are all of it.
    return max(places[end], places[start] + 1)


def language_of(text: str) -> Language:
    """Japanese when kana and kanji are more than a word or two among others: each says about as
    much as several Latin letters."""
    if text.isascii():
        return "en"
    japanese = others = 0
    for run in _RUNS.findall(_normal(text)):
        if is_japanese(run):
            japanese += len(run)
        else:
            others += len(run)
    return "ja" if japanese and japanese * 8 >= others else "en"


def is_japanese(word: str) -> bool:
    return _JAPANESE.match(word) is not None


def _normal(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    if _INVISIBLE.search(text):
        text = _INVISIBLE.sub("", text)
    for sign, ascii_sign in _LOOKALIKE:
        text = text.replace(sign, ascii_sign)
    return text


def _normal_with_places(text: str) -> tuple[str, Sequence[int]]:
    """The normal form, and for each of its positions the one in the text it came from."""
    if unicodedata.is_normalized("NFKC", text) and not _INVISIBLE.search(text):
        return _normal(text), range(len(text) + 1)
    # Mostly each character has a normal form of its own (full-width signs, dots): told quickly.
    alone = list(map(_normal_alone, text))
    if None not in alone:
        whole = _normal(text)
        forms = cast(list[str], alone)
        if whole == "".join(forms):
            return whole, [*(n for n, form in enumerate(forms) for _ in form), len(text)]
    normal: list[str] = []
    places: list[int] = []
    start = 0
    for end in range(1, len(text) + 1):
        # A mark belongs to the character before it: they are one after NFKC.
        if end < len(text) and _joins(text[end]):
            continue
        cluster = _normal(text[start:end])
        normal.append(cluster)
        places.extend([start] * len(cluster))
        start = end
    return "".join(normal), [*places, len(text)]


@lru_cache(maxsize=1 << 14)
def _normal_alone(character: str) -> str | None:
    """None, if it may be one with the character before it."""
    return None if _joins(character) else _normal(character)


def _joins(character: str) -> bool:
    return (
        unicodedata.combining(character) != 0
        or character in "\uff9e\uff9f"  # the half-width voicing marks
        or "\u1160" <= character <= "\u11ff"  # the later parts of a Korean syllable
    )


class _Known(dict[str, str]):
    """The words of a run with a space between, made when they are first asked for."""

    def __missing__(self, run: str) -> str:
        if is_japanese(run):
            words, is_kept = _cut(run), len(run) <= _SHORT_RUN
        else:
            words, is_kept = " ".join(_other_words(run)), len(run) <= LONGEST_WORD
        if is_kept:
            if len(self) >= _KNOWN_RUNS:
                self.clear()
            self[run] = words
        return words


_known = _Known()


def _cut(run: str) -> str:
    if "ー" not in run and len(run) <= LONGEST_WORD:
        # All but a few runs: each surface is a word as it is. Sudachi's own text of them is the
        # surfaces with a space between; a run has no space of its own.
        return str(_sudachi().tokenize(run))
    return " ".join(map(_japanese_word, _surfaces(run)))


def _japanese_word(surface: str) -> str:
    if surface[-1] == "ー" and len(surface) >= _LONG_VOWEL_FROM:
        surface = surface.rstrip("ー") or surface
    return surface[:LONGEST_WORD]


def _surfaces(run: str) -> list[str]:
    sudachi = _sudachi()
    pieces = range(0, len(run), _SUDACHI_CHARACTERS)
    return [
        surface
        for start in pieces
        for surface in str(sudachi.tokenize(run[start : start + _SUDACHI_CHARACTERS])).split(" ")
    ]


def _other_words(run: str) -> tuple[str, ...]:
    """A word, or an identifier and then its parts. Nothing for a line of underscores."""
    run = run.strip("_")
    if not run:
        return ()
    if run.isalpha() and (run.islower() or run.isupper() or run.istitle()):
        return (_stem(run),)
    if abbreviations := _ABBREVIATIONS.fullmatch(run):
        return (_stem(abbreviations[1]),)
    parts = list(_parts(run))
    whole = run.lower() if _has_joints(run) else _stem(run)
    words = dict.fromkeys([whole[:LONGEST_WORD], *parts])
    return tuple(words)


def _has_joints(run: str) -> bool:
    return any(joint in run for joint in "-_.+#")


def _parts(run: str) -> Iterator[str]:
    if pluses := _PLUSES.fullmatch(run):
        name, sign, edition = pluses.groups()
        if edition:
            yield (name + sign).lower()[:LONGEST_WORD]
        run = name
    run = run.removesuffix("#")
    for piece in _JOINTS.split(run):
        # The numbers of a version mean nothing one by one.
        if version := _VERSION.fullmatch(piece):
            yield version[0].lower()[:LONGEST_WORD]
            yield version[1][:LONGEST_WORD]
            continue
        for name in piece.split("."):
            for hump in _HUMPS.split(name):
                if hump:
                    yield _stem(hump)


def _stem(word: str) -> str:
    stemmed: str = _stemmer().stemWord(word.lower()[:LONGEST_WORD])
    # "'s" alone has no stem.
    return stemmed or word.lower()[:LONGEST_WORD]


def _sudachi() -> Sudachi:
    """One for each thread, as it must not be used by two at once; the dictionary is shared."""
    sudachi: Sudachi | None = getattr(_of_thread, "sudachi", None)
    if sudachi is None:
        # No field but the surface is looked at.
        sudachi = _of_thread.sudachi = dictionary().tokenizer(SplitMode.A, fields=set())
    return sudachi


def _stemmer() -> Stemmer.Stemmer:
    stemmer: Stemmer.Stemmer | None = getattr(_of_thread, "stemmer", None)
    if stemmer is None:
        # Its own cache would only repeat ours.
        stemmer = _of_thread.stemmer = Stemmer.Stemmer("english", 0)
    return stemmer
