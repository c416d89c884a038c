"""What CommonMark's rules, made for languages with spaces, get wrong in Japanese."""

import re
from collections.abc import Sequence

from markdown_it.rules_inline.state_inline import Delimiter, StateInline
from markdown_it.token import Token

# Kana, kanji (with the rare planes), their punctuation and full-width forms. Hangul is not here:
# Korean puts spaces between words.
CJK = re.compile(
    "[\u2e80-\u312f\u31a0-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffee\U00020000-\U0003ffff]"
)


def emphasis(state: StateInline, silent: bool) -> bool:
    """`**「注意」**です` is bold: where no spaces are written, none is needed beside a marker."""
    start = state.pos
    marker = state.src[start]
    if silent or marker not in "_*":
        return False
    scanned = state.scanDelims(start, marker == "*")
    end = start + scanned.length
    before = state.src[start - 1 : start] or " "
    after = state.src[end : end + 1] or " "
    can_open, can_close = scanned.can_open, scanned.can_close
    if marker == "*":
        can_open = can_open or (not after.isspace() and bool(CJK.match(before)))
        can_close = can_close or (not before.isspace() and bool(CJK.match(after)))
    for _ in range(scanned.length):
        state.push("text", "", 0).content = marker
        state.delimiters.append(
            Delimiter(
                marker=ord(marker),
                length=scanned.length,
                token=len(state.tokens) - 1,
                end=-1,
                open=can_open,
                close=can_close,
            )
        )
    state.pos = end
    return True


def joins(tokens: Sequence[Token], index: int) -> bool:
    """Whether the line break at `index` stands between two Japanese characters: no space there."""
    before, after = _edge(tokens, index, -1), _edge(tokens, index, 1)
    return bool(CJK.fullmatch(before[-1:]) and CJK.fullmatch(after[:1]))


def _edge(tokens: Sequence[Token], index: int, step: int) -> str:
    index += step
    while 0 <= index < len(tokens) and tokens[index].type not in ("softbreak", "hardbreak"):
        if tokens[index].content:
            return tokens[index].content
        index += step
    return ""
