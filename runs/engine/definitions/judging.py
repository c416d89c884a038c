"""What a sentence says of a term, by its words and by its place."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from runs.engine.definitions import english, japanese
from runs.engine.definitions.findings import Finding, adjusted
from runs.engine.definitions.plain import plain
from runs.engine.definitions.spelling import Subject, is_japanese

# A definition names its term early; one that gives it a name does so at its end.
EARLY = 60
# A sentence of more characters is about more than what gets its name after it.
LONGEST = 110
# Abbreviations are in capitals anyway.
SHORT = 4
NAMING = re.compile(r"呼|称|い[うわい]|言[うわい]|\b(?:called|known as|referred to|termed|named)\b")
SET_OFF = re.compile(r"(?:(?:an?|the)\s+)?[*_「『“\"]", re.IGNORECASE)
# "The limit is a …" speaks of one limit; what is in code or italics without "a" before it is a
# name in an example or a place to fill in, unless it is a program's.
KIND = r"an?\s+(?:[\w\-]+\s+){1,5}(?:that|which|who|where|used)\b"
ONE_OF_THEM = re.compile(
    rf"The (?:\[?[a-z][\w\- \]]*?(?:\([^)]*\))?\s+(?:is|are)\s+(?!{KIND})an?\s"
    rf"|(?P<mark>[`_*])[a-z][\w\- ]*(?P=mark)\s+(?:is|are)\s+(?!{KIND}))"
    r"|(?P<around>[_*])[a-z][\w\- ]*(?P=around)\s+is\s"
    r"|(?:In [^,]{2,40}, )?`[^`]+`\s+(?:is|are)\s+(?:just\s+)?an?\s+(?:[\w\-]+\s+)?"
    r"(?:mapping|list|table|array|string|dict|dictionary|float|integer|number|boolean|object|set)\b"
)


class Judged(NamedTuple):
    finding: Finding
    # The sentence that defines; the one before it where the term only gets its name here.
    sentence: int


def judged(
    sentences: Sequence[str], number: int, subject: Subject, *, is_titled: bool = False
) -> Judged | None:
    """What one of the sentences of a block says, given as they are written."""
    raw = sentences[number]
    words = plain(raw)
    language = japanese if is_japanese(words) else english
    masked = subject.masked(words)
    if number and language.calls(masked):
        before = plain(sentences[number - 1])
        leans = language.LEANS.match(before)
        if len(before) > (LONGEST if language is japanese else 2 * LONGEST):
            return None
        if language is japanese and not japanese.stands_by_itself(before):
            return None
        if language is english and english.ORDER.match(before):
            return None
        if leans or len(before) < 15 or before.endswith(("?", "？", ":", "：")):
            return None
        return Judged(Finding(0.74, "naming"), number - 1)
    finding = language.judged(masked, is_titled=is_titled)
    if finding is None or _is_setting(words, subject):
        return None
    change = 0.04 if SET_OFF.match(raw) else 0.0
    if ONE_OF_THEM.match(raw) and not is_titled:
        change = -0.3
    return Judged(adjusted(finding, change), number)


def _is_setting(words: str, subject: Subject) -> bool:
    """`DATABASE` is a setting, where a database is a database."""
    start, end = next(subject.places(words), (0, 0))
    return end - start > SHORT and words[start:end].isupper() and not subject.term.text.isupper()


def may_define(raw: str, offset: int) -> bool:
    """Whether it is worth a closer look that a term stands so far from the beginning."""
    return offset <= EARLY or NAMING.search(raw, offset - 40 if offset > 40 else 0) is not None
