import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test import override_settings
from rest_framework.test import APIClient

from glossary_site.live.models import Event
from glossary_site.people.services import create_token
from projects.choices import Format, Source
from projects.models import Document, DocumentVersion
from tests.factories import make_document, make_project


@pytest.fixture
def url(project):
    return f"/api/projects/{project.pk}/documents"


def paths(response):
    assert response.status_code == 200, response.json()
    return [row["path"] for row in response.json()["results"]]


def test_the_list_has_everything_but_the_text(as_viewer, project, url):
    document = make_document(project, "guide/intro.md", "# Intro\n")
    (row,) = as_viewer.get(url).json()["results"]
    assert row == {
        "id": document.pk,
        "path": "guide/intro.md",
        "title": document.title,
        "format": "markdown",
        "source": "upload",
        "version": 1,
        "file_hash": hashlib.sha256(b"# Intro\n").hexdigest(),
        "size": 8,
        "created": document.created_at.isoformat().replace("+00:00", "Z"),
        "changed": document.updated_at.isoformat().replace("+00:00", "Z"),
    }


def test_filters(as_viewer, project, url):
    make_document(project, "guide/intro.md")
    make_document(project, "Guide/other.md")
    make_document(project, "運用/点検.md")
    pdf = make_document(project, "report.pdf")
    Document.objects.filter(pk=pdf.pk).update(
        title="Yearly",
        format=Format.PDF,
        source=Source.FOLDER,
        updated_at=datetime(2020, 5, 1, tzinfo=UTC),
    )
    make_document(make_project("Other"), "guide/foreign.md")
    assert paths(as_viewer.get(f"{url}?q=INTRO")) == ["guide/intro.md"]
    assert paths(as_viewer.get(f"{url}?q=yearly")) == ["report.pdf"]
    assert paths(as_viewer.get(f"{url}?path=guide/")) == ["guide/intro.md"]
    assert paths(as_viewer.get(f"{url}?path=%E9%81%8B")) == ["運用/点検.md"]
    assert paths(as_viewer.get(f"{url}?path=gu%25")) == []
    assert paths(as_viewer.get(f"{url}?format=pdf")) == ["report.pdf"]
    assert paths(as_viewer.get(f"{url}?source=folder")) == ["report.pdf"]
    assert paths(as_viewer.get(f"{url}?changed_before=2020-05-02T00:00:00Z")) == ["report.pdf"]
    assert len(paths(as_viewer.get(f"{url}?changed_after=2020-05-02T00:00:00Z"))) == 3
    assert paths(as_viewer.get(f"{url}?changed_after=2020-04-30&changed_before=2020-05-02")) == [
        "report.pdf"
    ]


def test_a_decomposed_prefix_finds_the_composed_path(as_viewer, project, url):
    make_document(project, "caf\u00e9/menu.md")
    assert len(paths(as_viewer.get(url, {"path": "cafe\u0301/"}))) == 1


@pytest.mark.parametrize(
    "query",
    [
        "format=tiff",
        "source=dream",
        "changed_after=yesterday",
        "changed_after=0001-01-01T00:00:00%2B14:00",
        "changed_before=9999-12-31T23:59:59-14:00",
        "q=%00",
        "path=a%00b",
        "ordering=content",
        "ordering=path,size",
    ],
)
def test_a_wrong_filter_is_refused(as_viewer, url, query):
    response = as_viewer.get(f"{url}?{query}")
    assert response.status_code == 400
    assert response.json()["code"] == "invalid"


@pytest.mark.parametrize(
    ("ordering", "expected"),
    [
        ("path", "abc"),
        ("-path", "cba"),
        ("size", "cab"),
        ("-size", "bac"),
        ("changed", "bca"),
        ("-changed", "acb"),
    ],
)
def test_ordering(as_viewer, project, url, ordering, expected):
    for path, size, day in (("a", 2, 3), ("b", 3, 1), ("c", 1, 2)):
        document = make_document(project, path, "x" * size)
        Document.objects.filter(pk=document.pk).update(
            updated_at=datetime(2024, 1, day, tzinfo=UTC)
        )
    assert "".join(paths(as_viewer.get(f"{url}?ordering={ordering}"))) == expected


