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
        # As the reader shows them: links of every kind, tags, entities; code as it is written.
        ("See [the *quay*][map] at <https://x.test/a>.", "See the quay at https://x.test/a."),
        ("Press <kbd>Ctrl</kbd> &amp; go<br>on.", "Press Ctrl & go on."),
        ("[`<Link>`](link.md) is `[a](b)` or `&amp;`.", "<Link> is [a](b) or &amp;."),
        ("![A crane](crane.png) lifts.", "A crane lifts."),
        ("![A [crane](crane.md) lifts.", "![A crane lifts."),
        ("A <!-- <b> --> berth <!-- ends", "A berth <!-- ends"),
        ("  | a | |", "a |"),
        ("- | a |", "| a"),
        ("`code` &#xe0f0;7&#xe0f1; stays.", "code stays."),
        ("a < b and b > c", "a < b and b > c"),
        # Cut out of its surroundings, a line may have one end of a mark only.
        ("the **mooring", "the mooring"),
    ],
)
def test_a_line(line: str, words: str) -> None:
    assert plain(line) == words


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        ("# Quays {#quays}\n\n> A *quay*.", "Quays\n\nA quay."),
        # A paragraph goes on, wherever its source is wrapped; Japanese without a space.
        ("A quay is a place\nwhere ships lie.", "A quay is a place where ships lie."),
        ("> A *quay* is\n> a wall.", "A quay is a wall."),
        ("岸壁とは、船を\n横付けする施設。", "岸壁とは、船を横付けする施設。"),
        ("- A quay is\n  a wall.\n- A berth", "A quay is a wall.\nA berth"),
        # What has lines of its own keeps them.
        ("# Quays\nA quay.", "Quays\nA quay."),
        ("| a | b |\n| c | d |", "a | b\nc | d"),
        ("Quay\n: A wall.", "Quay\n: A wall."),
        ("1 Quay Road  \nHarbour", "1 Quay Road\nHarbour"),
    ],
)
def test_a_quote(quote: str, words: str) -> None:
    assert plain_quote(quote) == words


@pytest.mark.parametrize(
    ("begin", "piece", "words"),
    [
        ("node ", "`", "node"),
        ("node", " ", "node"),
        ("node ", "*a ", None),
        ("node ", "__a ", None),
        ("node ", "![a", None),
        ("node ", "<!--", None),
    ],
)
def test_a_run_of_signs_comes_to_its_end(begin: str, piece: str, words: str | None) -> None:
    """If each sign were looked at from each, nobody would wait for it."""
    found = plain(begin + piece * 100_000)
    assert words is None or found == words
