"""The tokens of Llama's vocabulary, from a cache of what it makes of words.

Its tokenizer takes a text as one word of thousands of characters, and joins them pair by pair. But
no token reaches from a letter to a sign, into a word from the space before it, or beyond a digit
or a Japanese character: cut there, a text has the very same tokens, and most of its pieces have
been seen before.
"""

import re

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

SPACE = "\u2581"
# Each of them is one token, or its bytes.
ALONE = "0-9\u3000-\u30ff\u3400-\u9fff\uff00-\uffef"
_SIGN = r"[\x00-/:-@\[-`{-\x7f]"
# Letters and signs beyond ASCII may go together with either.
_OTHER = rf"[^\x00-\x7f{SPACE}{ALONE}]"
PIECES = re.compile(
    rf"[{ALONE}]|{SPACE}*+[A-Za-z]++(?!{_OTHER})|{SPACE}*+{_SIGN}++(?!{_OTHER})"
    rf"|{SPACE}*+[^{SPACE}{ALONE}]++|{SPACE}++"
)
# Somebody writing about markup: these have a meaning of their own.
_SPECIAL = re.compile("<s>|</s>|<unk>")
KNOWN_PIECES = 1 << 15

Numbers = npt.NDArray[np.intp]


class Known(dict[str, bytes]):
    """The tokens of pieces, as an array has them: joining these is quicker than making one of a
    list. When they are too many, all are forgotten."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._model = tokenizer.model

    def __missing__(self, piece: str) -> bytes:
        if len(self) >= KNOWN_PIECES:
            self.clear()
        numbers = [token.id for token in self._model.tokenize(piece)]
        self[piece] = packed = np.array(numbers, np.intp).tobytes()
        return packed


class Tokens:
    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._known = Known(tokenizer)

    def of(self, text: str) -> Numbers:
        """Their numbers, in the order of the text, as the tokenizer would give them."""
        if _SPECIAL.search(text):
            return np.array(self.tokenizer.encode(text, add_special_tokens=False).ids, np.intp)
        pieces = PIECES.findall(SPACE + text.replace(" ", SPACE))
        return np.frombuffer(b"".join(map(self._known.__getitem__, pieces)), np.intp)
