"""Files that come in by a form: their paths, the limits, and what is told of each."""

import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile
from django.urls import reverse

from glossary_site.errors import Refusal
from projects.choices import Source
from projects.limits import limits
from projects.models import Document
from projects.uploads import incoming_from_request
from tests import factories

pytestmark = pytest.mark.django_db


def file(name: str, text: str = "# Title\n\nText.\n") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode())


class TestIncoming:
    def test_paths_come_beside_the_files(self):
        found = incoming_from_request([file("a.md"), file("b.md")], ["x/a.md", "x/y/b.md"])
        assert [item.path for item in found] == ["x/a.md", "x/y/b.md"]

    def test_without_paths_the_names_are_the_paths(self):
        assert [item.path for item in incoming_from_request([file("a.md")], [])] == ["a.md"]

    def test_an_empty_path_means_the_name(self):
        found = incoming_from_request([file("a.md"), file("b.md")], ["", "x/b.md"])
        assert [item.path for item in found] == ["a.md", "x/b.md"]

    @pytest.mark.parametrize("paths", [["a.md"], ["a.md", "b.md", "c.md"]])
    def test_as_many_paths_as_files(self, paths):
        with pytest.raises(Refusal) as refusal:
            incoming_from_request([file("a.md"), file("b.md")], paths)
        assert refusal.value.status == 400

    def test_a_large_file_is_read_from_its_place_on_disk(self):
        large = TemporaryUploadedFile("a.md", "text/markdown", 5, None)
        large.write(b"hello")
        (item,) = incoming_from_request([large], [])
        with item.open() as stream:
            assert stream.read() == b"hello"

    def test_limits_are_those_of_the_settings(self, settings):
        settings.MAX_FILE_BYTES = 1234
        settings.MAX_UPLOAD_FILES = 7
        assert limits().max_file_bytes == 1234
        assert limits().max_files == 7


@pytest.fixture
def client(sign_in, editor):
    return sign_in(editor)


@pytest.fixture
def url(project):
    return reverse("document-upload", args=[project.pk])


ROWS = {"headers": {"X-Requested-With": "XMLHttpRequest"}}


class TestUpload:
    def test_files_are_stored_with_their_folders(self, client, url, project, editor):
        response = client.post(
            url,
            {"files": [file("a.md"), file("b.txt", "plain")], "paths": ["docs/a.md", "b.txt"]},
        )
        assert response.status_code == 200
        assert {d.path: d.source for d in project.documents.all()} == {
            "docs/a.md": Source.UPLOAD,
            "b.txt": Source.UPLOAD,
        }
        assert Document.objects.get(path="docs/a.md").versions.get().author == editor

    def test_the_page_says_what_became_of_each(self, client, url, project):
        factories.make_document(project, "same.md", "same\n")
        factories.make_document(project, "old.md", "old\n")
        files = [
            file("new.md"),
            file("old.md", "newer\n"),
            file("same.md", "same\n"),
            file("id_rsa", "x"),
        ]
        html = client.post(url, {"files": files}).content.decode()
        assert "1 added, 1 with a new version, 1 unchanged, 1 refused." in html
        for outcome in ("created", "updated", "unchanged", "refused"):
            assert html.count(f'data-outcome="{outcome}"') == 1
        assert project.documents.count() == 3

    def test_a_script_gets_only_the_rows(self, client, url):
        html = client.post(url, {"files": [file("a.md")]}, **ROWS).content.decode().strip()
        assert html.startswith("<li")
        assert "<html" not in html

    def test_good_files_go_in_beside_bad_ones(self, client, url, project):
        files = [file("a.md"), file("b.md"), file("c.exe"), file("d.md", "")]
        html = client.post(
            url, {"files": files, "paths": ["../a.md", "b.md", "c.exe", "d.md"]}, **ROWS
        ).content.decode()
        assert [document.path for document in project.documents.all()] == ["b.md"]
        assert html.count('data-outcome="refused"') == 3

    def test_hostile_names_are_shown_harmlessly(self, client, url):
        names = ["<script>alert(1)</script>.md", "a\u202e.md", '"><img src=x onerror=alert(1)>.exe']
        response = client.post(url, {"files": [file("x.md")] * 3, "paths": names}, **ROWS)
        html = response.content.decode()
        assert "<script" not in html
        assert "<img" not in html
        assert "\u202e" not in html

    def test_an_archive_is_unpacked(self, client, url, project):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("docs/a.md", "# A\n")
            archive.writestr("docs/b/c.md", "# C\n")
        client.post(url, {"files": [SimpleUploadedFile("all.zip", buffer.getvalue())]})
        assert [d.path for d in project.documents.all()] == ["docs/a.md", "docs/b/c.md"]

    def test_the_count_of_paths_must_match(self, client, url, project):
        response = client.post(
            url, {"files": [file("a.md"), file("b.md")], "paths": ["a.md"]}, **ROWS
        )
        assert response.status_code == 400
        assert 'data-outcome="refused"' in response.content.decode()
        assert not project.documents.exists()

    def test_a_form_without_files_comes_back_with_the_reason(self, client, url):
        response = client.post(url, {})
        assert response.status_code == 422
        assert "Choose at least one file." in response.content.decode()

    def test_whoever_opens_the_address_is_led_to_the_form(self, client, url, project):
        assert client.get(url).url == reverse("document-add", args=[project.pk])

    def test_a_viewer_may_not(self, sign_in, viewer, url, project):
        assert sign_in(viewer).post(url, {"files": [file("a.md")]}).status_code == 403
        assert not project.documents.exists()


