"""Laying out takes a bounded time, whatever the text."""

import re
import time

import pytest

from projects.rendering import budget, links
from projects.rendering.markdown import render
from tests.projects.rendering.inspecting import inspect

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


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_a_bounded_time(name, monkeypatch):
    monkeypatch.setattr(budget, "SECONDS", 1.0)
    started = time.thread_time()
    html = render(HOSTILE[name]).html
    # Generous: without the bounds most of these take minutes.
    assert time.thread_time() - started < 10
    inspect(html)


def test_a_long_row_of_accents_in_a_link_takes_no_time():
    started = time.thread_time()
    links.candidates("a" + "%CC%81%CC%96" * 40_000, "a.md")
    assert time.thread_time() - started < 1


def test_a_deep_list_in_the_front_matter_is_shown():
    deep = "[" * 3000 + "a" + "]" * 3000
    assert render(f"---\nkey: {deep}\n---\ntext").meta == [("key", deep[1:-1])]


def test_a_megabyte_of_prose_is_laid_out(monkeypatch):
    monkeypatch.setattr(budget, "SECONDS", 30.0)  # the tests may run on a slow machine
    prose = "Some **words** and [a link](x.md), 日本語の文章もある。" * 10
    text = f"## Heading\n\n{prose}\n\n- one\n- two\n\n" * 5000
    rendered = render(text[:1_000_000])
    assert not rendered.over_budget
    assert len(rendered.toc) > 2000


def test_a_document_over_its_time_is_shown_as_written(monkeypatch):
    monkeypatch.setattr(budget, "SECONDS", 0.0)
    rendered = render("# Title\n\n**text**")
    assert rendered.over_budget
    assert "**text**" in rendered.html


def test_what_is_too_long_is_shown_as_written():
    rendered = render("# x\n" * 60_000)
    assert rendered.over_budget
    assert rendered.html.startswith('<pre class="source">')


def test_a_text_of_too_many_characters_is_shown_as_written():
    assert render("word " * 500_000).over_budget


@pytest.mark.parametrize(
    "piece",
    [
        # A browser's parser would open every <b> again in every paragraph.
        "<p>" + "".join(f"<b title={n}>" for n in range(30)) + "</p><p>x</p>",
        "<p>" + "word " * 11_000 + "</p>",
    ],
)
def test_html_that_asks_for_too_much_is_shown_as_written(piece):
    html = render(f"<div>{piece}</div>\n\n**bold**").html
    assert "&lt;div&gt;&lt;p&gt;" in html
    assert "<strong>bold</strong>" in html


def test_details_that_are_never_closed_do_not_nest_without_end():
    html = render("<details>\n\n" * 100).html
    assert html.count("<details>") == html.count("</details>") == 100
    assert "<details>" * 30 not in re.sub(r"\s", "", html)


def test_a_paragraph_of_nothing_but_marks_is_shown_as_written():
    html = render("*a" * 6000 + "\n\n**bold**").html
    assert "<em>" not in html
    assert "<strong>bold</strong>" in html