@pytest.mark.parametrize("amount", [5, 50])
def test_the_list_takes_the_same_few_queries(
    as_viewer, project, url, amount, django_assert_max_num_queries
):
    for _each in range(amount):
        make_document(project)
    as_viewer.get(url)
    with django_assert_max_num_queries(6):
        assert len(as_viewer.get(url).json()["results"]) == amount


def test_hand_in_a_text_then_the_same_then_another(as_editor, project, url, editor):
    first = as_editor.post(url, {"path": "notes/a.md", "content": "# One\r\n\rText"})
    assert first.status_code == 201
    body = first.json()
    assert (body["outcome"], body["version"], body["source"]) == ("created", 1, "api")
    document = Document.objects.get(pk=body["id"])
    assert document.project == project
    assert (document.path, document.content) == ("notes/a.md", "# One\n\nText")

    same = as_editor.post(url, {"path": "./notes//a.md", "content": "\ufeff# One\n\nText"})
    assert same.status_code == 200
    assert (same.json()["outcome"], same.json()["version"]) == ("unchanged", 1)

    other = as_editor.post(url, {"path": "notes/a.md", "content": "# Two\n"})
    assert other.status_code == 200
    assert (other.json()["outcome"], other.json()["version"]) == ("updated", 2)
    assert other.json()["id"] == document.pk
    newest = DocumentVersion.objects.get(document=document, number=2)
    assert (newest.content, newest.author) == ("# Two\n", editor)
    assert Event.objects.filter(type="documents.stored").count() == 2


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"path": "../etc/passwd", "content": "x"}, 400, "path_parent"),
        ({"path": "/etc/passwd", "content": "x"}, 400, "path_absolute"),
        ({"path": "a\u202eb.md", "content": "x"}, 400, "path_hidden_characters"),
        ({"path": "a\0.md", "content": "x"}, 400, "path_hidden_characters"),
        ({"path": ".env", "content": "x"}, 400, "path_secret"),
        ({"path": "", "content": "x"}, 400, "path_empty"),
        ({"path": "x" * 1001, "content": "x"}, 400, "path_too_long"),
        ({"path": "a.md", "content": "nul \0"}, 400, "binary_content"),
        ({"path": "a.md", "content": " \n"}, 400, "file_empty"),
        ({"path": "a.md"}, 400, "invalid"),
        ({"content": "x"}, 400, "invalid"),
        ({"path": "a.md", "content": None}, 400, "invalid"),
        ({"path": ["a.md"], "content": "x"}, 400, "invalid"),
        ([], 400, "invalid"),
    ],
)
def test_a_text_that_cannot_go_in(as_editor, url, body, status, code):
    response = as_editor.post(url, body)
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response.json()["detail"]
    assert not Document.objects.exists()


@override_settings(MAX_FILE_BYTES=10)
def test_a_text_larger_than_a_file_may_be(as_editor, url):
    assert as_editor.post(url, {"path": "a.md", "content": "x" * 10}).status_code == 201
    response = as_editor.post(url, {"path": "b.md", "content": "あ" * 4})
    assert (response.status_code, response.json()["code"]) == (413, "file_too_large")
    assert "10 bytes" in response.json()["detail"]


def test_half_a_surrogate_pair_is_no_text(as_editor, url):
    for body in (r'{"path": "a.md", "content": "\ud83d"}', r'{"\udead": 1}', r'["\uDEAD"]'):
        response = as_editor.generic("POST", url, body, content_type="application/json")
        assert (response.status_code, response.json()["code"]) == (400, "parse_error")
    pair = r'{"path": "a.md", "content": "\ud83d\ude00"}'
    response = as_editor.generic("POST", url, pair, content_type="application/json")
    assert response.status_code == 201
    assert Document.objects.get().content == "😀"


