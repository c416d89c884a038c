"""Files sent as a form: many at once, with or without paths, good and bad together."""

import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings

from projects.choices import Source
from projects.models import Document


@pytest.fixture
def url(project):
    return f"/api/projects/{project.pk}/documents"


def file(name, data=b"# Text\n"):
    return SimpleUploadedFile(name, data)


def send(client, url, files, paths=()):
    form = {"files": files, **({"paths": list(paths)} if paths else {})}
    return client.post(url, form, format="multipart")


def outcomes(response):
    assert response.status_code == 200, response.json()
    return {row["path"]: row["code"] or row["outcome"] for row in response.json()["results"]}


def test_files_go_in_by_their_names(as_editor, url):
    response = send(as_editor, url, [file("a.md"), file("b.txt", "日本語".encode("shift_jis"))])
    assert outcomes(response) == {"a.md": "created", "b.txt": "created"}
    assert response.json()["created"] == 2
    assert Document.objects.get(path="b.txt").content.strip() == "日本語"
    assert set(Document.objects.values_list("source", flat=True)) == {Source.API}


def test_files_go_in_by_the_paths_beside_them(as_editor, url):
    response = send(as_editor, url, [file("x.md"), file("y.md")], ["guide/a.md", "guide/b.md"])
    assert outcomes(response) == {"guide/a.md": "created", "guide/b.md": "created"}


def test_bad_files_are_refused_alone_and_in_their_place(as_editor, url):
    response = send(
        as_editor,
        url,
        [
            file("1.md"),
            file("2.md"),
            file("3.md", b""),
            file("4.md", b"\x00\x01\x02"),
            file("5.md"),
        ],
        ["ok.md", "../up.md", "empty.md", "binary.md", ".ssh/id_rsa"],
    )
    assert [row["path"] for row in response.json()["results"]] == [
        "ok.md",
        "../up.md",
        "empty.md",
        "binary.md",
        ".ssh/id_rsa",
    ]
    refused = outcomes(response)
    assert refused.pop("ok.md") == "created"
    assert refused["../up.md"] == "path_parent"
    assert "created" not in refused.values()
    assert response.json()["refused"] == 4
    assert Document.objects.count() == 1


def test_the_files_of_a_zip(as_editor, url):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("guide/a.md", "# A\n")
        archive.writestr("../b.md", "# B\n")
    response = send(as_editor, url, [file("all.zip", data.getvalue())])
    assert response.json()["created"] == 1
    assert response.json()["refused"] == 1
    assert Document.objects.get().content == "# A\n"


def test_the_same_files_again_change_nothing(as_editor, url):
    for expected in ("created", "unchanged"):
        assert outcomes(send(as_editor, url, [file("a.md")])) == {"a.md": expected}


@pytest.mark.parametrize("form", [{}, {"paths": ["a.md"]}, {"files": "text"}])
def test_a_form_without_files_is_refused(as_editor, url, form):
    response = as_editor.post(url, form, format="multipart")
    assert (response.status_code, response.json()["code"]) == (400, "invalid")
    assert "files" in response.json()["fields"]


@override_settings(DATA_UPLOAD_MAX_NUMBER_FILES=2)
def test_too_many_files(as_editor, url):
    response = send(as_editor, url, [file(f"{n}.md") for n in range(3)])
    assert (response.status_code, response.json()["code"]) == (413, "too_many_files")
    assert not Document.objects.exists()


@override_settings(DATA_UPLOAD_MAX_NUMBER_FIELDS=2)
def test_too_many_fields(as_editor, url):
    response = send(as_editor, url, [file("a.md")], ["a", "b", "c"])
    assert (response.status_code, response.json()["code"]) == (413, "too_many_fields")


@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=100)
def test_too_large_fields(as_editor, url):
    response = send(as_editor, url, [file("a.md")], ["x" * 200])
    assert (response.status_code, response.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize(
    "content_type",
    ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=é"],
)
def test_a_broken_form_is_a_parse_error(as_editor, url, content_type):
    response = as_editor.generic("POST", url, b"--x\r\nrubbish", content_type=content_type)
    assert (response.status_code, response.json()["code"]) == (400, "parse_error")
