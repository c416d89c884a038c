"""Noun phrases of English text."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter

from glossary_site.checking import Check, checked
from runs.engine.terms.markup import BARRIER, Block, Mark
from runs.engine.terms.phrases import LONGEST_PHRASE, Phrase, Sort, Word
from runs.engine.terms.tagging import WORDS_AT_A_TIME, tags_of
from runs.engine.terms.vocabulary import EMPTY_ADJECTIVES, EMPTY_NOUNS, NEVER, UNITS

# A word with joints inside; TCP/IP but not and/or; C++ and C#; the clitics that the tagger knows as
# words of their own; any other sign.
_TOKENS = re.compile(
    r"[A-Z][A-Z0-9]*(?:/[A-Z][A-Z0-9]*)+(?![a-z])"
    r"|n['’]t\b|['’](?:s|re|ve|ll|d|m|S)\b"
    r"|[^\W_](?:[^\W_]|[-.+&_](?=[^\W_])|['’](?=[^\W_]{3,}))*?(?=n['’]t\b)"
    r"|\.?[^\W_](?:[^\W_]|[-.&_](?=[^\W_])|['’](?=[^\W_]{3,}))*(?:\+\+|\#(?!\w))?"
    r"|\d+(?:[.,]\d+)*%?|[^\s]",
)
# The languages that are written with spaces.
_WORD = re.compile(r"\.?[A-Za-z\u00c0-\u02af\u0370-\u052f][\w]*(?:[-./&'’][^\W_]+)*(?:\+\+|\#)?")
_STOPS = frozenset(".!?;:")
_LONGEST_WORD = 40
_SORTS = {
    "NN": Sort.NOUN,
    "NNS": Sort.NOUN,
    "NNP": Sort.NAME,
    "NNPS": Sort.NAME,
    "FW": Sort.NOUN,
    "JJ": Sort.ADJECTIVE,
    "VBN": Sort.PARTICIPLE,
    "VBG": Sort.GERUND,
    "CD": Sort.NUMBER,
}
_NOUNS = frozenset({Sort.NOUN, Sort.NAME})
# What a verb in -ing or -ed may follow and still be part of a noun phrase.
_BEFORE_PARTICIPLE = frozenset({"DT", "PRP$", "JJ", "IN", "CC", "POS", "NN", "NNP", ","})
_HEAD_LETTERS = 2
_START = attrgetter("start")


def english_phrases(block: Block, *, check: Check = bool) -> Iterator[Phrase]:
    found = [(match[0], match.start()) for match in _TOKENS.finditer(block.text)]
    if not found:
        return
    words = [word for word, _place in found]
    tags = tags_of([word if word != BARRIER else "," for word in words], check=check)
    code = [span for span in block.spans if span.mark is Mark.CODE]
    run: list[tuple[Word, int]] = []
    begins = True
    run_begins = False
    end = 0
    tagged = checked(zip(found, tags, strict=True), check, every=WORDS_AT_A_TIME)
    for index, ((word, place), tag) in enumerate(tagged):
        before = bisect_right(code, place, key=_START)
        is_code = before > 0 and place < code[before - 1].end
        sort = _sort(word, tag, tags[index - 1] if index else "", is_code=is_code)
        # A phrase goes on over a space, and over nothing else.
        touches = bool(run) and block.text[end:place] == " "
        if sort is None or not touches:
            yield from _closed(run, end, begins=run_begins)
            run = []
        if sort is not None:
            if not run:
                run_begins = begins
            run.append((Word((" " if run else "") + word, sort), place))
            end = place + len(word)
        begins = word in _STOPS or (begins and not word[0].isalnum())
    yield from _closed(run, end, begins=run_begins)


def _sort(word: str, tag: str, tag_before: str, *, is_code: bool) -> Sort | None:
    lower = word.lower()
    if len(word) > _LONGEST_WORD or lower in NEVER or not _WORD.fullmatch(word):
        return Sort.NUMBER if word.isdigit() and len(word) <= _HEAD_LETTERS else None
    if is_code:
        return Sort.NOUN
    if tag_before == "CD" and lower in UNITS:
        return None
    sort = _SORTS.get(tag)
    if sort is None and word[1:] != lower[1:]:
        # DaemonSet, TLS, iOS: a name, whatever the tagger makes of it.
        return Sort.NAME
    if sort not in _NOUNS and lower in EMPTY_ADJECTIVES:
        return None
    if sort in (Sort.PARTICIPLE, Sort.GERUND) and tag_before not in _BEFORE_PARTICIPLE:
        return Sort.GERUND if sort is Sort.GERUND and tag_before in ("", ".") else None
    return sort


def _closed(run: list[tuple[Word, int]], end: int, *, begins: bool) -> Iterator[Phrase]:
    """The run up to its last noun, without a number in front."""
    trimmed = False
    while run and (
        run[0][0].sort is Sort.NUMBER or run[0][0].surface.strip().lower() in EMPTY_NOUNS
    ):
        run = run[1:]
        if run:
            run[0] = (Word(run[0][0].surface.lstrip(), run[0][0].sort), run[0][1])
        trimmed = True
    while run and run[-1][0].sort not in _NOUNS and not _is_activity(run):
        end = run[-1][1] - 1
        run = run[:-1]
    if not run:
        return
    run = run[-LONGEST_PHRASE:]
    words = tuple(word for word, _place in run)
    places = tuple(place for _word, place in run)
    yield Phrase(words, places[0], places, end, "en", begins and not trimmed)


def _is_activity(run: list[tuple[Word, int]]) -> bool:
    """ "Load balancing", "layer 2"."""
    return (
        len(run) > 1 and run[-1][0].sort in (Sort.GERUND, Sort.NUMBER) and run[-2][0].sort in _NOUNS
    )
