"""The quick way to tokens gives those of the slow one."""

import re

import pytest

from indexing.embedders.llama_tokens import PIECES
from indexing.embedders.wordllama import wordllama

# Bytes, and what only the model's makers write.
NO_TEXT = re.compile(r"<0x[0-9A-F]{2}>|<unk>|</?s>")


@pytest.fixture(scope="module")
def tokens():
    return wordllama()._table().tokens


def test_no_token_of_the_vocabulary_is_cut(tokens):
    texts = [text for text in tokens.tokenizer.get_vocab() if not NO_TEXT.fullmatch(text)]
    cut = [text for text in texts if [*PIECES.sub("", text)] or len(PIECES.findall(text)) != 1]
    assert len(texts) > 30_000
    assert cut == []


@pytest.mark.parametrize(
    "text",
    [
        "The harbour master's office (2nd floor) opens at 08:30, 365 days a year.",
        "港の灯台は、夜の 9 時に点灯します。サーバーの再起動は「管理者」が行う。",
        "def lit(x):\n        return x_1 + __init__[2]  ->  None;\t# see $HOME/.profile\n\n\n",
        "Le café «Première», “quoted.” – e² = m², naïve… Москва—Питер, ελληνικά",
        "emoji 👩‍👩‍👧 and ㍿, 한국어, ｆｕｌｌｗｉｄｔｈ, \u00a0\u2009\u200e spaces   at   once",
        "a tag <s>struck</s> out, <unk> and < s >",
        "x" * 500 + " " * 40 + "─" * 30 + "=" * 90,
        "▁already▁there▁▁1",
    ],
)
def test_the_tokens_of_a_text_are_the_tokenizers(tokens, text):
    slow = tokens.tokenizer.encode(text, add_special_tokens=False).ids
    assert tokens.of(text).tolist() == slow
    # From what is known by now, too.
    assert tokens.of(text).tolist() == slow
