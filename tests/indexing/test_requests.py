"""Requests: made with the text, taken once, ended once."""

import threading
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from glossary_site.errors import Refusal
from indexing.choices import ENDED, OPEN, TRANSITIONS, RequestStatus
from indexing.models import IndexRequest
from indexing.services import requests
from projects.access import OPERATOR
from projects.choices import Source
from projects.services.documents import rename_document, store_document
from tests import factories
from tests.indexing.working import index, make_indexed, statuses, take_one

PENDING, PROCESSING = RequestStatus.PENDING, RequestStatus.PROCESSING
COMPLETED, FAILED, SKIPPED = (
    RequestStatus.COMPLETED,
    RequestStatus.FAILED,
    RequestStatus.SKIPPED,
)


def lapse(document) -> None:
    past = timezone.now() - timedelta(seconds=1)
    IndexRequest.objects.filter(document=document, status=PROCESSING).update(lease_until=past)


def test_the_table_of_moves_knows_every_status():
    assert set(TRANSITIONS) == set(RequestStatus)
    assert set(OPEN) | set(ENDED) == set(RequestStatus)


def test_each_text_makes_a_request_and_the_same_text_makes_none(project):
    document = factories.make_document(project, "a.md", "# One\n")
    factories.make_document(project, "a.md", "# Two\n")
    factories.make_document(project, "a.md", "# Two\n")

    made = IndexRequest.objects.filter(document=document).order_by("pk")
    assert [request.document_version for request in made] == [1, 2]
    document.refresh_from_db()
    assert made.last().document_hash == document.file_hash


def test_text_and_request_are_written_together_or_not_at_all(project):
    class Crash(Exception):
        pass

    with pytest.raises(Crash), transaction.atomic():  # noqa: PT012
        store_document(
            project=project, path="a.md", content="# A\n", source=Source.API, actor=OPERATOR
        )
        raise Crash
    assert not project.documents.exists()
    assert not IndexRequest.objects.exists()


def test_a_rename_asks_for_nothing(project):
    document = make_indexed(project, "a.md")
    rename_document(document=document, path="b.md", actor=OPERATOR)
    assert statuses(document) == [COMPLETED]


def test_the_newest_is_taken_and_the_older_are_skipped(project):
    document = factories.make_document(project, "a.md", "# One\n")
    for text in ("# Two\n", "# Three\n"):
        factories.make_document(project, "a.md", text)

    claim = take_one(project)

    assert claim.document_version == 3
    assert statuses(document) == [SKIPPED, SKIPPED, PROCESSING]


def test_long_texts_are_taken_one_after_the_other(project):
    long, short, other = (
        factories.make_document(project, content=f"# Title\n\n{text}")
        for text in ("x" * 90, "", "")
    )
    taken = []
    while claims := requests.take(project.pk, limit=5, most_bytes=50):
        taken.append([claim.document_id for claim in claims])

    assert taken == [[long.pk], [short.pk, other.pk]]


def test_a_document_in_hand_is_not_taken_again_until_it_is_done(project):
    document = factories.make_document(project, "a.md", "# One\n")
    claim = take_one(project)
    factories.make_document(project, "a.md", "# Two\n")

    assert requests.take(project.pk, limit=5) == []
    assert requests.complete(claim)
    assert take_one(project).document_version == 2
    assert statuses(document) == [COMPLETED, PROCESSING]


def test_two_in_hand_of_one_document_cannot_be_written(project):
    document = factories.make_document(project, "a.md", "# One\n")
    take_one(project)
    factories.make_document(project, "a.md", "# Two\n")
    with pytest.raises(IntegrityError), transaction.atomic():
        IndexRequest.objects.filter(document=document, status=PENDING).update(
            status=PROCESSING, started_at=timezone.now(), lease_until=timezone.now()
        )


