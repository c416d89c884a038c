"""How good an example of use a sentence is."""

import re

from runs.engine.definitions import english, japanese
from runs.engine.definitions.plain import plain
from runs.engine.definitions.spelling import is_japanese

# Characters, as Japanese counts them: what is shorter says little, what is longer is not read.
READ_AT_ONCE = range(20, 91)
NEAR_THE_BEGINNING = 12
# So few characters besides the term: "See version history."
NEXT_TO_NOTHING = 8
# "The battery energy storage system (BESS) …": the long form and the short one.
SHORT_FORM = re.compile(
    r"(?P<last>\w)[」』\"”*_]*\s?[（(](?:以下、?)?[「『\"“*_]*"
    r"(?P<short>[A-Z][A-Za-z0-9\-]{0,9}[A-Z][a-z0-9]{0,2})[」』\"”*_]*[）)]"
)
# A word in quotation marks may be spoken of itself: how it is written, and not what it is.
IN_QUOTES = re.compile(r"[「『\"“'‘`]$")
WRITING = re.compile(
    r"表記|全角|半角|綴り|つづり|(?:書|記)き?(?:ます|く|方|分け)|に直(?:す|し)|大文字|小文字"
    r"|\b(?:spell(?:s|ed|ing)?|spelt|writ(?:e|es|ten)|hyphen\w*|capital\w*|abbreviat\w*|lowercase"
    r"|uppercase)\b",
    re.I,
)
# Sends the reader somewhere else, or tells what was changed.
ELSEWHERE = re.compile(
    r"#[0-9]+\b|参照|ご覧|お読み|クリック|詳しくは|詳細は|次の(?:とおり|通り)|以下[のに]"
    r"|\b(?:the following|as follows|see|refer to|click"
    r"|(?:read|learn) more|details are|more (?:information|details))\b",
    re.I,
)
# What is said of the term itself.
TOPIC = re.compile(
    r"[」』”\"*_`]*\s?(?:とは|は(?!じめ))|[”\"*_`]*s?\s+(?:is|are|can|has|have|lets?|allows?|enables?|provides?"
    r"|contains?|consists?|defines?|describes?|represents?|stores?|handles?|manages?|supports?)\b"
)


def usage(
    raw: str, start: int, end: int, *, language: str, is_prose: bool, is_alone: bool
) -> float:
    """From 0 to .41: whole, neither short nor long, about the term rather than in passing, to be
    understood by itself, and in its language. The term stands from `start` to `end`."""
    words = plain(raw)
    in_japanese = is_japanese(words)
    score = 0.05 if in_japanese == (language == "ja") else 0.0
    if is_alone:
        score += 0.06
    if is_prose:
        score += 0.04
    length = round(len(words) / (1 if in_japanese else 2.5))
    if length in READ_AT_ONCE:
        score += 0.08
    elif length < READ_AT_ONCE.start:
        score -= 0.04
    is_whole = words.endswith((".", "。", "!", "！"))
    if is_whole:
        score += 0.03
    if start <= NEAR_THE_BEGINNING:
        score += 0.03
    if len(words) <= end - start + NEXT_TO_NOTHING:
        score -= 0.08
    if is_whole and is_prose and _gives_short_form(raw, start, end):
        score += 0.09
    leans = (japanese if in_japanese else english).LEANS
    if leans.match(words) or ELSEWHERE.search(words):
        score -= 0.04
    elif is_whole and start <= NEAR_THE_BEGINNING and TOPIC.match(raw, end):
        score += 0.03
    if IN_QUOTES.search(raw[:start]) and WRITING.search(words):
        score -= 0.08
    return round(max(0.0, score), 2)


def _gives_short_form(raw: str, start: int, end: int) -> bool:
    for found in SHORT_FORM.finditer(raw):
        if found.span("short") == (start, end):
            return True
        if found.end("last") == end:
            # A word of a long form is not what the short one stands for.
            return not raw[start].isascii() or raw[start].upper() == found["short"][0]
    return False
