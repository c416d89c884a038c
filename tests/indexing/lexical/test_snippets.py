import re
import time

import pytest
import Stemmer
import wordfreq
from hypothesis import given
from hypothesis import strategies as st

from indexing.lexical.query import parse
from indexing.lexical.snippets import _beginning, snippet
from tests.indexing.lexical.test_query import QUERIES

MARKDOWN = """# Notes

Some **bold** words about [running a server](http://example.com/running?x=server "t").

| Name | Meaning |
|------|:-------:|
| サーバー | 要求に応える計算機 |
| <b>client</b> | asks & waits |

- [ ] `code` to read

形態素解析は、文を単語に分ける処理である。検索サーバで使う。
"""


def marks(text: str, query: str, **options) -> list[str]:
    found = snippet(text, parse(query, **options), length=200)
    return re.findall("<mark>(.*?)</mark>", found.html)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("run servers", ["running", "server"]),
        ("ｻｰﾊﾞ", ["サーバー", "サーバ"]),
        ("解析", ["解析"]),
        # Adjoining words are one mark.
        ("形態素解析", ["形態素解析"]),
        ("「形態素解析」", ["形態素解析"]),
        ('"asks waits"', ["asks &amp; waits"]),
        ('"waits asks"', []),
        ("cli*", ["client"]),
        # Particles are not marked beside other words.
        ("文を単語", ["文", "単語"]),
        # A piece of another word is not the word.
        ("語", []),
        ("nowhere", []),
    ],
)
def test_marks(query, expected):
    found = marks(MARKDOWN, query)
    assert found == expected


def test_the_word_that_is_being_typed():
    assert marks(MARKDOWN, "clie", typing=True) == ["client"]


def test_markup_is_left_out_and_the_rest_is_escaped():
    found = snippet(MARKDOWN, parse("client"), length=1000)
    assert found.text.startswith("Notes Some bold words about running a server.")
    assert "サーバー 要求に応える計算機 client asks & waits code to read 形態素" in found.text
    assert "asks &amp; waits" in found.html
    for markup in ("http", "|", "---", "**", "`", "[ ]", "<b>", "&lt;b"):
        assert markup not in found.html
    hostile = snippet('<script>"x"</script> a<b', parse("x"), length=100)
    assert "<script" not in hostile.html
    assert "&quot;<mark>x</mark>&quot;" in hostile.html
    assert "a&lt;b" in hostile.html


def test_the_best_passage_is_shown_with_its_line():
    lines = [f"Line {number} of nothing." for number in range(200)]
    lines[50] = "Only the tide."
    lines[120] = "The tide and the harbour."
    text = "\n".join(lines)
    found = snippet(text, parse("harbour tide"), length=120)
    assert found.line_offset == 120
    assert "<mark>tide</mark> and the <mark>harbour</mark>" in found.html
    assert found.text.startswith("…")
    assert found.text.endswith("…")
    assert len(found.text) <= 122


def test_passages_begin_with_a_sentence_and_end_with_one():
    text = "最初の文はここまで。" * 30 + "灯台は港にある。" + "最後の文はここまで。" * 30
    found = snippet(text, parse("灯台"), length=80)
    assert found.text.startswith("…最初の文")
    assert found.text.endswith("ここまで。…")


def test_without_a_match_the_beginning_is_shown():
    text = "\n\n  The beginning of it. " + "And more of it. " * 50
    found = snippet(text, parse("nowhere"), length=60)
    assert found.text.startswith("The beginning of it.")
    assert found.text.endswith("…")
    assert not found.has_match
    assert found.line_offset == 0
    assert snippet(text, parse(""), length=60).text == found.text
    assert snippet("", parse("x"), length=60).text == ""


def test_text_with_our_own_signs_in_it():
    found = snippet("a \ue000 tide \ue001\ue001 b", parse("tide"), length=60)
    assert found.html == "a <mark>tide</mark> b"


@given(st.text(), QUERIES, st.integers(min_value=1, max_value=300))
def test_any_text_and_any_query(content, text, length):
    found = snippet(content + text, parse(text, typing=True), length=length)
    assert found.html.count("<mark>") == found.html.count("</mark>")
    bare = found.html.replace("<mark>", "").replace("</mark>", "")
    assert not re.search("[<>]", bare)
    assert len(found.text) <= length + 2
    assert 0 <= found.line_offset <= (content + text).count("\n")


@pytest.mark.parametrize(
    "text",
    ["-" * 5000 + "x", "| --- " * 2000 + "x", "[" * 5000, "<" * 5000, "`" * 5000 + "*_ " * 999],
)
def test_hostile_texts_take_no_time(text):
    started = time.perf_counter()
    snippet(text + " tide", parse("tide x"), length=5000)
    assert time.perf_counter() - started < 5


def test_a_word_begins_as_its_stem_does():
    """But for the last letter of the stem: that is how words are found in a text at once."""
    stemmer = Stemmer.Stemmer("english")
    words = [word for word in wordfreq.top_n_list("en", 100_000) if word[0] != "'"]
    assert len(words) > 99_000
    assert [word for word in words if not word.startswith(_beginning(stemmer.stemWord(word)))] == []
