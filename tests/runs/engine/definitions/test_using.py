"""Which sentence is shown as an example of use."""

import pytest

from tests.runs.engine.definitions.made import a_term, contexts, entry


@pytest.mark.parametrize(
    ("term", "worse", "better"),
    [
        # Of the word, and not of the thing.
        (
            "BESS",
            "「ＢＥＳＳ」「Ｔ２」は「BESS」「T2」に直します。半角カタカナは使いません。",
            "水位が下がったときは、隣にある BESS が出力の差を引き受けた。",
        ),
        (
            "berth",
            'The word "berth" is spelt with an e in all of the papers.',
            "Two pilots brought the ferry to her berth before noon on Monday.",
        ),
        # Leans on what stood before it.
        (
            "berth",
            "This berth was closed for a week after the storm of May.",
            "A berth was closed for a week after the great storm.",
        ),
        (
            "岸壁",
            "しかし、岸壁は嵐の後に一週間のあいだ閉じられました。",
            "嵐の後、北の岸壁は一週間のあいだ船を入れませんでした。",
        ),
        # Sends the reader away, or is of a list of changes.
        (
            "berth",
            "The berth is big; for more details see the plan of the harbour.",
            "On Monday the ferry left the berth in the north at noon.",
        ),
        (
            "berth",
            "[FIX] The name of the berth in the list of ferries #175 (pilot)",
            "In the morning all of the ferries leave the berth in the north",
        ),
        (
            "岸壁",
            "岸壁の使い方と、ここに置くことのできる物は以下の表に書いてある。",
            "嵐の後、北の岸壁には一週間のあいだ船が入らなかった。",
        ),
        # Of the term itself, and more than its name.
        (
            "berth",
            "On Monday the ferry left the berth in the north at noon.",
            "Berths are kept free for the ferries of the harbour.",
        ),
        ("berth", "See berth.", "On Monday the ferry left for the small harbour, not to berth"),
    ],
)
def test_the_better_of_two(term: str, worse: str, better: str) -> None:
    language = "en" if better.isascii() else "ja"
    found = entry(a_term(term, language=language), f"# 1\n\n{worse}\n", f"# 2\n\n{better}\n")
    assert better in found.definition


def test_the_long_form_with_the_short_one_is_the_best() -> None:
    long_form = "The harbour has a battery energy storage system (BESS) behind the ferry quay."
    short = "BESS is negative while it charges, and positive while it does not."
    for term in ("BESS", "battery energy storage system"):
        found = contexts(a_term(term), f"# 1\n\n{short}\n", f"# 2\n\n{long_form}\n")
        assert found[0].text == long_form
    # A word of the long form is not what the short one stands for.
    one, other = contexts(
        "system", "# 1\n\nThe system was closed for a week after the great storm.\n", long_form
    )
    assert (one.document_id, other.document_id) == (1, 2)


def test_a_fragment_comes_last() -> None:
    found = contexts(
        "berth",
        "- Berth, quay, pier, mole\n",
        "See the berth, as it is in the plan of the town and its harbour.\n",
    )
    assert [context.document_id for context in found] == [2, 1]
