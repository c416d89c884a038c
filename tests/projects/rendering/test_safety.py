"""Markdown is harmless whatever it holds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projects.rendering.markdown import render, render_plain
from tests.projects.rendering.inspecting import inspect

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


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize(
    "around", ["{}", "before\n\n{}\n\nafter", "> - {}", "| a |\n|---|\n| {} |"]
)
def test_nothing_dangerous_survives(payload, around):
    inspect(render(around.replace("{}", payload)).html)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_what_follows_is_still_shown(payload):
    html = render(f"{payload}\n\n</x>\n\nthe last words").html
    inspect(html)
    fences = payload.startswith("```")  # a fence that its payload closes again
    assert "the last words" in html or fences or "<!--" in payload or "<![CDATA" in payload


@given(st.lists(st.sampled_from([*PAYLOADS, "\n\n", "<b>", "</p>", "*", "`", "[", "](", ">"])))
@settings(max_examples=150, deadline=None)
def test_no_mixture_of_payloads_survives(pieces):
    inspect(render("".join(pieces)).html)


@given(st.text(alphabet="<>/=\"'`[]()!#*_-|:&;^~ \nabhrefimgonscript\0あ漢\u200b", max_size=200))
@settings(max_examples=300, deadline=None)
def test_any_text_gives_balanced_harmless_html(text):
    inspected = inspect(render(text).html)
    assert len(inspected.ids) == len(set(inspected.ids)) or "<" in text
    inspect(render_plain(text).html)


def test_only_known_classes_are_kept():
    html = render('<p class="button task-box toolbar language-x">x</p>').html
    assert 'class="task-box language-x"' in html


def test_an_id_of_raw_html_is_dropped():
    assert "id=" not in render('<h2 id="main">x</h2>\n\n<p id="live">x</p>').html


def test_swallowing_elements_are_shown_as_text():
    html = render("a <textarea> b\n\nc").html
    assert "&lt;textarea&gt;" in html
    assert "<p" in html.split("b</p>")[1]


def test_plain_text_is_escaped():
    html = render_plain("<script>alert(1)</script>\n").html
    assert html == (
        '<pre class="source"><span data-line="1">'
        "&lt;script&gt;alert(1)&lt;/script&gt;\n</span></pre>"
    )
