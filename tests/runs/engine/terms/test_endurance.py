"""A document that nobody would write takes no longer than any other of its length."""

import time

import pytest

from runs.engine.terms import analyse

SIZE = 200_000
# Of processor time. Each took many times as long where time grew with the square of the length.
SECONDS = 4


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        pytest.param("", "`a ", id="marks of one paragraph"),
        pytest.param("", "a-", id="a name without an end"),
        pytest.param("", "1.", id="a number without an end"),
        pytest.param("$", "a=", id="a formula without an end"),
        pytest.param("", "{{ a ", id="templates without an end"),
        pytest.param("", "## a {#a}\n", id="headings with names"),
        pytest.param("", "![", id="images without an end"),
        pytest.param("", "![a](", id="images whose addresses have no end"),
        pytest.param("", "[^", id="notes without an end"),
        pytest.param("", "<pre>\n", id="tags without an end"),
    ],
)
def test_takes_no_longer_than_its_length_says(begin, piece):
    began = time.process_time()
    analyse(begin + piece * (SIZE // len(piece)))
    assert time.process_time() - began < SECONDS