@pytest.mark.parametrize(
    "columns",
    [
        {"status": "strange"},
        {"status": PROCESSING},
        {"status": COMPLETED},
        {"status": FAILED, "completed_at": timezone.now()},
        {"started_at": timezone.now()},
    ],
    ids=lambda columns: "-".join(columns),
)
def test_columns_that_do_not_go_with_the_status_cannot_be_written(project, columns):
    document = factories.make_document(project)
    with pytest.raises(IntegrityError), transaction.atomic():
        IndexRequest.objects.filter(document=document).update(**columns)


def test_who_lost_a_request_cannot_end_it(project):
    document = factories.make_document(project)
    lost = take_one(project)
    requests.give_back([lost])
    again = take_one(project)

    assert not requests.complete(lost)
    assert not requests.fail(lost, "late")
    assert statuses(document) == [PROCESSING]
    assert requests.complete(again)


def test_what_is_given_back_is_no_attempt(project):
    document = factories.make_document(project)
    requests.give_back([take_one(project)])
    assert IndexRequest.objects.get(document=document).attempts == 0
    assert statuses(document) == [PENDING]


def test_a_failure_keeps_its_error_and_waits(project):
    document = factories.make_document(project)
    claim = take_one(project)
    assert requests.fail(claim, "No sense in it.")

    request = IndexRequest.objects.get(document=document)
    assert (request.status, request.error) == (FAILED, "No sense in it.")
    assert request.due_at > timezone.now()
    assert requests.pause_after(3) > requests.pause_after(2) > requests.pause_after(1)


def test_a_failure_is_settled_by_the_next_text(project):
    document = factories.make_document(project, "a.md", "# One\n")
    requests.fail(take_one(project), "No sense in it.")
    factories.make_document(project, "a.md", "# Two\n")
    index(project)
    assert statuses(document) == [SKIPPED, COMPLETED]


def test_a_person_tries_again_at_once(project, editor):
    document = factories.make_document(project)
    requests.fail(take_one(project), "No sense in it.")

    assert requests.retry_requests(project=project, actor=editor) == 1
    assert statuses(document) == [PENDING]
    index(project)
    assert statuses(document) == [COMPLETED]
    assert IndexRequest.objects.get(document=document).error == ""


def test_only_the_chosen_are_tried_again(project, editor):
    documents = [factories.make_document(project) for _ in range(2)]
    for claim in requests.take(project.pk, limit=2):
        requests.fail(claim, "No sense in it.")
    chosen = IndexRequest.objects.get(document=documents[0]).pk

    assert requests.retry_requests(project=project, actor=editor, request_ids=[chosen]) == 1
    assert [statuses(document) for document in documents] == [[PENDING], [FAILED]]


def test_rebuild_asks_for_all_or_for_some_paths(project, editor):
    one = make_indexed(project, "guide/one.md")
    other = make_indexed(project, "notes/two.md")

    assert requests.rebuild(project=project, actor=editor) == 2
    index(project)
    assert requests.rebuild(project=project, actor=editor, paths=["guide/"]) == 1
    assert statuses(one)[-1] == PENDING
    assert statuses(other)[-1] == COMPLETED


def test_rebuild_of_no_document_is_refused(project, editor):
    make_indexed(project, "guide/one.md")
    with pytest.raises(Refusal) as refusal:
        requests.rebuild(project=project, actor=editor, paths=["nowhere/*"])
    assert refusal.value.code == "no_such_documents"


@pytest.mark.django_db(transaction=True)
def test_many_workers_take_each_document_once(transactional_db):
    project = factories.make_project()
    documents = [factories.make_document(project) for _ in range(40)]
    taken: list[int] = []
    errors: list[BaseException] = []
    gate = threading.Barrier(8)

    def work() -> None:
        try:
            gate.wait()
            misses = 0
            while misses < 3:
                claims = requests.take(project.pk, limit=3)
                taken.extend(claim.document_id for claim in claims)
                misses = 0 if claims else misses + 1
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    assert sorted(taken) == sorted(document.pk for document in documents)
