"""A document that nobody would write takes no longer than any other of its length."""

import time

import pytest

from runs.engine.terms import analyse

SIZE = 100_000
# Of processor time; each of these took minutes where time grew with the square of the length.
SECONDS = 10


@pytest.mark.parametrize(
    "piece",
    [
        pytest.param("`a ", id="marks of one paragraph"),
    ],
)
def test_takes_no_longer_than_its_length_says(piece):
    began = time.process_time()
    analyse(piece * (SIZE // len(piece)))
    assert time.process_time() - began < SECONDS