def test_read_one_with_its_text(as_viewer, project, url):
    document = make_document(project, "a.md", "# あ\n")
    body = as_viewer.get(f"{url}/{document.pk}").json()
    assert (body["path"], body["content"], body["size"]) == ("a.md", "# あ\n", 6)


def test_rename_keeps_text_and_history(as_editor, project, url):
    document = make_document(project, "a.md", "text")
    response = as_editor.patch(f"{url}/{document.pk}", {"path": "b/c.md"})
    assert response.status_code == 200
    assert (response.json()["path"], response.json()["outcome"]) == ("b/c.md", "unchanged")
    document.refresh_from_db()
    assert (document.path, document.content, document.version) == ("b/c.md", "text", 1)


def test_a_new_text_is_a_new_version(as_editor, project, url):
    document = make_document(project, "a.md", "text")
    response = as_editor.patch(f"{url}/{document.pk}", {"content": "other"})
    assert response.status_code == 200
    assert (response.json()["outcome"], response.json()["version"]) == ("updated", 2)
    document.refresh_from_db()
    assert (document.content, document.source) == ("other", Source.API)


def test_rename_and_rewrite_at_once(as_editor, project, url):
    document = make_document(project, "a.md", "text")
    body = as_editor.patch(f"{url}/{document.pk}", {"path": "b.md", "content": "other"}).json()
    assert (body["id"], body["path"], body["version"]) == (document.pk, "b.md", 2)
    assert list(Document.objects.values_list("path", "content")) == [("b.md", "other")]


def test_a_change_that_half_fails_changes_nothing(as_editor, project, url):
    document = make_document(project, "a.md", "text")
    response = as_editor.patch(f"{url}/{document.pk}", {"path": "b.md", "content": "\x01"})
    assert (response.status_code, response.json()["code"]) == (400, "binary_content")
    document.refresh_from_db()
    assert document.path == "a.md"


def test_rename_onto_another_document_is_a_conflict(as_editor, project, url):
    document = make_document(project, "a.md", "text")
    make_document(project, "b.md")
    response = as_editor.patch(f"{url}/{document.pk}", {"path": "b.md", "content": "x"})
    assert (response.status_code, response.json()["code"]) == (409, "document_path_taken")
    document.refresh_from_db()
    assert (document.path, document.content) == ("a.md", "text")
    response = as_editor.patch(f"{url}/{document.pk}", {"path": "../b.md"})
    assert (response.status_code, response.json()["code"]) == (400, "path_parent")


@pytest.mark.django_db(transaction=True)
def test_renames_and_new_texts_at_once_leave_one_document(project, editor, url):
    document = make_document(project, "0.md", "text")
    _token, secret = create_token(user=editor, name="racers")

    def change(body):
        try:
            response = APIClient().patch(
                f"{url}/{document.pk}",
                body,
                format="json",
                headers={"Authorization": f"Bearer {secret}"},
            )
            return response.status_code
        finally:
            connection.close()

    bodies = [{"path": f"{n}.md"} if n % 2 else {"content": f"text {n}"} for n in range(1, 21)]
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(change, bodies)) == {200}
    document.refresh_from_db()
    assert (Document.objects.count(), document.version) == (1, 11)


def test_delete(as_editor, project, url):
    document = make_document(project)
    kept = make_document(project)
    response = as_editor.delete(f"{url}/{document.pk}")
    assert (response.status_code, response.content) == (204, b"")
    assert list(Document.objects.all()) == [kept]
    assert as_editor.delete(f"{url}/{document.pk}").status_code == 404


@pytest.mark.parametrize("method", ["get", "patch", "delete"])
def test_a_document_of_another_project_is_not_found(as_editor, url, method):
    foreign = make_document(make_project("Other"))
    for number in (foreign.pk, 0, 2**63 - 1, 2**63, 9**40):
        response = getattr(as_editor, method)(f"{url}/{number}")
        assert (response.status_code, response.json()["code"]) == (404, "not_found")
    assert Document.objects.filter(pk=foreign.pk).exists()


