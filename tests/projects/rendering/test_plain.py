"""Lines and quotes as a reader of their document sees them."""

import pytest

from projects.rendering.plain import plain, plain_quote


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("## 算出プロパティ {#computed}", "算出プロパティ"),
        ("A set is {#hash} here {#x}", "A set is {#hash} here {#x}"),
        ("- [ ] A **berth** at `*quay`", "A berth at *quay"),
        ("| a | [b](c) |", "a | b"),
    ],
)
def test_a_line(line: str, words: str) -> None:
    assert plain(line) == words


def test_a_quote() -> None:
    assert plain_quote("# Quays {#quays}\n\n> A *quay*.") == "Quays\n\nA quay."
