from projects.intake.convert.html import to_markdown
from projects.intake.convert.text import scrub
from projects.intake.files import Draft
from tests.projects.intake.builders import read_all


def markdown(html: str) -> str:
    return scrub(to_markdown(html))


def test_what_a_reader_came_for_is_kept_and_the_rest_dropped():
    text = markdown(
        """<html><head><title>Site</title><style>p{}</style><script>alert(1)</script></head><body>
        <nav>Home Products</nav><div role="navigation">Menu</div>
        <h1>Guide<a class="headerlink" href="#guide">¶</a></h1>
        <p>Text.<noscript>no script</noscript><template>template</template></p>
        <!-- comment --><p hidden>hidden</p><svg><text>drawing</text></svg>
        </body></html>"""
    )
    assert text == "# Guide\n\nText.\n"


def test_the_main_part_is_preferred():
    text = markdown(
        "<header>Company</header><main><h1>A</h1><p>Body text</p></main><footer>© We</footer>"
    )
    assert text == "# A\n\nBody text\n"


def test_a_page_without_headings_gets_its_title():
    assert markdown("<title>The\n title</title><p>Text</p>") == "# The title\n\nText\n"


def test_lists_code_links_and_quotations():
    text = markdown(
        """<ul><li>one<ul><li>deep</li></ul></li><li>two</li></ul>
        <ol start="3"><li>three</li><li>four</li></ol>
        <p>See <a href="https://e.org/a b">this</a> and <code>x = `y`</code>.</p>
        <pre><code class="language-python">def f():\n    return "```"\n</code></pre>
        <div class="highlight-sh"><pre><span>ls</span><br>pwd</pre></div>
        <blockquote><p>Quoted</p></blockquote>"""
    )
    assert "- one\n  - deep\n- two\n" in text
    assert "3. three\n4. four\n" in text
    assert "[this](https://e.org/a%20b) and `` x = `y` ``." in text
    assert '````python\ndef f():\n    return "```"\n````' in text
    assert "```sh\nls\npwd\n```" in text
    assert "> Quoted" in text


def test_tables_keep_their_columns():
    text = markdown(
        """<table><caption>Ports</caption><tr><th>Name</th><th>A|B</th></tr>
        <tr><td rowspan="2">x</td><td>1<br>2</td></tr><tr><td>3</td></tr>
        <tr><td colspan="2">wide</td></tr></table>"""
    )
    assert text == (
        "Ports\n\n| Name | A\\|B |\n| --- | --- |\n| x | 1 2 |\n|  | 3 |\n| wide |  |\n"
    )


def test_a_table_that_only_arranges_the_page_is_taken_apart():
    text = markdown(
        "<table><tr><td>menu</td><td><h2>Head</h2><table><tr><td>a</td><td>b</td></tr></table>"
        "</td></tr></table>"
    )
    assert text == "menu\n\n## Head\n\n| a | b |\n| --- | --- |\n"


def test_definitions_stay_with_their_terms():
    text = markdown(
        "<dl><dt>API</dt><dt>エーピーアイ</dt><dd>An interface</dd>"
        "<dt>SDK</dt><dd><p>A kit.</p><p>More.</p></dd></dl>"
    )
    assert "API, エーピーアイ\n:   An interface\n" in text
    assert "SDK\n:   A kit.\n\n    More.\n" in text


def test_text_that_looks_like_markup_stays_text():
    text = markdown(
        "<p># no heading</p><p>1. no list</p><p>- no item</p>"
        "<p>&lt;script&gt; *a* snake_case _b_ 2 * 3 [x](y) &amp;amp;</p>"
    )
    assert text == (
        "\\# no heading\n\n1\\. no list\n\n\\- no item\n\n"
        "\\<script> \\*a\\* snake_case \\_b\\_ 2 * 3 \\[x](y) \\&amp;\n"
    )


def test_japanese_lines_join_without_a_space():
    text = markdown("<p>これは\n  改行の\n<b>ある</b>\n<span>長い</span>\n文章と text\nです。</p>")
    assert text == "これは改行の**ある**長い文章と text です。\n"


def test_japanese_readings_and_emphasis():
    text = markdown(
        "<p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>と<b>「強調」</b>する</p>"
    )
    assert text == "漢字（かんじ）と「強調」する\n"


def test_nothing_dangerous_or_huge_survives_in_links_and_pictures():
    text = markdown(
        '<p><a href="javascript:alert(1)">click</a> <img alt="pic" src="data:image/png;base64,AA">'
        ' <img alt="ok" src="a.png"></p>'
    )
    assert text == "click pic ![ok](a.png)\n"


def test_neighbouring_marks_are_merged():
    assert markdown("<p><b>a</b><b>b</b> <code>x</code><code>y</code></p>") == "**ab** `xy`\n"


def test_control_characters_cannot_come_in_through_entities():
    assert markdown("<p>a&#1;b&#x7f;c</p>") == "abc\n"


def test_old_japanese_encodings_from_start_to_end():
    page = '<meta charset="Shift_JIS"><title>頁</title><h1>見出し</h1><p>ｶﾅと漢字</p>'
    source = "題名\n====\n\n本文です。\n"
    assert read_all({"old/page.HTM": page.encode("cp932"), "a.rst": source.encode("euc_jp")}) == [
        Draft("old/page.HTM", content="# 見出し\n\nｶﾅと漢字\n", title="見出し", format="html"),
        Draft("a.rst", content="# 題名\n\n本文です。\n", title="題名", format="rst"),
    ]
