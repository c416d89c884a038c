"""Documents → sections."""

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from indexing.sections.limits import Limits
from indexing.sections.split import split
from indexing.sections.tokens import count_tokens
from projects import front_matter
from tests.indexing.sections.soup import documents, soups

LIMITS = Limits(max_tokens=400, overlap_tokens=50, min_tokens=24)
NEVER_MERGED = Limits(max_tokens=400, overlap_tokens=50, min_tokens=0)


def outline(text, limits=NEVER_MERGED):
    return [(piece.number, piece.depth, piece.heading) for piece in split(text, limits=limits)]


def contents(text, limits=NEVER_MERGED):
    return [piece.content for piece in split(text, limits=limits)]


def words(count):
    return "word " * (count - 1) + "word"


def test_a_section_has_its_own_text_only():
    text = "before\n\n# One\n\nown\n\n## Two\n\nbelow\n\n### Three\n\n## Four\n\nlast\n"
    pieces = split(text, limits=NEVER_MERGED)
    assert [(p.order, p.parent, p.depth, p.number) for p in pieces] == [
        (0, None, 0, ""),
        (1, None, 1, "1"),
        (2, 1, 2, "1.1"),
        (3, 2, 3, "1.1.1"),
        (4, 1, 2, "1.2"),
    ]
    assert [p.content for p in pieces] == ["before", "own", "below", "", "last"]
    assert [(p.line_start, p.line_end) for p in pieces] == [
        (1, 1),
        (3, 5),
        (7, 9),
        (11, 11),
        (13, 15),
    ]
    assert [p.heading_path for p in pieces] == [
        (),
        ("One",),
        ("One", "Two"),
        ("One", "Two", "Three"),
        ("One", "Four"),
    ]


def test_levels_may_be_skipped_and_begin_anywhere():
    assert outline("### a\n# b\n### c\n## d\n#### e\n# f\n") == [
        ("1", 3, "a"),
        ("2", 1, "b"),
        ("2.1", 3, "c"),
        ("2.2", 2, "d"),
        ("2.2.1", 4, "e"),
        ("3", 1, "f"),
    ]


@pytest.mark.parametrize(
    "text", ["", "\n", " \n\t\n", "\ufeff", "---\ntitle: x\n---\n", "\u3000\n"]
)
def test_a_document_without_text_has_no_sections(text):
    assert split(text, limits=LIMITS) == []


def test_a_document_without_headings_is_one_section():
    (piece,) = split("\n\njust text\n\nand more\n\n", limits=LIMITS)
    assert (piece.number, piece.depth, piece.heading_path) == ("", 0, ())
    assert (piece.line_start, piece.line_end, piece.content) == (3, 5, "just text\n\nand more")


def test_front_matter_is_neither_heading_nor_text_and_lines_count_from_the_top():
    text = "\ufeff---\r\ntitle: x\r\nauthor: y\r\n---\r\n\r\n# Real\r\n\r\ntext\r\n"
    (piece,) = split(text, limits=LIMITS)
    assert (piece.heading, piece.content) == ("Real", "text")
    assert (piece.line_start, piece.line_end) == (6, 8)


def test_rulers_around_prose_are_not_front_matter():
    assert contents("---\n\nJust prose.\n\n---\n\nMore.") == ["---\n\nJust prose.\n\n---\n\nMore."]


def test_only_line_feeds_are_line_borders():
    (piece,) = split("# a\n\nb\u2028c\x0bd\x85e\n\nf", limits=LIMITS)
    assert piece.line_end == 5
    (piece,) = split("# a\r\rb", limits=LIMITS)
    assert piece.line_end == 3


def test_indents_stay():
    assert contents("# a\n\n\n    code\n\n") == ["    code"]


def test_a_paragraph_with_a_ruler_right_below_is_not_lost():
    long = " ".join(f"word{i}" for i in range(300))
    pieces = split(f"{long}\n---\n\nafter", limits=LIMITS)
    assert all(any(word in piece.content for piece in pieces) for word in long.split())
    assert pieces[0].heading == long[:300]
    assert pieces[-1].content.endswith("after")


def test_children_belong_to_the_first_part_of_a_long_section():
    pieces = split(f"# a\n\n{words(1000)}\n\n## b\n\ntext\n\n## c\n\ntext", limits=NEVER_MERGED)
    *long, b, c = pieces
    assert [(p.number, p.part, p.heading) for p in long] == [
        ("1", i, "a") for i in range(len(long))
    ]
    assert len(long) == 3
    assert (b.parent, c.parent, b.number, c.number) == (0, 0, "1.1", "1.2")
    assert b.order == 3


