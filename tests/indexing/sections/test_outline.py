"""The headings of a text are those that a Markdown parser finds."""

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt

from indexing.sections import outline as module
from indexing.sections.outline import MAX_HEADING, outline
from tests.indexing.sections.soup import soups


def headings(text):
    return [(found.level, found.text) for found in outline(text).headings]


def lines(text):
    return [(found.start, found.end) for found in outline(text).headings]


@pytest.mark.parametrize(
    "text",
    [
        "```\n# no\n```",
        "~~~\n# no\n```\n# no\n~~~",
        "```\n# no, the fence is never closed",
        "    # no, this is code",
        "<div>\n# no\n</div>",
        "<!--\n\n# no\n\n-->",
        "| a |\n|---|\n| # no |",
        "#no",
        "####### no",
        "\\# no",
        "- # in a list\n\n  ## in a list",
        "> # in a quotation",
        "- item\n\n  title\n  ===",
        "- item\n\n\n  # in the item",
        "- item\n- item\n\n   # still in the item",
    ],
)
def test_what_is_no_heading_of_the_document(text):
    assert headings(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One", [(1, "One")]),
        ("   ### Three ###   ", [(3, "Three")]),
        ("Title\n=====\n\nOther\n---", [(1, "Title"), (2, "Other")]),
        ("two\nlines\n---", [(2, "two lines")]),
        ("#", [(1, "")]),
        ("prose\n# right below", [(1, "right below")]),
        ("- item\n# after a list", [(1, "after a list")]),
        ("- item\n\n# after a list", [(1, "after a list")]),
        ("> quoted\n\n# after a quotation", [(1, "after a quotation")]),
        ("<div>\n\n# after the blank line\n</div>", [(1, "after the blank line")]),
        ("| a |\n|---|\n| b |\n# after a table", [(1, "after a table")]),
    ],
)
def test_what_is_a_heading(text, expected):
    assert headings(text) == expected


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("**Bold** and `code` and *more*", "Bold and code and more"),
        ("**「注意」**です", "「注意」です"),
        ("[link](http://x.y) ![picture *alt*](z.png)", "link picture alt"),
        ("a<br>b <a name='x'></a>c", "a b c"),
        ("R&amp;D \\*star\\* ~~old~~", "R&D *star* old"),
        ("snake_case and 2 * 3", "snake_case and 2 * 3"),
        ("see[^1] this", "see this"),
        ("算出プロパティ {#computed-property}", "算出プロパティ"),
    ],
)
def test_a_heading_is_words_without_markup(source, text):
    assert headings(f"# {source}\n\n[^1]: note\n") == [(1, text)]


def test_a_link_that_is_explained_at_the_end_of_the_text():
    assert headings("## [1.2.0] - 2026-01-01\n\nNew.\n\n[1.2.0]: https://x.y") == [
        (2, "1.2.0 - 2026-01-01")
    ]


def test_lines_of_headings_are_counted_from_zero_with_all_they_take():
    assert lines("a\n\n# b\n\nc\nd\n---\ne") == [(2, 3), (4, 7)]


def test_a_deep_list_does_not_swallow_the_headings_below_it():
    deep = "\n".join("  " * level + "- a" for level in range(40))
    assert headings(f"{deep}\n\n# Below\n") == [(1, "Below")]


def test_a_heading_that_is_no_heading_is_cut():
    (found,) = outline("word " * 1000 + "\n---\n").headings
    assert found.is_cut
    assert len(found.text) <= MAX_HEADING


def test_a_text_that_takes_too_long_has_no_headings():
    assert outline("- > " * 50 + "a\n" * 10 + ("- > " * 50 + "a\n") * 500 + "\n# a").headings == []


def test_a_text_with_more_headings_than_anybody_writes_has_none(monkeypatch):
    monkeypatch.setattr(module, "MAX_HEADINGS", 50)
    assert len(outline("# a\n" * 50).headings) == 50
    assert outline("# a\n" * 51).headings == []


def test_a_long_text_is_read_in_pieces(monkeypatch):
    text = "# a\n\n- b\n\n  c\n\n> d\n\n" * 200
    whole = outline(text)
    monkeypatch.setattr(module, "TOKENS_AT_A_TIME", 3)
    assert outline(text) == whole
    assert len(whole.headings) == 200


PARSER = MarkdownIt("commonmark", {"maxNesting": module.MAX_NESTING}).enable("table")


@settings(max_examples=400, deadline=None)
@given(soups)
def test_shortcuts_find_what_the_parser_finds(text):
    """Plain paragraphs and lists are passed over; that must never change a heading."""
    tokens = PARSER.parse(text)
    expected = [
        (int(token.tag[1:]), *(token.map or ()))
        for token in tokens
        if token.type == "heading_open" and token.level == 0
    ]
    assert [(h.level, h.start, h.end) for h in outline(text).headings] == expected
