"""The administration of the index: filters that answer questions, and trying again."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from indexing.choices import RequestStatus
from indexing.models import (
    FolderFile,
    FolderSource,
    IndexedDocument,
    IndexRequest,
    Section,
    SectionVector,
)
from indexing.services.requests import MOST_ATTEMPTS
from tests import factories
from tests.indexing.working import make_indexed

pytestmark = pytest.mark.django_db

LONG_TEXTS = ('"content"', '"words"', '"heading_words"', '"vector"')


@pytest.fixture
def client(superuser, sign_in):
    return sign_in(superuser)


def address(model: str, page: str = "changelist") -> str:
    return f"admin:indexing_{model}_{page}"


def listed(client, model: str, **query) -> list:
    return list(client.get(reverse(address(model)), query).context["cl"].result_list)


def retry(client, *requests) -> list[str]:
    data = {"action": "retry", "_selected_action": [request.pk for request in requests]}
    response = client.post(reverse(address("indexrequest")), data, follow=True)
    context = response.context
    return [str(message) for message in context["messages"]] if context else []


def request_of(project, **fields) -> IndexRequest:
    request = factories.make_document(project).index_requests.get()
    IndexRequest.objects.filter(pk=request.pk).update(**fields)
    request.refresh_from_db()
    return request


def failed(project, attempts: int = 1) -> IndexRequest:
    now = timezone.now()
    return request_of(
        project,
        status=RequestStatus.FAILED,
        attempts=attempts,
        error="ValueError: ouch",
        started_at=now,
        completed_at=now,
    )


def processing(project, lease: int) -> IndexRequest:
    now = timezone.now()
    return request_of(
        project,
        status=RequestStatus.PROCESSING,
        started_at=now,
        lease_until=now + timedelta(seconds=lease),
    )


def make_section(document, **fields) -> Section:
    usual = {
        "project": document.project,
        "document": document,
        "order": 0,
        "depth": 1,
        "heading": "Tides",
        "line_start": 1,
        "line_end": 3,
        "content": "Twice a day.",
        "token_count": 4,
        "document_hash": document.file_hash,
        "text_hash": "0" * 64,
        "created_at": timezone.now(),
    }
    return Section.objects.create(**(usual | fields))


class TestRequests:
    def test_what_is_stuck_and_why(self, client, project):
        fine, stuck = processing(project, lease=60), processing(project, lease=-60)
        fresh = request_of(project)
        starved = request_of(project, due_at=timezone.now() - timedelta(minutes=6))
        retried, given_up = failed(project), failed(project, MOST_ATTEMPTS)
        found = {
            condition: listed(client, "indexrequest", condition=condition)
            for condition in ("stuck", "starved", "retried", "given_up")
        }
        assert found == {
            "stuck": [stuck],
            "starved": [starved],
            "retried": [retried],
            "given_up": [given_up],
        }
        everything = listed(client, "indexrequest", condition="nonsense")
        assert {fine, fresh, *(row for rows in found.values() for row in rows)} == set(everything)

    def test_failed_ones_of_several_projects_are_tried_again(self, client, project):
        other = factories.make_project("Elsewhere")
        requests = [failed(project, MOST_ATTEMPTS), failed(other), failed(project)]
        assert retry(client, *requests) == ["3 requests are tried again now."]
        assert set(IndexRequest.objects.values_list("status", flat=True)) == {"pending"}
        assert retry(client, *requests) == ["0 requests are tried again now."]

    def test_who_may_only_look_cannot(self, project, sign_in):
        user = factories.make_user("willa", is_staff=True)
        user.user_permissions.set(Permission.objects.filter(codename="view_indexrequest"))
        request = failed(project)
        looking = sign_in(user)
        assert listed(looking, "indexrequest") == [request]
        retry(looking, request)
        request.refresh_from_db()
        assert request.status == RequestStatus.FAILED


def test_nothing_can_be_written_here(client, project):
    request = request_of(project)
    for model in ("indexrequest", "section", "indexeddocument", "foldersource"):
        assert client.post(reverse(address(model, "add"))).status_code == 403
    change = reverse(address("indexrequest", "change"), args=[request.pk])
    assert client.post(change, {"status": "completed"}).status_code == 403


def test_documents_whose_index_is_behind(client, project):
    now = timezone.now()

    def indexed(hash: str = "", *, asked: bool = True) -> IndexedDocument:
        document = factories.make_document(project)
        if not asked:
            document.index_requests.all().delete()
        return IndexedDocument.objects.create(
            document=document,
            project=project,
            document_hash=hash or document.file_hash,
            document_version=1,
            section_count=1,
            token_count=1,
            generation=1,
            indexed_at=now,
        )

    latest, behind, forgotten = indexed(), indexed("0" * 64), indexed("1" * 64, asked=False)
    assert listed(client, "indexeddocument", state="latest") == [latest]
    assert set(listed(client, "indexeddocument", state="behind")) == {behind, forgotten}
    assert listed(client, "indexeddocument", state="forgotten") == [forgotten]


def test_folders_that_nobody_follows(client, project):
    now = timezone.now()

    def folder(directory: str, **fields) -> FolderSource:
        return FolderSource.objects.create(
            project=project, directory=directory, **({"enabled": True} | fields)
        )

    folder("/srv/followed", lease_until=now + timedelta(minutes=1))
    folder("/srv/off", enabled=False)
    unwatched = folder("/srv/unwatched")
    failing = folder("/srv/gone", error="It is gone.", lease_until=now + timedelta(minutes=1))
    assert listed(client, "foldersource", condition="unwatched") == [unwatched]
    assert listed(client, "foldersource", condition="failing") == [failing]
    far = 10**18 * 9
    FolderFile.objects.create(source=failing, path="a.md", size=1, modified_ns=1, content_hash="0")
    odd = FolderFile.objects.create(
        source=failing, path="b.md", size=1, modified_ns=far, content_hash="0", error="Too big."
    )
    assert listed(client, "folderfile", condition="refused") == [odd]
    assert len(listed(client, "folderfile", source=failing.pk)) == 2


@pytest.mark.parametrize(
    "model", ["indexrequest", "section", "sectionvector", "indexeddocument", "projectindex"]
)
def test_a_list_takes_few_queries_and_no_long_texts(client, project, model):
    counts = []
    for size in (1, 8):
        while project.documents.count() < size:
            document = factories.make_document(project)
            section = make_section(document)
            SectionVector.objects.create(section=section, embedder="tiny-2", vector=b"\0" * 4)
            IndexedDocument.objects.create(
                document=document,
                project=project,
                document_hash=document.file_hash,
                document_version=1,
                section_count=1,
                token_count=1,
                generation=1,
                indexed_at=timezone.now(),
            )
        listed(client, model)
        with CaptureQueriesContext(connection) as queries:
            assert len(listed(client, model)) == (0 if model == "projectindex" else size)
        counts.append(len(queries))
        for query in queries:
            selected = query["sql"].split(" FROM ")[0]
            assert not any(
                text in selected.replace('LENGTH("indexing_sectionvector"."vector")', "")
                for text in LONG_TEXTS
            ), selected
    assert counts[0] == counts[1]


def test_a_section_and_its_vector_open(client, project):
    section = make_section(factories.make_document(project))
    vector = SectionVector.objects.create(section=section, embedder="tiny-2", vector=b"\0" * 4)
    page = client.get(reverse(address("section", "change"), args=[section.pk])).text
    assert "Twice a day." in page
    page = client.get(reverse(address("sectionvector", "change"), args=[vector.pk])).text
    assert "tiny-2" in page


def test_the_list_of_documents_says_how_fresh_each_is(client, project):
    make_indexed(project, "old.md")
    factories.make_document(project, "new.md")
    address = reverse("admin:projects_document_changelist")

    page = client.get(address).content.decode()
    assert "latest" in page
    assert "updating" in page

    with CaptureQueriesContext(connection) as few:
        client.get(address)
    for _ in range(5):
        factories.make_document(project)
    with CaptureQueriesContext(connection) as more:
        client.get(address)
    assert len(more) == len(few)
