"""What goes wrong in the middle: one document's trouble is not that of the others."""

from datetime import timedelta

import pytest
from django.db import DataError, OperationalError, connection
from django.utils import timezone

from glossary_site.jobs.models import JobRun
from glossary_site.jobs.services.enqueue import enqueue
from indexing.models import IndexRequest
from indexing.services import drain, requests, sweeping
from indexing.services.drain import take_turn
from indexing.services.requests import MOST_ATTEMPTS
from indexing.services.waking import DRAIN
from projects.access import OPERATOR
from projects.feed import stream_of
from projects.models import Document
from projects.services.documents import delete_documents
from tests import factories
from tests.indexing.working import TEXT, statuses


@pytest.fixture
def documents(project) -> list[Document]:
    return [factories.make_document(project, f"{n}.md", TEXT) for n in range(4)]


def refuse(monkeypatch, document: Document, error: Exception) -> None:
    """Have the database refuse what is written of a document."""
    write = drain.replace_all

    def refusing(builds, **options):
        if any(built.claim.document_id == document.pk for built in builds):
            raise error
        return write(builds, **options)

    monkeypatch.setattr(drain, "replace_all", refusing)


def test_what_the_database_will_not_have_fails_alone(project, documents, monkeypatch):
    refuse(monkeypatch, documents[0], DataError("value too long"))
    take_turn(project.pk, check=bool)
    assert [statuses(document)[0] for document in documents] == ["failed", *3 * ["completed"]]
    assert "value too long" in IndexRequest.objects.get(document=documents[0]).error


def test_without_a_database_nothing_stays_taken_and_nobody_is_blamed(
    project, documents, monkeypatch
):
    refuse(monkeypatch, documents[0], OperationalError("the connection is lost"))
    monkeypatch.setattr(connection, "is_usable", lambda: False)
    with pytest.raises(OperationalError):
        take_turn(project.pk, check=bool)
    assert not IndexRequest.objects.exclude(status="pending").exists()
    assert not IndexRequest.objects.exclude(attempts=0).exists()


def test_a_document_that_fails_after_it_was_deleted_is_forgotten(project, documents, monkeypatch):
    build = drain.build

    def delete_and_fail(claim, document, **options):
        if document.pk == documents[0].pk:
            delete_documents(project=project, ids=[document.pk], actor=OPERATOR)
            raise ValueError("This text makes no sense.")
        return build(claim, document, **options)

    monkeypatch.setattr(drain, "build", delete_and_fail)
    assert take_turn(project.pk, check=bool).failed == 0
    assert [statuses(document) for document in documents] == [[], *3 * [["completed"]]]


def test_a_text_that_kills_its_workers_takes_no_others_along(project, documents):
    deadly = documents[0]
    for _ in range(20):
        claims = requests.take(project.pk, limit=16)
        if deadly.pk in [claim.document_id for claim in claims]:
            # The worker is gone, and with it whatever it had taken.
            IndexRequest.objects.filter(status="processing").update(
                lease_until=timezone.now() - timedelta(seconds=1)
            )
            sweeping.put_right()
        else:
            requests.complete_all(claims)
    assert [statuses(document)[0] for document in documents] == ["failed", *3 * ["completed"]]
    assert IndexRequest.objects.get(document=deadly).attempts == MOST_ATTEMPTS


def test_new_texts_do_not_wait_for_the_pause_after_a_failure(
    project, django_capture_on_commit_callbacks
):
    later = timezone.now() + timedelta(minutes=10)
    payload = {"project_id": project.pk}
    run = enqueue(DRAIN, payload, scope=stream_of(project.pk), run_after=later)
    with django_capture_on_commit_callbacks(execute=True):
        factories.make_document(project)
    waiting = JobRun.objects.filter(kind=DRAIN)
    assert [each.pk for each in waiting] == [run.pk]
    assert waiting.get().due_at < later - timedelta(minutes=5)