class TestPaste:
    @pytest.fixture
    def url(self, project):
        return reverse("document-paste", args=[project.pk])

    def test_a_text_becomes_a_document(self, client, url, project, editor):
        response = client.post(url, {"path": "notes/第一回.md", "text": "# 議事録\r\n\r\n  a\r\n"})
        document = project.documents.get()
        assert response.url == document.get_absolute_url()
        assert (document.path, document.content) == ("notes/第一回.md", "# 議事録\n\n  a\n")
        assert (document.source, document.title) == (Source.PASTE, "議事録")
        assert document.versions.get().author == editor

    def test_an_ending_is_added_where_there_is_none(self, client, url, project):
        client.post(url, {"path": "notes/kickoff", "text": "x"})
        assert project.documents.get().path == "notes/kickoff.md"

    def test_a_folder_is_no_name(self, client, url, project):
        html = client.post(url, {"path": "notes/", "text": "Kept."}).text
        assert "Say how the document is to be called" in html
        assert "Kept." in html
        assert not project.documents.exists()

    def test_the_same_path_again_is_a_new_version(self, client, url, project):
        factories.make_document(project, "a.md", "one\n")
        html = client.post(url, {"path": "a.md", "text": "two\n"}, follow=True).content.decode()
        assert project.documents.get().version == 2
        assert "has a new version: 2" in html

    @pytest.mark.parametrize(
        ("path", "text"),
        [
            ("", "text"),
            ("a.md", ""),
            ("a.md", "   "),
            ("../a.md", "text"),
            ("/etc/a.md", "text"),
            ("a.exe", "text"),
            ("a.docx", "text"),
            ("a.zip", "text"),
            ("id_rsa", "text"),
            ("._notes.md", "text"),
            ("a" * 2000, "text"),
            ("a\x00.md", "text"),
            ("a.md", "te\x00xt"),
        ],
    )
    def test_a_mistake_loses_nothing(self, client, url, project, path, text):
        response = client.post(url, {"path": path, "text": text})
        html = response.content.decode()
        assert response.status_code == 422
        assert 'aria-invalid="true"' in html
        assert "field-error" in html
        if text.strip():
            assert "xt</textarea>" in html
        assert not project.documents.exists()

    def test_a_text_over_the_limit_is_refused(self, client, url, settings):
        settings.MAX_FILE_BYTES = 100
        assert client.post(url, {"path": "a.md", "text": "x" * 200}).status_code == 422

    def test_a_viewer_may_not(self, sign_in, viewer, url, project):
        response = sign_in(viewer).post(url, {"path": "a.md", "text": "x"})
        assert response.status_code == 403
        assert not project.documents.exists()


class TestAddPage:
    def test_it_tells_the_limits_and_formats(self, client, project, settings):
        settings.MAX_UPLOAD_FILES = 321
        html = client.get(reverse("document-add", args=[project.pk])).content.decode()
        assert "Up to 321 files at once" in html
        assert "Shift_JIS" in html
        assert 'data-max-files="321"' in html

    def test_it_has_no_inline_script_or_style(self, client, project):
        html = client.get(reverse("document-add", args=[project.pk])).content.decode()
        assert "<style" not in html
        assert " style=" not in html
        assert html.count("<script") == html.count("<script src=")

    def test_a_viewer_may_not(self, sign_in, viewer, project):
        assert sign_in(viewer).get(reverse("document-add", args=[project.pk])).status_code == 403
