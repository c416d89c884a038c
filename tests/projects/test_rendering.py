"""Markdown as readers see it: laid out rightly, safe whatever it holds, in a bounded time."""

import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projects import front_matter
from projects.rendering import budget, links
from projects.rendering.clean import ATTRIBUTES, TAGS
from projects.rendering.markdown import render, render_plain, slugify
from tests import factories

VOID = {"br", "hr"}


class Inspector(HTMLParser):
    """Reads the result as a browser would, and fails on anything that is not allowed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.lines: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        for name, value in attrs:
            assert name in ATTRIBUTES["*"] | ATTRIBUTES.get(tag, set()) | {"rel"}, (tag, name)
            value = value or ""
            if name == "href":
                assert re.match(r"(?i)https?://|mailto:|#|/projects/", value), value
                self.links.append(value)
            elif name == "id":
                self.ids.append(value)
            elif name == "data-line":
                self.lines.append(int(value))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration: {decl}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data}")


def inspect(html: str) -> Inspector:
    inspector = Inspector()
    inspector.feed(html)
    inspector.close()
    assert not inspector.open
    return inspector


PAYLOADS = [
    "<script>alert(1)</script>",
    "text <script>alert(1)</script> text",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<script>alert(1)",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<img src=x onerror=alert(1)>",
    '<img src="x" alt="a" onerror="alert(1)">',
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><a xlink:href='javascript:alert(1)'><text>x</text></a></svg>",
    "<math><mi xlink:href='javascript:alert(1)'>x</mi></math>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=javascript:alert(1)></object>",
    "<embed src=javascript:alert(1)>",
    "<form action=javascript:alert(1)><button>x</button></form>",
    "<button formaction=javascript:alert(1)>x</button>",
    "<input autofocus onfocus=alert(1)>",
    "<video><source onerror=alert(1)></video>",
    "<details open ontoggle=alert(1)>x</details>",
    "<body onload=alert(1)>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>@import '//evil.example/x.css';</style>",
    "<p style='background:url(javascript:alert(1))'>x</p>",
    "<a href=javascript:alert(1)>x</a>",
    "<a href='java\nscript:alert(1)'>x</a>",
    "<a href='&#106;avascript:alert(1)'>x</a>",
    "<a href='\x01javascript:alert(1)'>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "<a href='vbscript:msgbox(1)'>x</a>",
    "<a href=//evil.example target=_top onclick=alert(1)>x</a>",
    "<a href='https://ok.example' onmouseover=alert(1) style=position:fixed>x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](<javascript:alert(1)>)",
    "[x](&#x6A;avascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](\\/\\/evil.example)",
    "[x]: javascript:alert(1)\n\n[x]",
    "<javascript:alert(1)>",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml,<svg onload=alert(1)>)",
    '![x](https://a.example/" onerror="alert(1))',
    '![" onerror="alert(1)](https://a.example/x.png)',
    '[x](https://a.example "t\\" onclick=\\"alert(1)")',
    '```"><script>alert(1)</script>\nx\n```',
    '``` x" onclick="alert(1)\nx\n```',
    "`<script>alert(1)</script>`",
    "# <script>alert(1)</script>",
    '# x" onclick="alert(1)',
    "- [ ] <script>alert(1)</script>",
    "[^1]\n\n[^1]: <script>alert(1)</script>",
    "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |",
    "<!-- --><script>alert(1)</script>",
    "<!--><script>alert(1)</script>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?php echo '<script>alert(1)</script>' ?>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<textarea><script>alert(1)</script>",
    "<title></title><img src=x onerror=alert(1)>",
    "<xmp><p title='</xmp><img src=x onerror=alert(1)>'>",
    "<template><script>alert(1)</script></template>",
    "<select><option><img src=x onerror=alert(1)></select>",
    "</div></article></main><script>alert(1)</script>",
    "<p id=main class='site-header' data-line='1 onclick=alert(1)'>x</p>",
    "<p hx-get=/account/ hx-trigger=load hx-on:click=alert(1) data-hx-on:load=alert(1)>x</p>",
    "<h2 id=main>x</h2>",
    "<div data-live-url=//evil.example/ data-hx-get=/>x</div>",
    "---\ntitle: <script>alert(1)</script>\n---\ntext",
]


class TestSafety:
    @pytest.mark.parametrize("payload", PAYLOADS)
    @pytest.mark.parametrize(
        "around", ["{}", "before\n\n{}\n\nafter", "> - {}", "| a |\n|---|\n| {} |"]
    )
    def test_nothing_dangerous_survives(self, payload, around):
        inspect(render(around.replace("{}", payload)).html)

    @pytest.mark.parametrize("payload", PAYLOADS)
    def test_what_follows_is_still_shown(self, payload):
        html = render(f"{payload}\n\n</x>\n\nthe last words").html
        inspect(html)
        fences = payload.startswith("```")  # a fence that its payload closes again
        assert "the last words" in html or fences or "<!--" in payload or "<![CDATA" in payload

    @given(st.lists(st.sampled_from([*PAYLOADS, "\n\n", "<b>", "</p>", "*", "`", "[", "](", ">"])))
    @settings(max_examples=150, deadline=None)
    def test_no_mixture_of_payloads_survives(self, pieces):
        inspect(render("".join(pieces)).html)

    @given(
        st.text(alphabet="<>/=\"'`[]()!#*_-|:&;^~ \nabhrefimgonscript\0あ漢\u200b", max_size=200)
    )
    @settings(max_examples=300, deadline=None)
    def test_any_text_gives_balanced_harmless_html(self, text):
        inspected = inspect(render(text).html)
        assert len(inspected.ids) == len(set(inspected.ids)) or "<" in text
        inspect(render_plain(text).html)

    def test_only_known_classes_are_kept(self):
        html = render('<p class="button task-box toolbar language-x">x</p>').html
        assert 'class="task-box language-x"' in html

    def test_an_id_of_raw_html_is_dropped(self):
        assert "id=" not in render('<h2 id="main">x</h2>\n\n<p id="live">x</p>').html

    def test_swallowing_elements_are_shown_as_text(self):
        html = render("a <textarea> b\n\nc").html
        assert "&lt;textarea&gt;" in html
        assert "<p" in html.split("b</p>")[1]

    def test_plain_text_is_escaped(self):
        html = render_plain("<script>alert(1)</script>\n").html
        assert html == (
            '<pre class="source"><span data-line="1">'
            "&lt;script&gt;alert(1)&lt;/script&gt;\n</span></pre>"
        )


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


class TestLinks:
    def test_external_links_do_not_vouch_for_the_other_side(self):
        html = render("[x](https://example.com)").html
        assert '<a href="https://example.com" rel="noopener nofollow">x</a>' in html

    def test_images_are_not_loaded(self):
        html = render("![Map](https://example.com/map.png) ![](pics/tide.png)").html
        assert "<img" not in html
        assert (
            '<a class="image" href="https://example.com/map.png" rel="noopener nofollow">Map</a>'
            in html
        )
        assert '<span class="image" title="pics/tide.png">tide.png</span>' in html

    def test_an_image_in_a_link_is_its_words(self):
        html = render("[![build](https://ci.example/b.svg)](https://ci.example)").html
        assert html.count("<a ") == 1

    def test_raw_images_leave_their_words(self):
        assert '<span class="image">Logo</span>' in render('<img src="x.png" alt="Logo">').html

    @pytest.mark.parametrize(
        ("href", "paths"),
        [
            ("x.md", ["ops/x.md"]),
            ("./x.md", ["ops/x.md"]),
            ("../a/x.md#y", ["a/x.md"]),
            ("/a/x.md", ["a/x.md"]),
            ("%E9%81%8B%E7%94%A8.md", ["ops/運用.md"]),
            ("x", ["ops/x", "ops/x.md", "ops/x/README.md"]),
            ("../", ["README.md"]),
            ("sub/", ["ops/sub/README.md"]),
        ],
    )
    def test_what_a_link_may_mean(self, href, paths):
        found = links.candidates(href, "ops/here.md")
        assert found[: len(paths)] == paths

    @pytest.mark.parametrize("href", ["../../x.md", "../..", "a%00.md"])
    def test_a_link_out_of_the_project_means_nothing(self, href):
        assert links.candidates(href, "ops/here.md") == []

    def test_links_between_documents_lead_to_their_pages(self, project, django_assert_num_queries):
        target = factories.make_document(project, "運用/点検.md")
        readme = factories.make_document(project, "guide/README.md")
        resolve = links.resolver(project, "guide/start.md")
        text = (
            "[a](../運用/点検.md#手順) [b](README.md) [c](.) [gone](gone.md) "
            '<a href="../運用/点検.md">raw</a> [up](../../up.md)'
        )
        with django_assert_num_queries(1):
            html = render(text, resolve=resolve).html
        page, folder = target.get_absolute_url(), readme.get_absolute_url()
        fragment = "#%E6%89%8B%E9%A0%86"
        assert inspect(html).links == [f"{page}{fragment}", folder, folder, page]
        assert html.count('class="missing-link"') == 2
        assert "gone.md" in html

    def test_a_link_does_not_lead_into_another_project(self, project):
        other = factories.make_project("Other")
        factories.make_document(other, "secret.md")
        html = render("[x](secret.md)", resolve=links.resolver(project, "a.md")).html
        assert "href" not in html

    @pytest.mark.django_db
    def test_thousands_of_links_do_not_break_the_query(self, project):
        text = "\n\n".join(f"[x](p{n}.md)" for n in range(9000))
        assert "missing-link" in render(text, resolve=links.resolver(project, "a.md")).html


HOSTILE = {
    "brackets": "[" * 200_000,
    "images": "![" * 100_000,
    "footnotes": "[^" * 100_000,
    "inline footnotes": "^[" * 100_000,
    "stars": "*a " * 100_000,
    "quotes": ">" * 200_000,
    "many paragraphs of brackets": ("[" * 4000 + "\n\n") * 100,
    "deep html": "<i><h1>" * 50_000,
    "deep html in pieces": ("<dl><dt><b>" * 300 + "\n\n") * 200,
    "repeating elements": "".join(f"<b title={n}>" for n in range(5000)) + "\n\n<p>\n\n" * 5000,
    "repeating elements in one block": "<div>"
    + "".join(f"<b title={n}>" for n in range(2000))
    + "<p>" * 8000,
    "closing tags": "<b></p>" * 50_000,
    "headings": "# a\n" * 10_000,
    "list": "* a\n" * 10_000,
    "table": "|a|b|\n|-|-|\n" + "|1|2|\n" * 8_000,
    "wide table": "|a" * 20_000 + "|\n" + "|-" * 20_000 + "|\n",
    "references": "[a]: b\n" * 20_000,
    "emphasis": "***a** b* " * 50_000,
    "lists in quotations in lists": ("> - " * 9 + "a\n") * 40_000,
    "accents in a heading": "# a" + "\u0301\u0316" * 100_000,
    "accents in a fragment": f"[a](#a{'%CC%81%CC%96' * 100_000})",
    "images never closed": "<div>\n" + "<img " * 9900,
}


class TestBounds:
    @pytest.mark.parametrize("name", HOSTILE)
    def test_hostile_text_takes_a_bounded_time(self, name, monkeypatch):
        monkeypatch.setattr(budget, "SECONDS", 1.0)
        started = time.thread_time()
        html = render(HOSTILE[name]).html
        # Generous: without the bounds most of these take minutes.
        assert time.thread_time() - started < 10
        inspect(html)

    def test_a_long_row_of_accents_in_a_link_takes_no_time(self):
        started = time.thread_time()
        links.candidates("a" + "%CC%81%CC%96" * 40_000, "a.md")
        assert time.thread_time() - started < 1

    def test_a_deep_list_in_the_front_matter_is_shown(self):
        deep = "[" * 3000 + "a" + "]" * 3000
        assert render(f"---\nkey: {deep}\n---\ntext").meta == [("key", deep[1:-1])]

    def test_a_megabyte_of_prose_is_laid_out(self, monkeypatch):
        monkeypatch.setattr(budget, "SECONDS", 30.0)  # the tests may run on a slow machine
        prose = "Some **words** and [a link](x.md), 日本語の文章もある。" * 10
        text = f"## Heading\n\n{prose}\n\n- one\n- two\n\n" * 5000
        rendered = render(text[:1_000_000])
        assert not rendered.over_budget
        assert len(rendered.toc) > 2000

    def test_a_document_over_its_time_is_shown_as_written(self, monkeypatch):
        monkeypatch.setattr(budget, "SECONDS", 0.0)
        rendered = render("# Title\n\n**text**")
        assert rendered.over_budget
        assert "**text**" in rendered.html

    def test_what_is_too_long_is_shown_as_written(self):
        rendered = render("# x\n" * 60_000)
        assert rendered.over_budget
        assert rendered.html.startswith('<pre class="source">')

    def test_a_text_of_too_many_characters_is_shown_as_written(self):
        assert render("word " * 500_000).over_budget

    @pytest.mark.parametrize(
        "piece",
        [
            # A browser's parser would open every <b> again in every paragraph.
            "<p>" + "".join(f"<b title={n}>" for n in range(30)) + "</p><p>x</p>",
            "<p>" + "word " * 11_000 + "</p>",
        ],
    )
    def test_html_that_asks_for_too_much_is_shown_as_written(self, piece):
        html = render(f"<div>{piece}</div>\n\n**bold**").html
        assert "&lt;div&gt;&lt;p&gt;" in html
        assert "<strong>bold</strong>" in html

    def test_details_that_are_never_closed_do_not_nest_without_end(self):
        html = render("<details>\n\n" * 100).html
        assert html.count("<details>") == html.count("</details>") == 100
        assert "<details>" * 30 not in re.sub(r"\s", "", html)

    def test_a_paragraph_of_nothing_but_marks_is_shown_as_written(self):
        html = render("*a" * 6000 + "\n\n**bold**").html
        assert "<em>" not in html
        assert "<strong>bold</strong>" in html
