"""What people see of the index: of each document, of the whole project, and in its settings."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from indexing.choices import RequestStatus
from indexing.models import FolderSource, IndexedDocument, IndexRequest, ProjectIndex
from indexing.services.requests import MOST_ATTEMPTS
from indexing.services.status import index_status
from indexing.views import status
from tests import factories
from tests.jobs.scene import waiting

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


class TestDocuments:
    def list_page(self, client, project) -> str:
        return client.get(reverse("document-list", args=[project.pk])).text

    def test_each_says_how_fresh_its_index_is(self, reading, project):
        document = factories.make_document(project)
        assert re.search(r'badge-info">.*updating</span>', self.list_page(reading, project))
        request = document.index_requests.get()
        request.status = RequestStatus.FAILED
        request.completed_at = timezone.now()
        request.error = "ValueError: <ouch>"
        request.save()
        page = self.list_page(reading, project)
        assert re.search(r'title="ValueError: &lt;ouch&gt;">.*failed</span>', page)
        request.delete()
        assert "not indexed yet" in self.list_page(reading, project)
        IndexedDocument.objects.create(
            document=document,
            project=project,
            document_hash=document.file_hash,
            document_version=1,
            section_count=1,
            token_count=9,
            generation=1,
            indexed_at=timezone.now(),
        )
        assert re.search(r'badge-ok">.*latest</span>', self.list_page(reading, project))
        IndexedDocument.objects.update(document_hash="0" * 64)
        assert re.search(r'badge-warn">.*outdated</span>', self.list_page(reading, project))

    def test_the_list_listens_to_the_index(self, reading, project):
        assert "live:index from:body" in self.list_page(reading, project)

    def test_a_long_list_takes_no_more_queries(self, reading, project):
        counts = []
        for size in (1, 12):
            while project.documents.count() < size:
                factories.make_document(project)
            self.list_page(reading, project)
            with CaptureQueriesContext(connection) as queries:
                self.list_page(reading, project)
            counts.append(len(queries))
        assert counts[0] == counts[1]

    def test_the_page_of_one_keeps_its_state_fresh(self, reading, project):
        document = factories.make_document(project)
        state = reverse("document-index", args=[project.pk, document.pk])
        page = reading.get(document.get_absolute_url()).text
        assert f'hx-get="{state}"' in page
        part = reading.get(state).text
        assert part.startswith("<span")
        assert "updating" in part


def failed(document, *, attempts: int = 1, error: str = "ValueError: <ouch>") -> IndexRequest:
    request = document.index_requests.get()
    request.status = RequestStatus.FAILED
    request.attempts = attempts
    request.started_at = request.completed_at = timezone.now()
    request.due_at = timezone.now() + timedelta(seconds=100)
    request.error = error
    request.save()
    return request


class TestIndex:
    def address(self, project) -> str:
        return reverse("project-index", args=[project.pk])

    def test_a_project_without_documents(self, reading, project):
        page = reading.get(self.address(project)).text
        assert "There was none yet." in page
        assert "Rebuild" not in page

    def test_what_waits_and_why(self, reading, project):
        factories.make_document(project, "waits.md")
        waiting(scope=project.stream, since=120)
        page = reading.get(self.address(project)).text
        assert "waits.md" in page
        assert re.search(r"<dt>Waiting</dt><dd>1 <small>the oldest for ", page)
        assert "No worker is running" in page

    def test_failures_can_be_tried_again_by_editors(self, editing, reading, project):
        document = factories.make_document(project, "broken.md")
        request = failed(document)
        page = editing.get(self.address(project)).text
        assert "&lt;ouch&gt;" in page
        assert re.search(r"in 1 min", page)
        retry = reverse("index-retry", args=[project.pk, request.pk])
        assert retry in page
        assert retry not in reading.get(self.address(project)).text
        answer = editing.post(retry, follow=True)
        assert "1 request is tried again now." in answer.text
        request.refresh_from_db()
        assert request.status == RequestStatus.PENDING
        assert "There was nothing to try again" in editing.post(retry, follow=True).text

    def test_one_that_is_given_up_waits_for_a_hand(self, reading, project):
        failed(factories.make_document(project), attempts=MOST_ATTEMPTS)
        assert "by hand" in reading.get(self.address(project)).text

    def test_all_failures_at_once(self, editing, project):
        for _ in range(3):
            failed(factories.make_document(project))
        answer = editing.post(reverse("index-retry-all", args=[project.pk]), follow=True)
        assert "3 requests are tried again now." in answer.text
        assert not IndexRequest.objects.filter(status=RequestStatus.FAILED).exists()

    def test_a_request_of_another_project_is_left_alone(self, editing, project):
        elsewhere = failed(factories.make_document(factories.make_project("Closed")))
        editing.post(reverse("index-retry", args=[project.pk, elsewhere.pk]))
        elsewhere.refresh_from_db()
        assert elsewhere.status == RequestStatus.FAILED

    def test_editors_have_the_index_made_anew(self, editing, project):
        factories.make_document(project, "a/one.md")
        factories.make_document(project, "b/two.md")
        there = reverse("index-rebuild", args=[project.pk])
        assert "2 documents wait" in editing.post(there, follow=True).text
        assert not IndexRequest.objects.filter(force=True).exists()
        answer = editing.post(there, {"force": "1", "paths": "a/\r\n"}, follow=True)
        assert "1 document waits" in answer.text
        forced = IndexRequest.objects.get(force=True)
        assert forced.document.path == "a/one.md"
        assert (
            "No document of the project matches"
            in editing.post(there, {"paths": "c/"}, follow=True).text
        )

    def test_requests_by_status_and_page(self, reading, project):
        failed(factories.make_document(project, "broken.md"))
        factories.make_document(project, "waits.md")
        page = reading.get(self.address(project), {"status": "failed"}, headers=HTMX)
        assert "<html" not in page.text
        assert [row.document.path for row in page.context["listing"].page] == ["broken.md"]
        page = reading.get(self.address(project), {"status": "nonsense", "page": "77"})
        assert len(page.context["listing"].page) == 2

    def test_a_switch_of_embedders_shows_how_far_it_is(self, reading, project, monkeypatch):
        factories.make_document(project)
        seen = replace(
            index_status(project),
            sections=50,
            sections_with_text=40,
            embedder_serving="old-256",
            embedder_wanted="new-1536",
            sections_without_vector=30,
        )
        monkeypatch.setattr(status, "index_status", lambda project: seen)
        page = reading.get(self.address(project)).text
        assert "old-256" in page
        assert "new-1536" in page
        assert '<progress class="progress" value="10" max="40"' in page
        assert "30 of 40 sections left." in page
        seen = replace(seen, embedder_wanted="", embedder_error="The server is away.")
        assert "The server is away." in reading.get(self.address(project)).text

    def test_a_long_queue_takes_no_more_queries(self, reading, project):
        counts = []
        for size in (1, 12):
            while project.documents.count() < size:
                failed(factories.make_document(project))
            reading.get(self.address(project))
            with CaptureQueriesContext(connection) as queries:
                reading.get(self.address(project))
            counts.append(len(queries))
            assert not any('"projects_document"."content"' in q["sql"] for q in queries)
        assert counts[0] == counts[1]


class TestSettings:
    def address(self, project) -> str:
        return reverse("project-search-settings", args=[project.pk])

    def test_an_owner_chooses_the_embedder(self, owning, project):
        page = owning.get(self.address(project)).text
        assert 'value="" checked' in page
        answer = owning.post(self.address(project), {"embedder": "none"}, follow=True)
        assert "The choice is saved." in answer.text
        assert 'value="none" checked' in answer.text
        assert ProjectIndex.objects.get(project=project).chosen_embedder == "none"
        owning.post(self.address(project), {"embedder": ""})
        assert ProjectIndex.objects.get(project=project).chosen_embedder == ""

    def test_an_unknown_one_is_refused(self, owning, project):
        answer = owning.post(self.address(project), {"embedder": "crystal ball"})
        assert answer.status_code == 422
        assert "field-error" in answer.text

    def test_folders_are_offered_where_the_operator_allows_any(
        self, owning, project, settings, tmp_path
    ):
        settings.FOLDER_ROOTS = []
        assert "Follow this folder" not in owning.get(self.address(project)).text
        settings.FOLDER_ROOTS = [tmp_path]
        page = owning.get(self.address(project)).text
        assert "Follow this folder" in page
        assert str(tmp_path) in page

    def test_a_folder_is_followed_changed_and_left(self, owning, project, settings, tmp_path):
        settings.FOLDER_ROOTS = [tmp_path]
        (tmp_path / "wiki").mkdir()
        there = reverse("project-folder", args=[project.pk])
        wish = {"directory": str(tmp_path / "wiki"), "include": "*.md\r\nx/", "enabled": "on"}
        assert "The folder is saved." in owning.post(there, wish, follow=True).text
        source = FolderSource.objects.get(project=project)
        assert (source.enabled, source.include) == (True, "*.md\nx/")
        owning.post(there, {"directory": source.directory})
        source.refresh_from_db()
        assert (source.enabled, source.include) == (False, "")
        FolderSource.objects.update(error="It is gone.")
        page = owning.get(self.address(project)).text
        assert "cannot be followed" in page
        assert "It is gone." in page
        remove = reverse("folder-remove", args=[project.pk, source.pk])
        assert remove in page
        owning.post(remove)
        assert not FolderSource.objects.exists()

    def test_a_folder_elsewhere_is_refused(self, owning, project, settings, tmp_path):
        settings.FOLDER_ROOTS = [tmp_path / "allowed"]
        (tmp_path / "allowed").mkdir()
        there = reverse("project-folder", args=[project.pk])
        for directory in (tmp_path, "/etc", f"{tmp_path}/allowed/../..", "", "relative"):
            answer = owning.post(there, {"directory": str(directory), "enabled": "on"})
            assert answer.status_code == 422
            assert "field-error" in answer.text
        assert not FolderSource.objects.exists()

    def test_a_folder_of_another_project_is_not_found(self, owning, project):
        other = factories.make_project("Closed")
        source = FolderSource.objects.create(project=other, directory="/srv/closed")
        assert (
            owning.post(reverse("folder-remove", args=[project.pk, source.pk])).status_code == 404
        )
