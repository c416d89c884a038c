"""The lines of a document that a link leads to."""

import re

import pytest
from django.urls import reverse

from projects.choices import Source
from projects.rendering.markdown import render, render_plain
from projects.rendering.passage import Passage, passage_in
from projects.services.documents import store_document
from tests import factories

TEXT = """\
# Tides

Twice a day.

## Slack

- high
- low
  - lowest

| moon | tide |
|------|------|
| new  | big  |

```py
ebb = 1
```
"""


def marked(html: str) -> list[str]:
    """The lines that the marked blocks of a page come from."""
    blocks = re.findall(r"<[^>]*\bpassage\b[^>]*>", html)
    return [line for block in blocks for line in re.findall(r'data-line="(\d+)"', block)]


@pytest.mark.parametrize(
    ("text", "passage"),
    [
        ("12-20", Passage(12, 20)),
        ("7", Passage(7, 7)),
        ("", None),
        ("0", None),
        ("20-12", None),
        ("1-2-3", None),
        ("１", None),
        ("12-", None),
        ("9" * 30, None),
        ("<b>", None),
    ],
)
def test_an_address_names_lines_or_nothing(text, passage):
    assert passage_in(text) == passage


@pytest.mark.parametrize(
    ("lines", "blocks"),
    [
        ("1-3", ["3"]),  # the title is shown by the page itself
        ("5-7", ["5", "7"]),
        ("8", ["8"]),
        ("8-9", ["8", "9"]),
        ("13", ["13"]),
        ("16", ["15"]),  # code is one block
        ("4", []),
        ("900-901", []),
    ],
)
def test_blocks_of_these_lines_are_marked_and_no_others(lines, blocks):
    assert marked(render(TEXT, passage=passage_in(lines)).html) == blocks


def test_the_first_block_is_where_the_link_leads():
    html = render(TEXT, passage=passage_in("8-13")).html
    assert '<li data-line="8" class="passage" id="L8">' in html
    assert html.count('id="L') == 1


def test_a_heading_keeps_the_name_that_other_links_use():
    html = render(TEXT, passage=passage_in("5-8")).html
    assert 'id="slack"' in html
    assert re.search(r'<h2[^>]*class="passage"[^>]*><a id="L5"', html)


def test_a_document_cannot_name_other_places():
    text = '<p id="L3">x</p>\n\n<p id="main">y</p>\n\n<a id="q">z</a>\n\n<li id="results">w</li>\n'
    html = render(text, passage=passage_in("99")).html
    assert "id=" not in html


def test_a_text_is_marked_to_the_very_line():
    html = render_plain("one\ntwo\nthree\n\nfour\nfive\n", passage=passage_in("2-5")).html
    parts = re.findall(r'<span class="passage"( id="L2")?>([^<]*)</span>', html)
    assert parts == [(' id="L2"', "two\nthree\n\n"), ("", "four\n")]
    assert re.sub(r"<[^>]+>", "", html) == "one\ntwo\nthree\n\nfour\nfive\n"


@pytest.mark.django_db
class TestPage:
    def get(self, client, document, **query):
        return client.get(reverse("document", args=[document.project_id, document.pk]), query)

    def test_the_lines_of_an_address_are_marked(self, project, viewer, sign_in):
        document = factories.make_document(project, "tides.md", TEXT)
        client = sign_in(viewer)
        assert marked(self.get(client, document, lines="5-8").text) == ["5", "7", "8"]
        assert 'class="page-title passage"' in self.get(client, document, lines="1-3").text
        assert "passage" not in self.get(client, document, lines="x").text

    def test_says_when_the_text_is_another_by_now(self, project, viewer, sign_in):
        document = factories.make_document(project, "tides.md", TEXT)
        old = document.file_hash[:12]
        client = sign_in(viewer)
        moved = "The text has changed since it was searched"
        assert moved not in self.get(client, document, lines="5-8", hash=old).text
        store_document(
            project=project,
            path="tides.md",
            content=f"New.\n\n{TEXT}",
            source=Source.UPLOAD,
            actor=factories.OPERATOR,
        )
        page = self.get(client, document, lines="5-8", hash=old).text
        assert moved in page
        then = reverse("document-version", args=[project.pk, document.pk, 1])
        assert f'href="{then}?lines=5-8#L5"' in page
        assert marked(client.get(then, {"lines": "5-8"}).text) == ["5", "7", "8"]
        for nonsense in ("zz", "0" * 12, "0" * 65, "\0"):
            assert moved not in self.get(client, document, lines="5-8", hash=nonsense).text
