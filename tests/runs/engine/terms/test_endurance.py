"""A document that nobody would write takes no longer than any other of its length."""

import pytest

from runs.engine.terms import analyse

# Where time grows with the square of the length, nobody waits for the end of one so long.
SIZE = 300_000


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
def test_comes_to_its_end(begin, piece):
    analyse(begin + piece * (SIZE // len(piece)))
