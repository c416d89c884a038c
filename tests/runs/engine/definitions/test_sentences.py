"""Sentences in both languages."""

import pytest

from runs.engine.definitions.sentences import sentences


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text, 0, len(text))]


@pytest.mark.parametrize(
    "expected",
    [
        ["One is here.", "Two is there!", "Is it three?", "Yes."],
        ["Use e.g. This one, version 3.5 of No. 7 by A. Smith.", "And file.txt."],
        ["It said “Go home.” Then it left (it was late. Very late) at once.", "So."],
        ["1. First step of all.", "It hums."],
        ["**Bold.**", "Then plain."],
        ["Lower case. follows on here."],
        ["It is the truth.[^1]", "A break is here.[2]", "So.[^a][^b]", "“Go.”[3]", "Yes.[^4]"],
        ["It is at x.[1](u.md) A link is here.", "So."],
    ],
)
def test_english(expected: list[str]) -> None:
    assert split(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["一つ目です。", "二つ目！", "三つ目ですか？", "終わり"],
        ["彼は「はい。そうです。」と答えた。", "帰った。"],
        ["潮（流れ。海の）が止まる。", "終わり。"],
        ["（注意する。）", "終わり。"],
        ["**太字です。**", "普通です。"],
        ["広い。", "**憩流**は長い。"],
        ["値は３．５である．", "次である．"],
        ["正しい。[^1]", "憩流は長い。[2]", "**太字です。**[^3][^4]", "終わり。"],
        ["広い。", "[1](u.md)を見る。"],
        ["憩流は、. を付けて書く。", "長い。"],
    ],
)
def test_japanese(expected: list[str]) -> None:
    assert split("".join(expected)) == expected


def test_a_bracket_that_is_never_closed_ends_nothing() -> None:
    assert split("彼は「はい。そうだ。" + "長い。" * 3) == [
        "彼は「はい。",
        "そうだ。",
        *["長い。"] * 3,
    ]
