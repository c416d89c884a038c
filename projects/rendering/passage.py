"""The lines of a document that a link leads to: the blocks they became are marked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markdown_it.token import Token

MARK = "passage"
LINES = re.compile(r"([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?")
# What holds text itself. A list or a quotation is marked by what is in it, never as a whole.
BLOCKS = {"paragraph_open", "heading_open", "fence", "code_block", "tr_open", "dt_open", "hr"}


@dataclass(frozen=True)
class Passage:
    """Counted from 1, the last line included."""

    first: int
    last: int

    @property
    def anchor(self) -> str:
        """No heading has it: theirs are in small letters."""
        return f"L{self.first}"

    def touches(self, first: int, last: int) -> bool:
        return first <= self.last and last >= self.first


def passage_in(text: str) -> Passage | None:
    """`12-20` or `12`, as addresses have it; None for anything else."""
    match = LINES.fullmatch(text)
    if match is None:
        return None
    first, last = int(match[1]), int(match[2] or match[1])
    return Passage(first, last) if first <= last else None


def mark(tokens: Sequence[Token], passage: Passage) -> None:
    """Mark the blocks of these lines; the first of them is where the link leads."""
    marked = list(_blocks(tokens, passage))
    for block, _inline in marked:
        block.attrJoin("class", MARK)
    for block, inline in marked[:1]:
        if block.type == "heading_open":
            # It has a name of its own, which other links use.
            place = Token("html_inline", "", 0, content=f'<a id="{passage.anchor}"></a>')
            inline.children = [place, *(inline.children or [])]
        else:
            block.attrSet("id", passage.anchor)


def _blocks(tokens: Sequence[Token], passage: Passage) -> list[tuple[Token, Token]]:
    """With the token after each, which for a heading holds its words."""
    found = []
    holder = None
    for token, following in pairwise([*tokens, Token("", "", 0)]):
        here = token.type in BLOCKS and token.map is not None
        if here and token.map and passage.touches(token.map[0] + 1, token.map[1]):
            if not token.hidden:
                found.append((token, following))
            elif holder is not None:
                # In a tight list the paragraph is not written; the item stands for it.
                found.append((holder, following))
        holder = token if token.nesting == 1 else None
    return found
