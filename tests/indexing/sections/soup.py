"""Texts that nobody wrote: Markdown, prose and noise in any order."""

from hypothesis import strategies as st

JAPANESE = "用語集は生きています。変更はすぐに検索できます！本当ですか？「はい。」と答えた。"
ENGLISH = (
    "Terms live here. Search finds them at once, e.g. in 3.14 seconds! Really? Dr. No said so. "
)
CODE = "def f(x):\n    # not a heading\n    return {'a': x[0], \"b\": 1.5}\n"

# Lines with which blocks begin, go on or end; put together at random they are hard to parse.
LINES = st.sampled_from(
    [
        *("# one", "## two", "### three", "#### four ####", "#", "#no", "   # in", "    # code"),
        *("title", "===", "---", "- - -", "***", "```", "~~~", "```py", "| a | b |", "|---|---|"),
        *("- item", "  - deeper", "* **bold** item", "1. first", "2) second", "10. `code`", "-"),
        *(
            "  more",
            "    even more",
            "\tmore",
            "> quoted",
            "> # in quotation",
            "> - both",
            "- # in",
        ),
        *(
            "<div>",
            "</div>",
            "<!-- open",
            "-->",
            "<a href='x'>",
            "[ref]: /x",
            "[^1]: note",
            ": def",
        ),
        *(
            "prose goes on",
            "2025 was a year",
            "-s, --short",
            "-|-",
            "`code` first",
            "**bold** first",
            "[link](x)",
            "[label",
            "]: /y",
            "[a]b[c]: /z",
            "日本語の文です。",
            "「引用」",
            "a | b",
            "",
            "",
            "",
            " ",
        ),
    ]
)
soups = st.lists(LINES, max_size=40).map("\n".join)

_prose = st.one_of(
    st.builds(lambda text, n: text * n, st.sampled_from([JAPANESE, ENGLISH]), st.integers(1, 8)),
    st.builds(lambda n: f"```py\n{CODE * n}```", st.integers(1, 8)),
    st.builds(lambda n: "| a | b |\n|---|---|\n" + "| 値 | value |\n" * n, st.integers(1, 40)),
    st.builds(lambda n: "- item, 項目\n" * n, st.integers(1, 40)),
    st.text(max_size=200),
    st.builds(lambda text, n: text * n, st.text(min_size=1, max_size=4), st.integers(1, 300)),
)
_heading = st.builds(
    lambda level, text: f"{'#' * level} {text}", st.integers(1, 6), st.sampled_from("abcあ")
)
# Headings with anything below them.
documents = st.lists(st.one_of(_heading, _prose, soups), max_size=12).map("\n\n".join)
