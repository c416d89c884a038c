"""Quotations: word for word, whatever the line breaks and marks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs.engine.definitions import locate

TEXT = """# Tides

The **slack gap** is the time
  in which the *tidal station* delivers
less than `10 kW` in_total.

> Quoted words go
> on here.

憩流とは、潮の流れが
ほぼ止まる　状態をいう。T1 と T2 がある。
"""


@pytest.mark.parametrize(
    ("quote", "lines", "verbatim"),
    [
        ("less than `10 kW` in_total.", (5, 5), "less than `10 kW` in_total."),
        ("The slack gap is the time", (3, 3), "The **slack gap** is the time"),
        ("is the time in which the", (3, 4), "is the time\n  in which the"),
        ("the  **tidal**\nstation delivers", (4, 4), "the *tidal station* delivers"),
        ("less than 10 kW", (5, 5), "less than `10 kW"),
        ("Quoted words go on here.", (7, 8), "Quoted words go\n> on here."),
        ("潮の流れがほぼ止まる状態をいう。", (10, 11), "潮の流れが\nほぼ止まる　状態をいう。"),
        ("T1とT2がある", (11, 11), "T1 と T2 がある"),
        ("  slack gap  ", (3, 3), "slack gap"),
    ],
)
def test_a_quotation_is_found(quote: str, lines: tuple[int, int], verbatim: str) -> None:
    found = locate(quote, TEXT)
    assert found is not None
    assert (found.line_start, found.line_end) == lines
    assert found.verbatim == verbatim
    assert found.verbatim in TEXT


@pytest.mark.parametrize(
    "quote",
    [
        "",
        "  \n ",
        "**",
        "The slack gap is a time",
        "the slack gap is the time",
        "slack gap is the time, in which",
        "slackgap",
        "he slack ga",
        "less than 10kW",
        "intotal",
        "in total",
        "潮の流れがほぼ止まる状態である。",
        "潮の流れが、ほぼ止まる",
        "slack gap … delivers",
    ],
)
def test_other_words_are_not_found(quote: str) -> None:
    assert locate(quote, TEXT) is None


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("costs 23 units", "It costs 2*3 units."),
        ("costs 23 units", "It costs 2**3 units."),
        ("the myname method", "Call the my__name method."),
        ("versions 12 of it", "The versions 1~~2 of it."),
    ],
)
def test_a_mark_inside_a_word_is_part_of_it(quote: str, text: str) -> None:
    assert locate(quote, text) is None


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("All Promises are kept", "All `Promise`s are **_kept_**."),
        ("the old name of it", "the ~~old~~ *name* of it"),
        ("Dockerは重要な道具", "**Docker**は**重要**な道具"),
    ],
)
def test_a_mark_at_the_edge_of_a_word_is_not(quote: str, text: str) -> None:
    assert locate(quote, text) is not None


def test_a_whole_word_is_preferred_to_letters_of_another() -> None:
    found = locate("art", "start\nparty\nart\n")
    assert found is not None
    assert found.line_start == 3


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends(line_end: str) -> None:
    found = locate("two three", line_end.join(["one", "two", "three", ""]))
    assert found is not None
    assert (found.line_start, found.line_end) == (2, 3)


letters = st.text(alphabet="ab 潮は。*_`\n>-", max_size=60)


@settings(max_examples=300, deadline=None)
@given(letters, letters, letters)
def test_what_is_found_has_the_same_letters(before: str, quote: str, after: str) -> None:
    text = before + quote + after
    found = locate(quote, text)
    plain = str.maketrans("", "", " \n*_`>")
    if found is not None:
        assert found.verbatim in text
        assert found.verbatim.translate(plain) == quote.translate(plain)
        lines = text.split("\n")[found.line_start - 1 : found.line_end]
        assert found.verbatim in "\n".join(lines)


def test_long_documents_are_no_problem() -> None:
    text = "The slack **gap** is long.\n" * 10_000 + "The *last* one is short.\n"
    for _ in range(100):
        found = locate("The last one is short.", text)
        assert found is not None
        assert found.line_start == 10_001
        assert locate("The last one is shorter.", text) is None
