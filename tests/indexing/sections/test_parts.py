"""Long sections: where they are cut, and that nothing is lost or over the limit."""

import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexing.sections.limits import Limits
from indexing.sections.parts import parts
from indexing.sections.sentences import sentence_ends
from indexing.sections.sheet import sheet_of
from indexing.sections.split import split
from indexing.sections.tokens import count_tokens
from tests.indexing.sections.soup import ENGLISH, JAPANESE, documents

SMALL = Limits(max_tokens=60, overlap_tokens=15, min_tokens=0)
APART = Limits(max_tokens=60, overlap_tokens=0, min_tokens=0)


def contents(text, limits=APART):
    return [piece.content for piece in split(text, limits=limits)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("猫である。名前はまだ無い。", ["猫である。", "名前はまだ無い。"]),
        ("「行く。」と言った。本当？！はい", ["「行く。」", "と言った。", "本当？！", "はい"]),
        ("値は３．１４です．次へ", ["値は３．１４です．", "次へ"]),
        ("です。**重要**です。", ["です。", "**重要**です。"]),
        ("One. Two! Three? Four", ["One. ", "Two! ", "Three? ", "Four"]),
        ('He said "Go." Then left.', ['He said "Go." ', "Then left."]),
        ("Pi is 3.14 in v1.2.3 of math.py today. Yes.", 2),
        ("See e.g. Fig. 3 by Dr. J. Smith et al. Next one.", 1),
        ("First line ends.\nSecond begins.", 2),
        ("Well... what now? Wait... What?", 3),
        ("1. An item. Another.", 2),
        ("In 2020. The year.", 2),
    ],
)
def test_sentences(text, sentences):
    edges = [0, *sentence_ends(text, 0, len(text)), len(text)]
    found = [text[a:b] for a, b in pairwise(edges)]
    assert (len(found) if isinstance(sentences, int) else found) == sentences


def test_paragraphs_stay_whole():
    paragraphs = [
        f"Paragraph {i} has a few words in it. " + "Word after word. " * 6 for i in range(9)
    ]
    for content in contents("\n\n".join(paragraphs)):
        assert content.startswith("Paragraph")
        assert content.endswith("word.")


@pytest.mark.parametrize(
    ("sentence", "end"), [("これは一つの文です。", "。"), ("It is one sentence. ", ".")]
)
def test_a_long_paragraph_is_cut_after_sentences(sentence, end):
    found = contents(sentence * 60)
    assert len(found) > 3
    assert all(content.endswith(end) for content in found)
    assert "".join(content.replace(" ", "") for content in found) == (sentence * 60).replace(
        " ", ""
    )


def test_sentences_go_on_over_lines():
    wrapped = "This is a sentence that\ngoes on in the next line. " * 30
    assert all(content.endswith("next line.") for content in contents(wrapped))


def test_code_and_tables_are_cut_after_lines():
    code = (
        "```py\n" + "".join(f"value_{i} = compute(value. Other, {i})\n" for i in range(60)) + "```"
    )
    table = "| a | b |\n|---|---|\n" + "".join(f"| Cell. One | 値。{i} |\n" for i in range(60))
    for text in (code, table):
        rows = text.rstrip("\n").split("\n")
        assert [row for content in contents(text) for row in content.split("\n")] == rows


def test_items_of_a_list_stay_whole():
    items = [
        f"- Item {i} begins here.\n  And it goes on.\n\n  With a paragraph." for i in range(20)
    ]
    for content in contents("\n\n".join(items)):
        assert content.startswith("- Item")
        assert content.endswith("With a paragraph.")


def test_parts_overlap_by_whole_sentences():
    sentences = [f"Number {i} is said here." for i in range(60)]
    pieces = split(" ".join(sentences), limits=SMALL)
    assert [piece.part for piece in pieces] == list(range(len(pieces)))
    for before, after in pairwise(pieces):
        shared = [s for s in sentences if s in before.content and s in after.content]
        assert shared
        assert before.content.endswith(" ".join(shared))
        assert after.content.startswith(" ".join(shared))
        assert count_tokens(" ".join(shared)) <= SMALL.overlap_tokens


def test_words_stay_whole_where_there_are_no_sentences():
    words = [f"word{i}" for i in range(400)]
    assert " ".join(contents(" ".join(words))).split() == words


def test_characters_are_not_taken_apart():
    family = "👩‍👩‍👧‍👦"
    for content in contents(family * 100):
        assert set(content.split(family)) == {""}
    for content in contents("e\u0301" * 500):
        assert not unicodedata.combining(content[0])


def all_parts(text, limits):
    sheet = sheet_of(text)
    return sheet.text, list(parts(sheet, 0, sheet.line_count, limits))


@settings(max_examples=150, deadline=None)
@given(documents, st.sampled_from([SMALL, APART, Limits(16, 8, 0), Limits(100, 50, 0)]))
def test_no_part_is_over_the_limit_and_nothing_is_lost(text, limits):
    text, found = all_parts(text, limits)
    end = 0
    for span in found:
        content = text[span.start : span.end]
        assert span.tokens == count_tokens(content) <= limits.max_tokens
        assert content.strip()
        # Each goes on where the one before ended, or begins earlier; and adds something.
        assert not text[end : span.start].strip()
        assert span.end > end
        if span.start < end:
            assert count_tokens(text[span.start : end]) <= limits.overlap_tokens
        end = span.end
    assert not text[end:].strip()


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "A",
            "ab+/9xQ",
            "あ",
            " ",
            "\n",
            ".",
            "=",
            "a.b(c);",
            "👩‍👩‍👧‍👦",
            "\u0301",
            "\u200d",
            "! ",
            "。",
        ),
        *("ab cd\n", "| a | b |\n", "- a\n", "> > a\n", "- a\n\n  b\n\n", "x\n---\n", "[a]: b\n"),
        *(JAPANESE, ENGLISH),
    ],
)
def test_time_grows_with_the_text_and_no_faster(unit):
    text = "x" + unit * (30_000 // len(unit))
    started = time.thread_time()
    for piece in split(text, limits=Limits(400, 50, 24)):
        assert piece.token_count <= 400
    # It takes a tenth of this; quadratic time would take much more.
    assert time.thread_time() - started < 5
