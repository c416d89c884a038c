"""Counts of stretches are those of counting them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexing.sections.counted import Counted
from indexing.sections.tokens import count_tokens, count_within
from tests.indexing.sections.soup import documents

# What tokens are made of around the end of a line.
SIGNS = st.text(st.sampled_from("\n\n\n/ \t.。a1é\u3000\x0b\u2028\x1c'日"), max_size=40)


def stretch_of(text, start, length):
    stretch = text[start : start + length].rstrip()
    return start, start + len(stretch), stretch


@settings(deadline=None, max_examples=300)
@given(st.one_of(SIGNS, documents), st.integers(0, 400), st.integers(1, 2000))
def test_any_stretch(text, start, length):
    counted = Counted(text)
    for place in {0, min(start, len(text))}:
        first, end, stretch = stretch_of(text, place, length)
        tokens = count_tokens(stretch)
        assert counted.within(first, end, tokens) == tokens
        assert counted.within(first, end, tokens - 1 if tokens else 0) == count_within(
            stretch, tokens - 1 if tokens else 0
        )


@pytest.mark.parametrize(
    "text", ["a.\n/b", "a.\n\n/b/\nc", "a\n  \n\n   b", "```\n\n\n```", "x\n\x1c\ny", "\n\n\na"]
)
def test_lines_that_stand_close(text):
    counted = Counted(text)
    for start in range(len(text)):
        first, end, stretch = stretch_of(text, start, len(text))
        assert counted.within(first, end, 1000) == count_tokens(stretch)
