"""A document that nobody would write takes no longer than any other of its length."""

import time

import pytest

from runs.engine.terms import analyse

SIZE = 100_000
# Of processor time; each of these took minutes where time grew with the square of the length.
SECONDS = 10


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        pytest.param("", "`a ", id="marks of one paragraph"),
        pytest.param("", "a-", id="a name without an end"),
        pytest.param("", "1.", id="a number without an end"),
        pytest.param("$", "a=", id="a formula without an end"),
    ],
)
def test_takes_no_longer_than_its_length_says(begin, piece):
    began = time.process_time()
    analyse(begin + piece * (SIZE // len(piece)))
    assert time.process_time() - began < SECONDS
