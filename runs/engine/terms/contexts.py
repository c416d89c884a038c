"""What the words around a phrase say of it: that it is being explained, named, counted, that it is
somebody or a company."""

import re
from collections.abc import Iterator

from runs.engine.terms.markup import Block
from runs.engine.terms.phrases import Phrase

# One letter each, beside those of the marks.
EXPLAINED = "x"
CALLED = "n"
COUNTED = "a"
TOPIC = "t"
SOMEBODY = "p"
COMPANY = "o"

_BEFORE = 24
_AFTER = 24
_SENTENCE_START = re.compile(
    r"(?:^|[.!?:;]\s+|[。！？\n])[\"'“(\s]*(?:(?:an?|the|each|every)\s+)?$", re.IGNORECASE
)
_ARTICLE = re.compile(r"\ban?\s+$", re.IGNORECASE)
_NAMING = re.compile(
    r"(?:\bcalled|\bknown as|\bnamed|\btermed|\breferred to as|\bdefined as|\bdefines|\bconcept of"
    r"|\bnotion of|\bterm)\s+(?:an?\s+|the\s+)?[\"'“]?$",
    re.IGNORECASE,
)
_IS = re.compile(
    r"[\"'”)]?\s*(?:\([^)]{1,20}\)\s+)?(?:(?:is|are)\s+(?:an?|the|one|any|used|responsible|what|how)\b"
    r"|refers?\s+to|means?\b|represents?\b|describes?\b|defines?\b|provides?\b|allows?\b|lets?\b"
    r"|is\b|are\b)"
)
_TOWA = re.compile(
    r"[」』”]?(?:（[^）]{1,20}）|\([^)]{1,20}\))?\s?(?:とは|というのは|は、?.{0,18}(?:です|である|の一種))"
)
_TOPIC = re.compile(r"[」』”]?\s?は")
_TO_IU = re.compile(
    r"[」』”]?\s?(?:と呼|といい|という(?!こと|もの|の)|と言い|と言う|と称|を指す|と定義)"
)
_TITLED = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|Professor|Sir)\.?"
    r"|\b(?:written|authored|contributed|coined|invented|translated|edited|drawn) by"
    r"|\b[Aa]uthors?:)\s+$"
)
_INCORPORATED = re.compile(r",?\s+(?:Inc|Ltd|LLC|GmbH|Corp|Co|AG|plc)\b")
_HONORIFIC = re.compile("\\s?(?:さん|氏(?![名族])|先生|博士|教授|殿(?!堂))")


def context_marks(block: Block, phrase: Phrase) -> Iterator[str]:
    after = block.text[phrase.end : phrase.end + _AFTER]
    before = block.text[max(0, phrase.place - _BEFORE) : phrase.place]
    if phrase.language == "ja":
        if _TOWA.match(after):
            yield EXPLAINED
        elif _TOPIC.match(after):
            yield TOPIC
        if _TO_IU.match(after):
            yield CALLED
        if _HONORIFIC.match(after):
            yield SOMEBODY
        return
    if _ARTICLE.search(before):
        yield COUNTED
    if _NAMING.search(before):
        yield CALLED
    if _TITLED.search(before):
        yield SOMEBODY
    if _INCORPORATED.match(after):
        yield COMPANY
    is_start = (phrase.place <= _BEFORE and not before.strip()) or _SENTENCE_START.search(before)
    if is_start:
        yield EXPLAINED if _IS.match(after) else TOPIC