def test_download_is_an_attachment_that_is_asked_for_again_only_when_changed(
    as_viewer, project, url
):
    document = make_document(project, "運用/点検 手順.md", "# 点検\n<script>alert(1)</script>\n")
    response = as_viewer.get(f"{url}/{document.pk}/content")
    assert response.status_code == 200
    assert response.content.decode() == document.content
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert response["Content-Disposition"].startswith("attachment; filename*=utf-8''%E7%82%B9")
    assert response["X-Content-Type-Options"] == "nosniff"
    etag = response["ETag"]
    assert etag == f'"{document.file_hash}"'

    again = as_viewer.get(f"{url}/{document.pk}/content", headers={"If-None-Match": etag})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)
    make_document(project, document.path, "new")
    again = as_viewer.get(f"{url}/{document.pk}/content", headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (200, b"new")
    failed = as_viewer.get(f"{url}/{document.pk}/content", headers={"If-Match": etag})
    assert (failed.status_code, failed.json()["code"]) == (412, "precondition_failed")


def test_the_text_of_a_pdf_is_downloaded_as_markdown(as_viewer, project, url):
    document = make_document(project, "report.pdf")
    response = as_viewer.get(f"{url}/{document.pk}/content")
    assert response["Content-Disposition"] == 'attachment; filename="report.pdf.md"'


def test_many_at_once_each_judged_alone(as_editor, project, url):
    make_document(project, "same.md", "same")
    make_document(project, "old.md", "old")
    bodies = {
        "new.md": "new",
        "../up.md": "x",
        "same.md": "same",
        "old.md": "new",
        ".env": "KEY=1",
        "bad\u200b.md": "x",
        "zero.md": "\0",
    }
    documents = [{"path": path, "content": content} for path, content in bodies.items()]
    response = as_editor.post(f"{url}/bulk", {"documents": documents})
    assert response.status_code == 200
    body = response.json()
    assert [(row["path"], row["outcome"], row["code"]) for row in body["results"]] == [
        ("new.md", "created", None),
        ("../up.md", "refused", "path_parent"),
        ("same.md", "unchanged", None),
        ("old.md", "updated", None),
        (".env", "refused", "path_secret"),
        ("bad<U+200B>.md", "refused", "path_hidden_characters"),
        ("zero.md", "refused", "binary_content"),
    ]
    assert {key: body[key] for key in ("created", "updated", "unchanged", "refused")} == {
        "created": 1,
        "updated": 1,
        "unchanged": 1,
        "refused": 4,
    }
    for row in body["results"]:
        if row["outcome"] == "refused":
            assert (row["document"], row["version"]) == (None, None)
            assert row["detail"]
        else:
            document = Document.objects.get(path=row["path"])
            assert (row["document"], row["version"]) == (document.pk, document.version)
    assert Document.objects.count() == 3


def test_one_path_twice_is_two_versions(as_editor, url):
    documents = [{"path": "a.md", "content": text} for text in ("one", "two")]
    body = as_editor.post(f"{url}/bulk", {"documents": documents}).json()
    assert [(row["outcome"], row["version"]) for row in body["results"]] == [
        ("created", 1),
        ("updated", 2),
    ]
    assert Document.objects.get().content == "two"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"documents": []},
        {"documents": {}},
        {"documents": ["x"]},
        {"documents": [{"path": "a.md"}]},
        {"documents": [{"path": "a.md", "content": "x"}] * 1001},
    ],
)
def test_a_malformed_batch_stores_nothing(as_editor, url, body):
    response = as_editor.post(f"{url}/bulk", body)
    assert (response.status_code, response.json()["code"]) == (400, "invalid")
    assert "documents" in response.json()["fields"]
    assert not Document.objects.exists()


@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=1000)
def test_a_body_beyond_the_limit_is_too_large(as_editor, url):
    body = json.dumps({"path": "a.md", "content": "x" * 1000})
    response = as_editor.generic("POST", url, body, content_type="application/json")
    assert (response.status_code, response.json()["code"]) == (413, "too_large")