class TestTinySections:
    def test_are_put_together_until_they_are_not_tiny(self):
        text = "# Glossary\n\n" + "".join(f"## Term {i}\n\n{words(10)}\n\n" for i in range(6))
        pieces = split(text, limits=LIMITS)
        assert [(p.number, p.heading) for p in pieces] == [
            ("1", "Glossary"),
            ("1.1", "Term 0"),
            ("1.3", "Term 2"),
            ("1.5", "Term 4"),
        ]
        assert pieces[1].content == f"{words(10)}\n\n## Term 1\n\n{words(10)}"
        assert (pieces[1].line_start, pieces[1].line_end) == (3, 9)
        # Every term is found, in a heading or in a text.
        found = "\n".join(p.heading + p.content for p in pieces)
        assert all(f"Term {i}" in found for i in range(6))

    def test_join_the_section_before_whose_heading_stays(self):
        text = f"# a\n\n## b\n\n{words(50)}\n\n## c\n\ntiny\n\n## d\n\n{words(50)}"
        assert outline(text, LIMITS) == [("1", 1, "a"), ("1.1", 2, "b"), ("1.3", 2, "d")]

    def test_join_the_section_after_when_there_is_none_before(self):
        text = f"# a\n\n## b\n\ntiny\n\n## c\n\n{words(50)}"
        assert outline(text, LIMITS) == [("1", 1, "a"), ("1.1", 2, "b")]
        assert contents(text, LIMITS)[1] == f"tiny\n\n## c\n\n{words(50)}"

    def test_never_leave_their_parent_or_level(self):
        text = "tiny\n\n# a\n\ntiny\n\n## b\n\ntiny\n\n# c\n\n## d\n\ntiny\n\n"
        text += f"# e\n\n### f\n\n{words(50)}\n\n## g"
        assert outline(text, LIMITS) == outline(text)

    def test_never_make_a_section_too_long(self):
        text = f"# a\n\n## b\n\n{words(399)}\n\n## c\n\ntiny"
        assert outline(text, LIMITS) == [("1", 1, "a"), ("1.1", 2, "b"), ("1.2", 2, "c")]

    def test_stay_when_they_are_all_there_is(self):
        assert contents("# a\n\ntiny", LIMITS) == ["tiny"]
        assert outline("# a", LIMITS) == [("1", 1, "a")]

    def test_headings_with_nothing_below(self):
        (piece,) = split("# a\n\n# b\n\n# c", limits=LIMITS)
        assert (piece.heading, piece.content) == ("a", "# b\n\n# c")
        assert (piece.line_start, piece.line_end) == (1, 5)


def sections_of(pieces):
    """The pieces of each section: the first part, then the others."""
    sections = []
    for piece in pieces:
        if piece.part == 0:
            sections.append([])
        assert piece.part == len(sections[-1])
        sections[-1].append(piece)
    return sections


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["", "\ufeff", "---\ntitle: x\n---\n"]),
    st.one_of(documents, soups),
    st.sampled_from([LIMITS, NEVER_MERGED, Limits(16, 8, 8), Limits(40, 10, 20)]),
)
@example("---\ntitle: x\n---\n", "# a\r\n\r\nb\r\n", LIMITS)
def test_every_line_of_text_is_in_one_section(opening, text, limits):
    pieces = split(opening + text, limits=limits)
    plain = (opening + text).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = front_matter.split(plain)[1].split("\n")

    covered = []
    for section in sections_of(pieces):
        covered += range(section[0].line_start, section[-1].line_end + 1)
        for before, after in pairwise(section):
            assert before.line_start <= after.line_start <= before.line_end + 1 or not any(
                line.strip() for line in lines[before.line_end : after.line_start - 1]
            )
            assert before.line_end <= after.line_end
            same = ("number", "depth", "parent", "heading", "heading_path")
            assert all(getattr(before, name) == getattr(after, name) for name in same)
    assert len(covered) == len(set(covered))
    filled = {number for number, line in enumerate(lines, start=1) if line.strip()}
    assert filled <= set(covered)

    numbers = [section[0].number for section in sections_of(pieces)]
    assert len(numbers) == len(set(numbers))
    for order, piece in enumerate(pieces):
        assert piece.order == order
        assert piece.token_count == count_tokens(piece.content) <= limits.max_tokens
        assert 1 <= piece.line_start <= piece.line_end <= len(lines)
        assert 0 <= piece.depth <= 6
        assert piece.content == piece.content.rstrip()
        if piece.content:
            # The lines of its content can be told by counting back from the last one.
            cut = piece.content.split("\n")
            first = piece.line_end - len(cut)
            assert cut[0] in lines[first]
            assert cut[1:-1] == lines[first + 1 : piece.line_end - 1]
            assert cut[-1] in lines[piece.line_end - 1]
        if piece.parent is not None:
            parent = pieces[piece.parent]
            assert parent.order < order
            assert parent.part == 0
            assert parent.depth < piece.depth
            assert piece.number.rpartition(".")[0] == parent.number
            assert piece.heading_path[: len(parent.heading_path)] == parent.heading_path
