"""Where terms are found, and which passages are chosen."""

import string
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexing.sections.tokens import count_tokens
from runs.engine.definitions import ContextFinder
from tests.runs.engine.definitions.made import a_term, contexts, documents


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("message queue", "It has a Message Queue inside."),
        ("message queue", "It has two message queues inside."),
        ("message queue", "It has a message-queue inside."),
        ("message-queue", "It has a message\n  queue inside."),
        ("message queue", "> It has a message\n> queue inside."),
        ("lockout-tagout", "It has lockout–tagout inside."),
        ("TCP IP", "It has TCP/IP or TCP IP inside."),
        ("policies", "It has one policy inside."),
        ("proxy", "It has two proxies inside."),
        ("BESS", "全角の ＢＥＳＳ もある。"),
        ("サーバー", "古いサーバはここにある。"),
        ("サーバ", "新しいサーバーはここにある。"),
        ("Pod", "ここでPodを作る。"),
        ("Pod", "ここに_Pod_がある。"),
        ("電池", "ここに電池がある。"),
        ("電池", "各電池等を調べる。"),
        ("取り入れ口", "川の取り入れ口を見る。"),
    ],
)
def test_spellings_of_a_term(term: str, text: str) -> None:
    assert [context.text for context in contexts(term, f"# Top\n\n{text}\n")] == [
        text.removeprefix("> ")
    ]


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("art", "Let us start with the party."),
        ("pod", "Set max_pods and sub-pod and pod.spec and a/pod."),
        ("IT", "Take it from here."),
        ("サーバ", "サーバント を呼ぶ。"),
        ("ロック", "ブロックを積む。"),
        ("message queue", "A message. Queue here."),
    ],
)
def test_letters_of_another_word(term: str, text: str) -> None:
    assert contexts(term, text) == []


def test_boxes_and_what_a_page_loads_are_no_passages() -> None:
    text = """\
import Pump from "./pump"

::: tip The pump
The pump drains the tank.
:::

!!! note "The pump"
    The pump is loud.
"""
    found = [context.text for context in contexts("pump", text)]
    assert sorted(found) == ["The pump drains the tank.", "The pump is loud."]


def test_a_term_inside_another_one_comes_last() -> None:
    found = contexts("電池", "蓄電池は港にある設備である。\n\n予備の電池を棚に置く。\n")
    assert [context.text for context in found] == [
        "予備の電池を棚に置く。",
        "蓄電池は港にある設備である。",
    ]
    assert found[1].pattern == ""


def test_terms_that_begin_or_end_alike_are_all_found() -> None:
    terms = [a_term(text) for text in ("message", "message queue", "queue", "message queue depth")]
    finder = ContextFinder(documents("The message queue depth is small.\n"))
    finder.prepare(terms)
    assert all(finder.contexts(term) for term in terms)


def test_lines_headings_and_document() -> None:
    text = "---\ntitle: x\n---\n\n# Machines\n\n## In the cellar\n\nOne.\n\nA broker\nhums here.\n"
    (found,) = contexts("broker", "Nothing.", text)
    assert (found.document_id, found.path, found.file_hash) == (2, "2.md", "hash2")
    assert (found.line_start, found.line_end) == (11, 12)
    assert found.heading_path == ("Machines", "In the cellar")
    assert found.text == "A broker\nhums here."


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\ufeff---\ntitle: x\n---\n"])
def test_other_line_ends(line_end: str, start: str) -> None:
    text = f"{start}Intro here.\n\nA broker is a process\nthat passes messages.\n"
    text = text.replace("\n", line_end)
    (found,) = contexts("broker", text)
    assert found.text in text
    assert found.text == f"A broker is a process{line_end}that passes messages."
    assert found.line_end == found.line_start + 1


def test_the_definition_comes_first_then_other_documents_and_headings() -> None:
    repeated = "# A\n\n" + "\n\n".join(
        f"The broker number {n} hums all day long." for n in range(9)
    )
    found = contexts(
        "broker",
        repeated,
        "# B\n\nSomebody asked the broker for a message today.\n",
        "# C\n\nA broker is a process that passes messages between workers.\n",
    )
    assert [context.document_id for context in found[:3]] == [3, 1, 2]
    assert found[0].definitional >= 0.6
    assert found[0].pattern == "is"


def test_what_says_the_same_is_shown_once() -> None:
    same = "The broker passes messages between workers in the cellar.\n"
    assert len(contexts("broker", same, same, same.replace("cellar", "Cellar"))) == 1


