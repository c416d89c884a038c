"""The pages of documents: the list, the reader, the history, and what can be done to them."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from projects.choices import Source
from projects.models import Document
from projects.services.documents import store_document
from tests import factories

pytestmark = pytest.mark.django_db


def page(client, name: str, *args, **query) -> str:
    response = client.get(reverse(name, args=args), query)
    assert response.status_code == 200
    return response.content.decode()


def rewrite(document: Document, content: str, actor=None) -> Document:
    store_document(
        project=document.project,
        path=document.path,
        content=content,
        source=Source.UPLOAD,
        actor=actor or factories.OPERATOR,
    )
    return Document.objects.get(pk=document.pk)


@pytest.fixture
def document(project):
    return factories.make_document(project, "ops/handover.md", "# Handover\n\nFive lines.\n")


@pytest.fixture
def reading(sign_in, viewer):
    """A client that may look and no more."""
    return sign_in(viewer)


@pytest.fixture
def editing(sign_in, editor):
    return sign_in(editor)


class TestList:
    def test_an_empty_project_says_what_to_do_next(self, editing, reading, project):
        add = reverse("document-add", args=[project.pk])
        assert add in page(editing, "document-list", project.pk)
        html = page(reading, "document-list", project.pk)
        assert "No documents yet" in html
        assert add not in html

    def test_what_a_row_shows(self, reading, project, document):
        rewrite(document, "# Watch handover\n")
        html = page(reading, "document-list", project.pk)
        assert '<span class="folder">ops/</span>handover.md' in html
        assert "Watch handover" in html
        assert reverse("document-history", args=[project.pk, document.pk]) in html

    def test_the_filter_looks_at_path_and_title(self, reading, project, document):
        factories.make_document(project, "tides.md", "# Slack water\n")
        assert "handover.md" not in page(reading, "document-list", project.pk, q="slack")
        assert "handover.md" in page(reading, "document-list", project.pk, q="OPS/")
        assert "No document matches" in page(reading, "document-list", project.pk, q="nowhere")

    @pytest.mark.parametrize("query", ["\0", "%", "_", "'", "\\", "あ"])
    def test_odd_filters_are_only_words(self, reading, project, document, query):
        page(reading, "document-list", project.pk, q=query)

    @pytest.mark.parametrize("sort", ["path", "title", "size", "versions", "source", "changed"])
    def test_every_column_sorts_both_ways(self, reading, project, sort):
        for n, source in enumerate([Source.API, Source.PASTE, Source.UPLOAD]):
            document = factories.make_document(project, f"{n}.md", "x" * (3 - n) + "\n")
            Document.objects.filter(pk=document.pk).update(source=source, version=n + 1)
        up = page(reading, "document-list", project.pk, sort=sort)
        down = page(reading, "document-list", project.pk, sort=f"-{sort}")
        names = r"data-row-link>.*?(\d)\.md"
        assert re.findall(names, up) == re.findall(names, down)[::-1]

    def test_pages_of_fifty(self, reading, project):
        for n in range(60):
            factories.make_document(project, f"{n:02}.md", f"{n}\n")
        assert page(reading, "document-list", project.pk).count("data-row-link") == 50
        assert page(reading, "document-list", project.pk, page=2).count("data-row-link") == 10

    def test_htmx_gets_the_same_part_alone(self, reading, project, document):
        response = reading.get(
            reverse("document-list", args=[project.pk]), headers={"HX-Request": "true"}
        )
        part = response.content.decode()
        assert part.startswith('<div id="results"')
        assert "<html" not in part
        assert 'hx-trigger="live:documents from:body' in part
        rows = r"<tbody>.*</tbody>"
        whole = page(reading, "document-list", project.pk)
        assert re.search(rows, part, re.S)[0] == re.search(rows, whole, re.S)[0]

    def test_the_number_of_queries_does_not_grow(self, editing, project):
        def queries() -> int:
            with CaptureQueriesContext(connection) as captured:
                page(editing, "document-list", project.pk)
            return len(captured)

        for n in range(5):
            factories.make_document(project, f"{n}.md", f"{n}\n")
        page(editing, "document-list", project.pk)
        few = queries()
        for n in range(5, 50):
            factories.make_document(project, f"{n}.md", f"{n}\n")
        assert queries() == few <= 14

    def test_the_list_does_not_read_the_texts(self, reading, project, document):
        with CaptureQueriesContext(connection) as captured:
            page(reading, "document-list", project.pk)
        assert not any('"content"' in query["sql"] for query in captured)

    def test_viewers_see_no_controls(self, reading, editing, project, document):
        assert 'name="ids"' in page(editing, "document-list", project.pk)
        html = page(reading, "document-list", project.pk)
        assert 'name="ids"' not in html
        assert reverse("documents-delete", args=[project.pk]) not in html


class TestReader:
    def test_the_text_is_laid_out_with_contents(self, reading, project):
        text = "# Tides\n\nSee **slack water**.\n\n## 憩流\n\n### Gap\n"
        document = factories.make_document(project, "a/tides.md", text)
        html = page(reading, "document", project.pk, document.pk)
        assert '<h1 class="page-title" id="tides" data-line="1" lang="en">Tides</h1>' in html
        assert "<strong>slack water</strong>" in html
        assert 'href="#%E6%86%A9%E6%B5%81">憩流</a><ul>' in html
        assert '<h2 id="憩流" data-line="5">憩流</h2>' in html

    def test_no_script_survives(self, reading, project):
        text = (
            "# <script>alert(1)</script>\n\n<script>alert(2)</script><img src=x onerror=alert(3)>"
        )
        document = factories.make_document(project, "x.md", text)
        html = page(reading, "document", project.pk, document.pk)
        assert "<script>" not in html
        assert "onerror" not in html

    def test_facts(self, reading, project, document, editor):
        document = rewrite(document, "# Handover\n\nSix lines.\n", actor=editor)
        html = page(reading, "document", project.pk, document.pk)
        assert "Version 2" in html
        assert "edda" in html
        assert f'title="SHA-256 {document.file_hash}"' in html

    def test_neighbours_follow_the_order_of_paths(self, reading, project):
        first, second, third = (factories.make_document(project, f"{n}.md") for n in "abc")
        html = page(reading, "document", project.pk, second.pk)
        assert f'href="{first.get_absolute_url()}" rel="prev"' in html
        assert f'href="{third.get_absolute_url()}" rel="next"' in html
        assert 'rel="prev"' not in page(reading, "document", project.pk, first.pk)

    def test_links_lead_to_other_documents(self, reading, project, document):
        linking = factories.make_document(
            project, "start.md", "[there](ops/handover.md#a) [gone](nowhere.md)"
        )
        html = page(reading, "document", project.pk, linking.pk)
        assert f'href="{document.get_absolute_url()}#a"' in html
        assert 'class="missing-link"' in html

    def test_queries_do_not_grow_with_links(self, reading, project):
        def queries(document) -> int:
            with CaptureQueriesContext(connection) as captured:
                page(reading, "document", project.pk, document.pk)
            return len(captured)

        for n in range(30):
            factories.make_document(project, f"{n}.md", f"{n}\n")
        one = factories.make_document(project, "x1.md", "[a](1.md)")
        many = factories.make_document(
            project, "x2.md", "".join(f"[{n}]({n}.md) " for n in range(30))
        )
        assert queries(one) == queries(many) <= 18

    def test_plain_text_is_shown_as_written(self, sign_in, editor, project):
        client = sign_in(editor)
        client.post(
            reverse("document-paste", args=[project.pk]),
            {"path": "a.txt", "text": "# not a heading\n  <b>indented</b>\n"},
        )
        document = project.documents.get()
        html = page(client, "document", project.pk, document.pk)
        assert '<pre class="source">' in html
        assert "# not a heading\n  &lt;b&gt;indented&lt;/b&gt;" in html

    def test_a_document_without_a_heading_has_its_title(self, reading, project):
        document = factories.make_document(project, "notes.md", "text\n")
        html = page(reading, "document", project.pk, document.pk)
        assert re.search(r"<h1[^>]*>notes</h1>", html)

    @pytest.mark.parametrize(
        ("text", "language"),
        [("潮の流れが止まる時刻です。", "ja"), ("Slack water is short.", "en"), ("1234 5678", "")],
    )
    def test_the_language_is_told(self, reading, project, text, language):
        document = factories.make_document(project, "a.md", text)
        html = page(reading, "document", project.pk, document.pk)
        assert f'<article class="prose" lang="{language}"' in html

    def test_long_contents_are_shortened(self, reading, project):
        text = "".join(f"## {n}\n\n### {n} a\n\n" for n in range(150))
        document = factories.make_document(project, "a.md", text)
        html = page(reading, "document", project.pk, document.pk)
        assert html.count('<a href="#') < 2 * 160

    def test_viewers_see_no_controls(self, reading, editing, project, document):
        urls = [
            reverse(f"document-{n}", args=[project.pk, document.pk]) for n in ("rename", "delete")
        ]
        html = page(editing, "document", project.pk, document.pk)
        assert all(url in html for url in urls)
        html = page(reading, "document", project.pk, document.pk)
        assert not any(url in html for url in urls)

    def test_an_open_page_is_told_of_a_new_version(self, reading, project, document):
        def news() -> str:
            response = reading.get(
                reverse("document", args=[project.pk, document.pk]),
                {"seen": "1"},
                headers={"HX-Request": "true"},
            )
            return response.content.decode()

        assert "has changed" not in news()
        rewrite(document, "new\n")
        assert "has changed" in news()
        document.delete()
        document.pk = project.documents.model.objects.count() + 1
        assert "was deleted" in news()

    def test_a_document_belongs_to_its_project(self, sign_in, owner, document):
        other = factories.make_project(owner=owner)
        client = sign_in(owner)
        for name in ("document", "document-raw", "document-history", "document-diff"):
            assert client.get(reverse(name, args=[other.pk, document.pk])).status_code == 404


class TestDownload:
    def test_it_is_a_file_and_never_a_page(self, reading, project, document):
        response = reading.get(reverse("document-raw", args=[project.pk, document.pk]))
        assert response.content == document.content.encode()
        assert response["Content-Type"] == "text/markdown; charset=utf-8"
        assert response["Content-Disposition"] == 'attachment; filename="handover.md"'
        assert response["X-Content-Type-Options"] == "nosniff"

    def test_a_japanese_name(self, reading, project):
        document = factories.make_document(project, "運用/点検 手順.md")
        response = reading.get(reverse("document-raw", args=[project.pk, document.pk]))
        assert response["Content-Disposition"].startswith("attachment; filename*=utf-8''%E7%82%B9")

    @pytest.mark.parametrize(
        ("format", "name", "kind"),
        [("text", "a.txt", "text/plain"), ("html", "a.txt.md", "text/markdown")],
    )
    def test_the_type_follows_the_format(self, reading, project, format, name, kind):
        document = factories.make_document(project, "a.txt", "<script>alert(1)</script>")
        Document.objects.filter(pk=document.pk).update(format=format)
        response = reading.get(reverse("document-raw", args=[project.pk, document.pk]))
        assert response["Content-Type"] == f"{kind}; charset=utf-8"
        assert f'filename="{name}"' in response["Content-Disposition"]

    def test_an_earlier_version(self, reading, project, document):
        rewrite(document, "new\n")
        url = reverse("document-raw", args=[project.pk, document.pk])
        assert reading.get(url, {"version": "1"}).content == document.content.encode()
        assert reading.get(url).content == b"new\n"

    @pytest.mark.parametrize("number", ["0", "3", "x", "-1", "9" * 30, "9" * 5000, "１"])
    def test_a_version_that_never_was(self, reading, project, document, number):
        url = reverse("document-raw", args=[project.pk, document.pk])
        assert reading.get(url, {"version": number}).status_code == 404


class TestRename:
    def url(self, document) -> str:
        return reverse("document-rename", args=[document.project_id, document.pk])

    def test_a_new_path(self, editing, document):
        response = editing.post(self.url(document), {"path": "watch/handover.md"})
        assert response.url == document.get_absolute_url()
        document.refresh_from_db()
        assert document.path == "watch/handover.md"

    @pytest.mark.parametrize("path", ["", "../x.md", "/x.md", "taken.md", "a\u202eb.md", ".env"])
    def test_a_mistake_is_told_beside_the_field(self, editing, project, document, path):
        factories.make_document(project, "taken.md")
        response = editing.post(self.url(document), {"path": path})
        assert response.status_code == 422
        assert "field-error" in response.content.decode()
        document.refresh_from_db()
        assert document.path == "ops/handover.md"

    def test_the_page_alone(self, editing, document):
        assert 'value="ops/handover.md"' in editing.get(self.url(document)).content.decode()

    def test_a_viewer_may_not(self, reading, document):
        assert reading.get(self.url(document)).status_code == 403
        assert reading.post(self.url(document), {"path": "x.md"}).status_code == 403


class TestDelete:
    def test_one_document_after_a_question_that_names_it(self, editing, project, document):
        url = reverse("document-delete", args=[project.pk, document.pk])
        html = editing.get(url).content.decode()
        assert "Delete this document?" in html
        assert "ops/handover.md" in html
        assert project.documents.exists()
        assert editing.post(url).url == reverse("document-list", args=[project.pk])
        assert not project.documents.exists()

    @pytest.mark.parametrize("number", ["x", "-1", "9" * 30, "9" * 5000])
    def test_numbers_that_no_document_has_are_passed_over(self, editing, project, document, number):
        url = reverse("documents-delete", args=[project.pk])
        html = editing.get(url, {"ids": [number, document.pk]}).content.decode()
        assert "ops/handover.md" in html
        assert editing.post(url, {"ids": [number]}).status_code == 302
        assert project.documents.exists()

    def test_several_after_a_question_that_names_them(self, editing, project):
        documents = [factories.make_document(project, f"{n:02}.md") for n in range(25)]
        kept = factories.make_document(project, "kept.md")
        url = reverse("documents-delete", args=[project.pk])
        ids = [document.pk for document in documents]
        html = editing.get(url, {"ids": ids}).content.decode()
        assert "Delete these 25 documents?" in html
        assert "and 5 more" in html
        assert html.count('type="hidden" name="ids"') == 25
        editing.post(url, {"ids": ids})
        assert list(project.documents.all()) == [kept]

    @pytest.mark.parametrize("ids", [[], ["x"], ["9" * 40], ["-1"], ["１"], ["0"]])
    def test_nothing_chosen(self, editing, project, document, ids):
        url = reverse("documents-delete", args=[project.pk])
        response = editing.get(url, {"ids": ids}, follow=True)
        assert "Choose the documents to delete first." in response.content.decode()
        assert editing.post(url, {"ids": ids}).status_code == 302
        assert project.documents.exists()

    def test_documents_of_other_projects_are_safe(self, editing, project, document):
        other = factories.make_document(factories.make_project())
        editing.post(reverse("documents-delete", args=[project.pk]), {"ids": [other.pk]})
        assert Document.objects.filter(pk=other.pk).exists()

    def test_a_viewer_may_not(self, reading, project, document):
        one = reverse("document-delete", args=[project.pk, document.pk])
        several = reverse("documents-delete", args=[project.pk])
        for url in (one, several):
            assert reading.get(url).status_code == 403
            assert reading.post(url, {"ids": [document.pk]}).status_code == 403
        assert project.documents.exists()


class TestHistory:
    def test_versions_with_what_is_known_of_each(self, reading, project, document, editor):
        document = rewrite(document, "# Handover\n\nFive lines, spoken.\n", actor=editor)
        html = page(reading, "document-history", project.pk, document.pk)
        assert html.index("Version 2</a>") < html.index("Version 1</a>")
        assert "edda" in html
        assert document.file_hash[:10] in html
        assert "(+8\xa0bytes)" in html
        assert f"{reverse('document-diff', args=[project.pk, document.pk])}?from=1&amp;to=2" in html

    def test_the_newest_two_are_chosen_to_compare(self, reading, project, document):
        for n in range(3):
            document = rewrite(document, f"{n}\n")
        html = page(reading, "document-history", project.pk, document.pk)
        assert re.search(r'name="to" value="4"[^>]* checked', html)
        assert re.search(r'name="from" value="3"[^>]* checked', html)

    def test_a_single_version_has_nothing_to_compare(self, reading, project, document):
        html = page(reading, "document-history", project.pk, document.pk)
        assert "There is one version so far" in html
        assert 'type="radio"' not in html

    def test_the_number_of_queries_does_not_grow(self, reading, project, document, editor):
        def queries() -> int:
            with CaptureQueriesContext(connection) as captured:
                page(reading, "document-history", project.pk, document.pk)
            assert not any(
                '"projects_documentversion"."content"' in query["sql"] for query in captured
            )
            return len(captured)

        rewrite(document, "two\n", actor=editor)
        few = queries()
        for n in range(20):
            rewrite(document, f"{n}\n", actor=editor)
        assert queries() == few

    def test_an_earlier_version_is_shown_as_such(self, reading, project, document):
        rewrite(document, "# New\n")
        html = page(reading, "document-version", project.pk, document.pk, 1)
        assert "Five lines." in html
        assert "This is version 1 of 2" in html
        html = page(reading, "document-version", project.pk, document.pk, 2)
        assert "not the present text" not in html

    @pytest.mark.parametrize("number", [0, 2, 10**12])
    def test_a_version_that_never_was(self, reading, project, document, number):
        url = reverse("document-version", args=[project.pk, document.pk, number])
        assert reading.get(url).status_code == 404


class TestDiffPage:
    def test_what_changed_last(self, reading, project, document):
        document = rewrite(document, "# Handover\n\nThere are five lines to say.\n")
        rewrite(document, "# Handover\n\nThere are <b>six</b> lines to say.\n")
        html = page(reading, "document-diff", project.pk, document.pk)
        assert "Changes from version 2 to 3" in html
        assert "There are <del>five</del> lines to say." in html
        assert "There are <ins>&lt;b&gt;six&lt;/b&gt;</ins> lines to say." in html
        assert "1 line added" in html
        assert "1 line removed" in html

    def test_any_two_in_either_order(self, reading, project, document):
        for text in ("two\n", "three\n"):
            document = rewrite(document, text)
        first = page(reading, "document-diff", project.pk, document.pk, **{"from": 3, "to": 1})
        second = page(reading, "document-diff", project.pk, document.pk, **{"from": 1, "to": 3})
        table = re.compile(r"<tbody>.*</tbody>", re.S)
        assert table.search(first)[0] == table.search(second)[0]
        assert "three" in first
        assert "two" not in table.search(first)[0]

    def test_no_change(self, reading, project, document):
        first = document.content
        rewrite(document, "two\n")
        rewrite(document, first)
        html = page(reading, "document-diff", project.pk, document.pk, **{"from": 1, "to": 3})
        assert "Both versions have the same text." in html

    def test_one_version_only(self, reading, project, document):
        html = page(reading, "document-diff", project.pk, document.pk)
        assert "There is nothing to compare it with" in html

    @pytest.mark.parametrize("value", ["x", "0", "99", "9" * 40, "-1", ""])
    def test_odd_numbers_show_the_last_change(self, reading, project, document, value):
        rewrite(document, "two\n")
        html = page(
            reading, "document-diff", project.pk, document.pk, **{"from": value, "to": value}
        )
        assert "Changes from version 1 to 2" in html
