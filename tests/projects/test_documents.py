"""The one door for text: versions, chunks, races, renames and deletions."""

import hashlib
import threading
from functools import partial

import pytest
from django.db import connection

from glossary_site.errors import Refusal
from glossary_site.live.reading import events_after
from projects.access import OPERATOR
from projects.choices import Format, Source
from projects.intake.files import Draft, Rejected
from projects.models import Document, DocumentVersion, Project
from projects.services import documents as service
from projects.services.documents import (
    delete_documents,
    rename_document,
    store_document,
    store_documents,
    update_document,
)
from tests import factories


def draft(path: str, content: str) -> Draft:
    return Draft(path=path, content=content, title=path, format=Format.MARKDOWN)


def store(project, *drafts):
    results = store_documents(project=project, drafts=drafts, source=Source.API, actor=OPERATOR)
    return [(row.path, row.outcome, row.version) for row in results]


def test_new_text_is_a_version_and_the_same_text_is_not(project, editor):
    def put(text):
        return store_document(
            project=project, path="a.md", content=text, source=Source.PASTE, actor=editor
        )

    assert [put(text).outcome for text in ("# A", "# A", "# B", "# A")] == [
        "created",
        "unchanged",
        "updated",
        "updated",
    ]
    document = Document.objects.get()
    assert (document.version, document.content, document.title) == (3, "# A", "A")
    assert document.file_hash == hashlib.sha256(b"# A").hexdigest()
    versions = document.versions.order_by("number")
    assert [(row.number, row.content) for row in versions] == [(1, "# A"), (2, "# B"), (3, "# A")]
    assert {row.author for row in versions} == {editor}


def test_the_feed_hears_of_changes_only(project):
    store(project, draft("a.md", "1"), draft("b.md", "1"))
    store(project, draft("a.md", "1"), draft("b.md", "2"))
    store(project, draft("a.md", "1"))
    events = events_after(project.stream, 0)
    news = [event["payload"] for event in events if event["type"] == "documents.stored"]
    assert [(n["created"], n["updated"], n["paths"]) for n in news] == [
        (2, 0, ["a.md", "b.md"]),
        (0, 1, ["b.md"]),
    ]


def test_refused_files_pass_through_while_the_good_go_in(project):
    rejected = Rejected(path=".env", code="path_secret", message="no")
    results = list(
        store_documents(
            project=project,
            drafts=[draft("a.md", "1"), rejected, draft("b.md", "1")],
            source=Source.UPLOAD,
            actor=OPERATOR,
        )
    )
    assert [result.path for result in results] == ["a.md", ".env", "b.md"]
    assert results[1] is rejected
    assert set(Document.objects.values_list("path", flat=True)) == {"a.md", "b.md"}


def test_one_path_twice_in_a_row_is_two_versions(project):
    assert store(project, draft("a.md", "1"), draft("a.md", "2"), draft("a.md", "2")) == [
        ("a.md", "created", 1),
        ("a.md", "updated", 2),
        ("a.md", "unchanged", 2),
    ]


def test_a_stream_is_stored_in_chunks_as_it_comes(project, monkeypatch):
    monkeypatch.setattr(service, "CHUNK_FILES", 3)
    seen_in_table = []

    def stream():
        for n in range(7):
            seen_in_table.append(Document.objects.count())
            yield draft(f"{n}.md", str(n))

    assert len(store(project, *stream())) == 7
    seen_in_table.clear()
    Document.objects.all().delete()
    results = store_documents(project=project, drafts=stream(), source=Source.API, actor=OPERATOR)
    assert len(list(results)) == 7
    assert seen_in_table == [0, 0, 0, 0, 3, 3, 3]


@pytest.mark.django_db(transaction=True)
def test_two_uploads_of_one_path_at_once_make_two_versions():
    project = factories.make_project("Race")
    start = threading.Barrier(4)
    outcomes = []

    def put(text):
        start.wait()
        outcomes.extend(store(project, draft("a.md", text)))
        connection.close()

    threads = [threading.Thread(target=put, args=[f"text {n}"]) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(version for _, _, version in outcomes) == [1, 2, 3, 4]
    document = Document.objects.get()
    assert document.content == document.versions.get(number=4).content


def test_nothing_is_written_into_a_project_that_is_gone(project):
    Project.objects.all().delete()
    with pytest.raises(Refusal) as refusal:
        store(project, draft("a.md", "1"))
    assert refusal.value.code == "project_gone"


@pytest.mark.parametrize("path", ["../up.md", "/abs.md", "a\u202eb.md", ".env", ""])
def test_a_bad_path_is_refused_with_its_reason(project, path):
    with pytest.raises(Refusal) as refusal:
        store_document(project=project, path=path, content="x", source=Source.API, actor=OPERATOR)
    assert refusal.value.status == 400
    assert refusal.value.code.startswith("path_")
    assert not Document.objects.exists()


class TestRenameAndDelete:
    def test_a_rename_keeps_text_and_history(self, project, editor):
        document = factories.make_document(project, "a.md")
        changed = document.updated_at
        rename_document(document=document, path="./b\\c.md", actor=editor)
        document.refresh_from_db()
        assert (document.path, document.version, document.updated_at) == ("b/c.md", 1, changed)
        assert events_after(project.stream, 0)[-1]["payload"]["from"] == "a.md"

    def test_a_taken_or_bad_path_is_refused(self, project, editor):
        factories.make_document(project, "a.md")
        document = factories.make_document(project, "b.md")
        for path, code in [("a.md", "document_path_taken"), ("../a.md", "path_parent")]:
            with pytest.raises(Refusal) as refusal:
                rename_document(document=document, path=path, actor=editor)
            assert refusal.value.code == code
        document.refresh_from_db()
        assert document.path == "b.md"

    def test_a_document_that_is_gone_has_no_news(self, project, editor):
        document = factories.make_document(project, "a.md")
        Document.objects.all().delete()
        before = events_after(project.stream, 0)
        for change in (rename_document, partial(update_document, source=Source.API)):
            with pytest.raises(Refusal) as refusal:
                change(document=document, path="b.md", actor=editor)
            assert (refusal.value.code, refusal.value.status) == ("document_gone", 404)
        assert events_after(project.stream, 0) == before

    def test_deleting_stays_inside_the_project(self, project, editor):
        other = factories.make_document(factories.make_project())
        mine = factories.make_document(project)
        assert delete_documents(project=project, ids=[mine.pk, other.pk], actor=editor) == 1
        assert list(Document.objects.all()) == [other]
        assert DocumentVersion.objects.count() == 1
        assert delete_documents(project=project, ids=[mine.pk], actor=editor) == 0
