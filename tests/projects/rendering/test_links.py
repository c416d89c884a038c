"""Where the links and images of a document lead."""

import pytest

from projects.rendering import links
from projects.rendering.markdown import render
from tests import factories
from tests.projects.rendering.inspecting import inspect


def test_external_links_do_not_vouch_for_the_other_side():
    html = render("[x](https://example.com)").html
    assert '<a href="https://example.com" rel="noopener nofollow">x</a>' in html


def test_images_are_not_loaded():
    html = render("![Map](https://example.com/map.png) ![](pics/tide.png)").html
    assert "<img" not in html
    assert (
        '<a class="image" href="https://example.com/map.png" rel="noopener nofollow">Map</a>'
        in html
    )
    assert '<span class="image" title="pics/tide.png">tide.png</span>' in html


def test_an_image_in_a_link_is_its_words():
    html = render("[![build](https://ci.example/b.svg)](https://ci.example)").html
    assert html.count("<a ") == 1


def test_raw_images_leave_their_words():
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
def test_what_a_link_may_mean(href, paths):
    found = links.candidates(href, "ops/here.md")
    assert found[: len(paths)] == paths


@pytest.mark.parametrize("href", ["../../x.md", "../..", "a%00.md"])
def test_a_link_out_of_the_project_means_nothing(href):
    assert links.candidates(href, "ops/here.md") == []


def test_links_between_documents_lead_to_their_pages(project, django_assert_num_queries):
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


def test_a_link_does_not_lead_into_another_project(project):
    other = factories.make_project("Other")
    factories.make_document(other, "secret.md")
    html = render("[x](secret.md)", resolve=links.resolver(project, "a.md")).html
    assert "href" not in html


@pytest.mark.django_db
def test_thousands_of_links_do_not_break_the_query(project):
    text = "\n\n".join(f"[x](p{n}.md)" for n in range(9000))
    assert "missing-link" in render(text, resolve=links.resolver(project, "a.md")).html