def test_limits() -> None:
    texts = [
        f"# {letter}\n\nThe broker of {letter * 3} likes {letter * 5} and {letter * 4} now.\n"
        for letter in string.ascii_lowercase
    ]
    assert len(contexts("broker", *texts)) == 6
    assert len(contexts("broker", *texts, limit=2)) == 2
    found = contexts("broker", *texts, limit=20, most_tokens=60)
    assert 1 < sum(count_tokens(context.text) for context in found) <= 60


def test_a_sentence_that_never_ends_is_cut_around_the_term() -> None:
    text = "word " * 2000 + "broker " + "word " * 2000
    (found,) = contexts("broker", text)
    assert "broker" in found.text
    assert len(found.text) < 1500
    assert found.text in text


def test_a_term_that_is_asked_for_with_other_spellings_is_looked_for_again() -> None:
    finder = ContextFinder(documents("The router hums.\n"))
    assert finder.contexts(a_term("broker")) == []
    assert len(finder.contexts(a_term("broker", synonyms=("router",)))) == 1


def test_asked_together_or_alone_the_answer_is_the_same() -> None:
    texts = documents(
        "# Broker\n\nA broker is a process that passes messages. The queue is in the broker.\n",
        "The queue hums. 憩流とは、潮が止まる状態をいう。\n",
    )
    terms = [a_term(text) for text in ("broker", "queue", "憩流")]
    together = ContextFinder(texts)
    together.prepare(terms)
    for term in terms:
        alone = ContextFinder(texts).contexts(term)
        assert alone == together.contexts(term) == together.contexts(term)
        assert alone


english = ["broker", "queue", "**broker**", "broker:", "`broker`", "is", "the", "a process that"]
japanese = ["憩流", "憩流とは", "憩流は", "潮が", "状態をいう", "）", "「", "」"]
signs = ["(", "|", "`", "e.g.", "3.5", "[x](y)", ">", "-", "1.", "#", "```"]
words = st.sampled_from(english + japanese + signs)
marks = st.sampled_from(
    [" ", " ", "\n", "\n\n", "\r\n", ". ", "。", "？", ": ", "：", "\n: ", "\n\n- "]
)
texts = st.lists(st.tuples(words, marks), max_size=60).map(
    lambda pairs: "".join(word + mark for word, mark in pairs)
)
tables = texts.map(lambda text: "| Term | Meaning |\n|---|---|\n| broker | " + text)


@settings(max_examples=150, deadline=None)
@given(st.one_of(texts, tables, texts.map(lambda text: "---\ntitle: broker\n---\n" + text)))
def test_every_context_stands_at_its_lines(text: str) -> None:
    finder = ContextFinder(documents(text))
    for term in (a_term("broker"), a_term("憩流"), a_term("queue")):
        for context in finder.contexts(term):
            assert context.text
            assert context.text == context.text.strip()
            assert context.text in text
            lines = text.replace("\r\n", "\n").split("\n")
            there = "\n".join(lines[context.line_start - 1 : context.line_end])
            assert context.text.replace("\r\n", "\n") in there
            assert 0 <= context.definitional <= 1


@pytest.mark.parametrize(
    "piece",
    [
        "broker ",
        "**broker ",
        "「broker（",
        "broker [",
        "broker is a ",
        "broker: ",
        "| broker ",
        "broker。",
    ],
)
def test_a_book_in_one_line_takes_no_longer_than_another(piece: str) -> None:
    text = piece * (40_000 // len(piece))
    begin = time.process_time()
    found = contexts("broker", text, f"broker\n: {text}", f"- broker: {text}")
    assert time.process_time() - begin < 4
    assert all(len(context.text) < 3000 for context in found)


@pytest.mark.parametrize("most_open", [0, 300])
def test_it_does_not_matter_how_many_documents_stay_open(monkeypatch, most_open: int) -> None:
    texts = [
        f"# Part {number}\n\nA **berth** is a place at quay {number}. The pilot left berth "
        f"{number}.\n\n## Pilot\n\nGuides ships into harbour {number}."
        for number in range(6)
    ]
    terms = [a_term("berth"), a_term("pilot")]

    def found() -> list[object]:
        finder = ContextFinder(documents(*texts))
        finder.prepare(terms)
        return [finder.contexts(term) for term in terms]

    whole = found()
    monkeypatch.setattr("runs.engine.definitions.finder.MOST_OPEN", most_open)
    assert found() == whole
    assert all(whole)


def test_a_pass_can_be_stopped_between_documents() -> None:
    looked = iter(range(10))

    def check() -> None:
        if next(looked) == 2:
            raise TimeoutError

    finder = ContextFinder(documents("A berth.\n", "A quay.\n", "A pilot.\n"), check=check)
    with pytest.raises(TimeoutError):
        finder.prepare([a_term("berth")])
    assert next(looked) == 3
