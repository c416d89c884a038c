"""What authors call terms themselves, by referring to a glossary."""

import pytest

from projects.intake.convert.html import to_markdown
from projects.intake.convert.rst import convert as rst
from projects.rendering.markdown import render
from projects.terms.keys import key_of
from runs.engine.terms import analyse, rank
from runs.engine.terms.markup import Mark, blocks_of
from runs.pipeline.data import Candidate, TermLists

# Said again and again, and nobody's term.
USUAL = "The weekly report names the harbour master. A harbour master signs the weekly report.\n\n"


def marked(text: str, mark: Mark) -> list[str]:
    return [
        block.text[span.start : span.end]
        for block in blocks_of(text)
        for span in block.spans
        if span.mark is mark
    ]


def ranked(text: str) -> list[Candidate]:
    return rank({1: analyse(text)}, lists=TermLists())


def keys(text: str) -> set[str]:
    return {each.key for each in ranked(text)}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A [store path](../glossary.md#gloss-store-path) is kept.", "store path"),
        ("A [store path](/docs/glossary/store-path/) is kept.", "store path"),
        ("A [store path](https://example.com/terminology#store-path).", "store path"),
        ("A [store path](reference.html#term-store-path) is kept.", "store path"),
        ("A [store path] is kept.\n\n[Store path]: ./glossary.md#store-path", "store path"),
        ("Its [place][store path].\n\n[store path]: ./glossary.md#store-path", "place"),
        ('Some {{< glossary_tooltip text="Pods" term_id="pod" >}} wait.', "Pods"),
        ('Some {{< glossary_tooltip term_id="replica-set" >}} wait.', "replica set"),
        ("It is {{Glossary('HTTP', 'the protocol')}} that counts.", "the protocol"),
        ("これは{{Glossary('CORS')}}である。", "CORS"),
        ('A <GlossaryTooltip id="a">wallet</GlossaryTooltip> is kept.', "wallet"),
        ("A {term}`wheel <whl>` is kept.", "wheel"),
        ("日本語の[用語](term:)である。", "用語"),
        ("A [Continuous Integration (CI)](glossary.md#ci) server.", "Continuous Integration"),
    ],
)
def test_references_to_a_glossary_are_marked(text, shown):
    assert marked(text, Mark.REFERENCE) == [shown]


@pytest.mark.parametrize(
    "text",
    [
        "See the [glossary](../glossary.md) or [all terms](/docs/glossary/).",
        "See [store paths](../store.md#path) and [it].\n\n[it]: ./store.md",
        "A {{< note >}} and {{ page.title }} say nothing.",
        "```\n[store path](glossary.md#store-path)\n```",
    ],
)
def test_other_links_and_macros_are_not(text):
    assert marked(text, Mark.REFERENCE) == []


@pytest.mark.parametrize(
    "reference",
    [
        '{{< glossary_tooltip\n text="Pods"\n term_id="pod" >}}',
        '<GlossaryTooltip\n id="pod"\n>pods</GlossaryTooltip>',
        "{term}`pods\n <pod>`",
        ":term:`pods\n <pod>`",
    ],
)
def test_no_line_moves(reference):
    text = f"One\n\n{reference} wait.\n\nlast **gauge**\n"
    assert [block.lines[-1] for block in blocks_of(text)][-1] == text.count("\n")


def test_what_an_author_calls_a_term_comes_before_what_is_said_often():
    text = USUAL * 5 + "It waits in the [mooring bay](glossary.md#mooring-bay).\n"
    assert ranked(text)[0].text == "mooring bay"


def test_even_if_it_is_an_everyday_word_or_no_noun():
    text = USUAL * 5 + "The [file](glossary.md#file) is [lazy](glossary.md#lazy).\n"
    first = {each.key: each.excluded_because for each in ranked(text)[:2]}
    assert first == {key_of("file"): "", key_of("lazy"): ""}


def test_even_if_it_is_a_whole_phrase_in_japanese():
    text = "報告書を毎週送る。" * 5 + "\n\n[最初のバイトまでの時間](glossary.md#ttfb)を測る。\n"
    assert ranked(text)[0].text == "最初のバイトまでの時間"


@pytest.mark.parametrize(
    "markdown",
    [
        rst(b"It waits in the :term:`mooring bays <mooring bay>` here.\n"),
        to_markdown(
            '<p>It waits in the <a href="glossary.html#MB"><em class="glossterm">mooring bays</em>'
            "</a> here.</p>"
        ),
    ],
)
def test_terms_of_other_formats_arrive_as_such(markdown):
    assert marked(markdown, Mark.REFERENCE) == ["mooring bays"]


@pytest.mark.parametrize("tag", ["<dfn>{}</dfn>", '<em class="firstterm">{}</em>'])
def test_and_so_do_those_that_are_introduced(tag):
    markdown = to_markdown(f"<p>It waits in the {tag.format('mooring bay')} here.</p>")
    assert marked(markdown, Mark.NAMED) == ["mooring bay"]
    assert key_of("mooring bay") in keys(USUAL + markdown)
    assert key_of("mooring bay") not in keys(USUAL + markdown.replace("term:new", "bay.md"))


def test_and_are_plain_words_on_a_page():
    html = render("It waits in the [mooring *bay*](term:), a [quay](term:new).").html
    assert "in the <span>mooring <em>bay</em></span>, a <span>quay</span>." in html
