"""What changed between two texts, line by line, in a bounded time."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projects.rendering.diff import ADDED, REMOVED, SAME, compare
from projects.rendering.sequence import changes, common


def lines_of(diff) -> list[tuple[str, str]]:
    return [
        (line.kind, "".join(part.text for part in line.parts))
        for hunk in diff.hunks
        for line in hunk.lines
    ]


class TestDiff:
    def test_changed_lines_with_three_lines_around(self):
        old = "\n".join(f"line {n}" for n in range(1, 21))
        diff = compare(old, old.replace("line 10", "line ten"))
        assert lines_of(diff) == [
            (SAME, "line 7"),
            (SAME, "line 8"),
            (SAME, "line 9"),
            (REMOVED, "line 10"),
            (ADDED, "line ten"),
            (SAME, "line 11"),
            (SAME, "line 12"),
            (SAME, "line 13"),
        ]
        assert (diff.added, diff.removed) == (1, 1)
        assert (diff.hunks[0].skipped, diff.skipped) == (6, 7)
        numbers = [(line.old, line.new) for line in diff.hunks[0].lines]
        assert numbers[3:6] == [(10, None), (None, 10), (11, 11)]

    def test_near_changes_share_a_hunk_and_far_ones_do_not(self):
        old = "\n".join(f"line {n}" for n in range(40))
        new = (
            old.replace("line 5\n", "five\n").replace("line 9\n", "nine\n").replace("line 30", "30")
        )
        assert len(compare(old, new).hunks) == 2

    def test_numbers_after_an_insertion(self):
        diff = compare("a\nb\nc", "a\nnew\nb\nc")
        assert [(line.kind, line.old, line.new) for line in diff.hunks[0].lines] == [
            (SAME, 1, 1),
            (ADDED, None, 2),
            (SAME, 2, 3),
            (SAME, 3, 4),
        ]

    def test_words_that_differ_are_marked(self):
        diff = compare("The quick brown fox.", "The quick red fox.")
        marked = ["".join(p.text for p in line.parts if p.changed) for line in diff.hunks[0].lines]
        assert marked == ["brown", "red"]

    def test_japanese_words_are_runs_of_one_script(self):
        diff = compare("流速は水の動く速さです。", "流速は海水の動く速さです。")
        marked = ["".join(p.text for p in line.parts if p.changed) for line in diff.hunks[0].lines]
        assert marked == ["水", "海水"]

    def test_a_line_finds_what_it_became_beside_new_ones(self):
        diff = compare("the tide table hangs here", "a new line\nthe tide table hangs there")
        removed, first, second = diff.hunks[0].lines
        assert [part.changed for part in removed.parts] == [False, True]
        assert [part.changed for part in first.parts] == [False]
        assert [part.text for part in second.parts if part.changed] == ["there"]

    def test_the_same_text_has_no_hunks(self):
        diff = compare("a\nb", "a\nb")
        assert diff.is_empty
        assert (diff.added, diff.removed, diff.hidden) == (0, 0, 0)

    def test_a_page_has_room_for_so_many_rows(self):
        old = "\n".join(f"old {n}" for n in range(100))
        new = "\n".join(f"new {n}" for n in range(100))
        diff = compare(old, new, max_rows=20)
        assert len(lines_of(diff)) == 20
        assert diff.hidden == 180
        assert {kind for kind, _ in lines_of(diff)} == {ADDED, REMOVED}

    @given(
        st.lists(st.sampled_from("abcde\n"), max_size=40).map("".join),
        st.lists(st.sampled_from("abcde\n"), max_size=40).map("".join),
        st.integers(0, 3),
    )
    @settings(max_examples=300, deadline=None)
    def test_both_texts_can_be_told_from_a_diff_with_everything_around(self, old, new, context):
        whole = lines_of(compare(old, new, context=100))
        if old != new:
            assert "\n".join(text for kind, text in whole if kind != ADDED) == old
            assert "\n".join(text for kind, text in whole if kind != REMOVED) == new
        diff = compare(old, new, context=context)
        shown = sum(kind != ADDED for kind, _ in lines_of(diff))
        skipped = diff.skipped + sum(hunk.skipped for hunk in diff.hunks)
        assert shown + skipped == len(old.split("\n"))
        for hunk in diff.hunks:
            for line in hunk.lines:
                text = "".join(part.text for part in line.parts)
                assert line.old is None or old.split("\n")[line.old - 1] == text
                assert line.new is None or new.split("\n")[line.new - 1] == text

    @given(st.lists(st.integers(0, 3), max_size=14), st.lists(st.integers(0, 3), max_size=14))
    @settings(max_examples=300, deadline=None)
    def test_what_is_common_and_what_changed_make_up_both_sides(self, old, new):
        same, different = list(common(old, new)), list(changes(old, new))
        assert all(old[a:b] == new[c:d] for a, b, c, d in same)
        stretches = sorted(same + different, key=lambda stretch: (stretch[0], stretch[2]))
        assert [item for a, b, _, _ in stretches for item in old[a:b]] == old
        assert [item for _, _, c, d in stretches for item in new[c:d]] == new

    @pytest.mark.parametrize(
        "make",
        [
            lambda n: (f"line {n}", f"line {n} changed"),
            lambda n: (f"line {n}", f"line {19_999 - n}"),
            lambda n: ("ab"[n % 2], "ab"[n % 3 % 2]),
            lambda n: (str(n % 50), str(n % 49)),
            lambda n: (f"line {n}", f"line {n * 7919 % 20_000}"),
        ],
        ids=["every line", "reversed", "two lines", "periods", "shuffled"],
    )
    def test_twenty_thousand_lines_take_a_bounded_time(self, make):
        pairs = [make(n) for n in range(20_000)]
        started = time.thread_time()
        compare("\n".join(old for old, _ in pairs), "\n".join(new for _, new in pairs))
        assert time.thread_time() - started < 20
