"""Markdown is laid out as its author meant it, with anchors to lead to."""

import re

import pytest

from projects import front_matter
from projects.rendering.markdown import render, render_plain, slugify
from tests.projects.rendering.inspecting import inspect


class TestLayout:
    def test_blocks_carry_the_line_they_come_from(self):
        html = render("text\n\n## Two\n\n- a\n- b\n\n```py\nx\n```\n\n> quoted\n").html
        assert '<p data-line="1">text</p>' in html
        assert 'data-line="3">Two</h2>' in html
        assert '<li data-line="6">b</li>' in html
        assert '<pre data-line="8"><code class="language-py">x\n</code></pre>' in html
        assert '<p data-line="12">quoted</p>' in html

    def test_plain_text_paragraphs_carry_their_line(self):
        assert re.findall(r'data-line="(\d+)"', render_plain("\n\na\nb\n\n\nc").html) == [
            "1",
            "3",
            "7",
        ]

    def test_the_opening_heading_is_the_title_of_the_page(self):
        rendered = render("# The *big* title\n\ntext\n\n# Another\n")
        assert rendered.title is not None
        assert rendered.title.text == "The big title"
        assert rendered.title.slug == "the-big-title"
        assert "<h1" in rendered.html
        assert "title" not in rendered.html
        assert [entry.text for entry in rendered.toc] == ["Another"]

    def test_contents_start_at_the_outermost_level_and_never_jump(self):
        toc = render("x\n\n### A\n\n##### B\n\n#### C\n\n## D\n").toc
        assert [(entry.text, entry.depth) for entry in toc] == [
            ("A", 0),
            ("B", 1),
            ("C", 1),
            ("D", 0),
        ]

    def test_headings_below_deep_lists_are_found(self):
        text = "".join("  " * depth + "- a\n" for depth in range(30)) + "\n## After\n"
        assert [entry.text for entry in render(text).toc] == ["After"]

    def test_tables_align_without_inline_styles(self):
        html = render("| a | b |\n|--:|:-:|\n| 1 | 2 |\n").html
        assert '<td class="align-right">1</td>' in html
        assert "style" not in html

    def test_task_lists_footnotes_definitions_and_strikethrough(self):
        html = render(
            "- [x] done\n- [ ] open\n\nTerm\n: meaning\n\n~~old~~ note[^n]\n\n[^n]: foot\n"
        ).html
        assert '<span class="task-box">☑</span> done' in html
        assert '<span class="task-box">☐</span> open' in html
        assert re.search(r"<dt[^>]*>Term</dt>\s*<dd[^>]*>meaning</dd>", html)
        assert "<s>old</s>" in html
        assert 'href="#fn1" id="fnref1"' in html
        assert 'id="fn1"' in html

    def test_harmless_html_stays(self):
        html = render(
            "H<sub>2</sub>O and <kbd>Ctrl</kbd>, <ruby>憩流<rt>けいりゅう</rt></ruby>"
        ).html
        assert "H<sub>2</sub>O and <kbd>Ctrl</kbd>" in html
        assert "<ruby>憩流<rt>けいりゅう</rt></ruby>" in html

    def test_details_may_span_blocks(self):
        html = render(
            "<details>\n<summary>More</summary>\n\n**inside**\n\n</details>\n\nafter"
        ).html
        assert re.search(r"<details>.*<strong>inside</strong>.*</details>.*after", html, re.DOTALL)

    def test_unclosed_html_ends_with_its_block(self):
        html = render("a <b>bold\n\nplain <i>x\n\nlast").html
        assert '<p data-line="5">last</p>' in html

    def test_front_matter_is_told_apart(self):
        rendered = render("---\ntitle: Tides\ntags: [a, 'b']\nlist:\n  - x\n  - y\n---\ntext\n")
        assert rendered.meta == [("title", "Tides"), ("tags", "a, b"), ("list", "x, y")]
        assert '<p data-line="8">text</p>' in rendered.html

    @pytest.mark.parametrize(
        "text", ["---\n\nprose\n\n---\nmore", "---\nprose\n---\n", "---\na: b\n"]
    )
    def test_rulers_are_not_front_matter(self, text):
        assert front_matter.split(text) == ([], text)

    def test_front_matter_of_toml_and_with_comments(self):
        assert render('+++\ntitle = "Tides" # note\n+++\ntext').meta == [("title", "Tides")]
        rendered = render("---\n# about\nabstract: >-\n  two\n  lines\n'key': 'it''s'\n---\ntext")
        assert rendered.meta == [("abstract", "two lines"), ("key", "it's")]

    def test_a_byte_order_mark_does_not_hide_the_title(self):
        title = render("\ufeff# Title\n").title
        assert title is not None
        assert title.text == "Title"


class TestJapanese:
    def test_emphasis_needs_no_spaces(self):
        html = render("これは**「重要」**です。**注意：**次へ").html
        assert "これは<strong>「重要」</strong>です。<strong>注意：</strong>次へ" in html

    def test_lines_join_without_a_space(self):
        assert "一行目です。二行目" in render("一行目です。\n二行目").html
        assert "one\ntwo" in render("one\ntwo").html
        assert "日本語\nand" in render("日本語\nand").html

    def test_a_forced_break_stays(self):
        assert "<br>" in render("一行目  \n二行目").html


class TestAnchors:
    @pytest.mark.parametrize(
        ("heading", "slug"),
        [
            ("The five lines", "the-five-lines"),
            ("What's new?", "whats-new"),
            ("snake_case & more", "snake_case--more"),
            ("憩流ギャップ（slack gap）", "憩流ギャップslack-gap"),
            ("1. はじめに", "1-はじめに"),
            ("①②", "section"),
            ("ガ", "ガ"),  # written with a combining mark
            ("हिन्दी", "हिन्दी"),
        ],
    )
    def test_slugs_are_those_of_github(self, heading, slug):
        assert slugify(heading) == slug

    def test_an_author_may_say_the_anchor(self):
        rendered = render("x\n\n## 算出 *プロパティ* {#computed}\n\n[there](#computed)\n")
        (entry,) = rendered.toc
        assert (entry.text, entry.slug) == ("算出 プロパティ", "computed")
        assert "{#" not in rendered.html
        assert inspect(rendered.html).links == ["#computed"]

    def test_an_anchor_cannot_be_anything(self):
        rendered = render('x\n\n## A {#fn1}\n\n## B {#"onclick=x}\n')
        assert [entry.slug for entry in rendered.toc] == ["fn1-1", "onclickx"]

    def test_the_same_heading_again_gets_a_number(self):
        toc = render("x\n\n## A\n\n## A\n\n## A-1\n\n## A\n").toc
        assert [entry.slug for entry in toc] == ["a", "a-1", "a-1-1", "a-2"]

    def test_a_heading_cannot_take_the_id_of_a_footnote(self):
        rendered = render("x[^1]\n\n## fn1\n\n[^1]: y\n")
        assert rendered.toc[0].slug == "fn1-1"

    def test_links_within_the_page_lead_to_headings(self):
        rendered = render("[to](#%E6%BD%AE%E3%81%AE%E6%B5%81%E3%82%8C)\n\n## 潮の流れ\n")
        assert inspect(rendered.html).links == ["#%E6%BD%AE%E3%81%AE%E6%B5%81%E3%82%8C"]
        assert rendered.toc[0].slug == "潮の流れ"
