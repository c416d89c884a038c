"""From a request to sections: what is made anew, what is kept, and what a lost worker may do."""

import threading

import numpy as np
import pytest
from django.db import connection

from glossary_site.jobs.choices import State
from glossary_site.jobs.errors import Stop, Stopped
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.services.enqueue import enqueue
from indexing.choices import Mode
from indexing.embedders.base import EmbedderUnavailable
from indexing.models import IndexedDocument, IndexRequest, ProjectIndex, Section, SectionVector
from indexing.sections.limits import limits
from indexing.services import drain, requests
from indexing.services.building import build, embed_missing
from indexing.services.drain import take_turn
from indexing.services.replacing import replace_all
from indexing.services.waking import DRAIN
from indexing.vectors.packing import pack
from projects.access import OPERATOR
from projects.models import Document
from projects.services.documents import delete_documents
from tests import factories
from tests.indexing.working import (
    TEXT,
    ask,
    headings,
    index,
    make_indexed,
    paths,
    statuses,
    take_one,
)
from tests.jobs.running import perform

CHANGED = TEXT.replace("twice a day", "at noon and at midnight")


def vectors(document: Document) -> dict[str, bytes]:
    rows = SectionVector.objects.filter(section__document=document)
    return {
        heading: bytes(vector) for heading, vector in rows.values_list("section__heading", "vector")
    }


def mark_vectors(document: Document) -> bytes:
    """Vectors that no embedder would make: whoever keeps them has not embedded again."""
    size = len(next(iter(vectors(document).values()))) // 2
    mark = pack(np.eye(1, size, dtype=np.float32)[0])
    SectionVector.objects.filter(section__document=document).update(vector=mark)
    return mark


def test_a_text_becomes_sections(project):
    document = make_indexed(project)

    sections = list(Section.objects.of_document(document))
    assert [section.heading for section in sections] == ["Harbour", "Pilots", "Tides"]
    assert [section.number for section in sections] == ["1", "1.1", "1.2"]
    assert [section.parent_id for section in sections] == [None, sections[0].pk, sections[0].pk]
    assert sections[2].heading_path == ["Harbour", "Tides"]
    lines = TEXT.splitlines()
    assert "High tide" in "\n".join(lines[sections[2].line_start - 1 : sections[2].line_end])
    assert {section.document_hash for section in sections} == {document.file_hash}
    assert statuses(document) == ["completed"]
    indexed = IndexedDocument.objects.get(document=document)
    assert (indexed.section_count, indexed.document_version) == (3, 1)


def test_a_new_text_replaces_all_sections_and_raises_the_generation(project):
    document = make_indexed(project, "a.md")
    before = set(Section.objects.values_list("pk", flat=True))
    generation = ProjectIndex.objects.get(pk=project.pk).generation

    make_indexed(project, "a.md", "# Lighthouse\n\nIt burns all night long above the rocks.\n")

    assert headings(document) == ["Lighthouse"]
    assert not before & set(Section.objects.values_list("pk", flat=True))
    assert ProjectIndex.objects.get(pk=project.pk).generation == generation + 1
    assert paths(ask(project, "lighthouse")) == ["a.md"]
    assert ask(project, "pilot", mode=Mode.LEXICAL).results == []


def test_numbers_of_sections_are_not_used_again(project):
    """Vectors at hand know sections by their number."""
    document = make_indexed(project)
    last = max(Section.objects.values_list("pk", flat=True))
    delete_documents(project=project, ids=[document.pk], actor=OPERATOR)
    make_indexed(project)
    assert min(Section.objects.values_list("pk", flat=True)) > last


def test_unchanged_sections_keep_their_vectors(project):
    document = make_indexed(project, "a.md")
    mark = mark_vectors(document)

    make_indexed(project, "a.md", CHANGED)

    assert {heading: vector == mark for heading, vector in vectors(document).items()} == {
        "Harbour": True,
        "Pilots": True,
        "Tides": False,
    }


def test_a_rebuild_keeps_what_is_there_and_force_really_embeds_again(project, editor):
    document = make_indexed(project, "a.md")
    mark = mark_vectors(document)
    sections = set(Section.objects.values_list("pk", flat=True))

    requests.rebuild(project=project, actor=editor)
    index(project)
    assert set(Section.objects.values_list("pk", flat=True)) == sections
    assert set(vectors(document).values()) == {mark}

    requests.rebuild(project=project, actor=editor, force=True)
    index(project)
    assert mark not in vectors(document).values()
    assert statuses(document) == ["completed"] * 3


def test_force_is_not_lost_with_the_request_that_asked_for_it(project, editor):
    document = make_indexed(project, "a.md")
    mark = mark_vectors(document)
    requests.rebuild(project=project, actor=editor, force=True)
    requests.rebuild(project=project, actor=editor)
    index(project)
    assert mark not in vectors(document).values()
    assert statuses(document) == ["completed", "skipped", "completed"]


def test_an_empty_text_is_indexed_too(project):
    document = make_indexed(project, "a.md", "---\ntitle: Nothing\n---\n")
    assert headings(document) == []
    assert statuses(document) == ["completed"]
    assert IndexedDocument.objects.get(document=document).section_count == 0


def test_a_text_that_was_replaced_meanwhile_is_passed_over(project):
    document = factories.make_document(project, "a.md", "# One\n\nThe first text of them.\n")
    claim = take_one(project)
    factories.make_document(project, "a.md", "# Two\n\nThe second text of them.\n")
    requests.give_back([claim])
    IndexRequest.objects.filter(document_version=2).delete()

    index(project)

    assert headings(document) == []
    assert statuses(document) == ["completed"]


def test_a_document_deleted_in_the_middle_leaves_nothing(project):
    document = factories.make_document(project)
    built = built_of(take_one(project))
    delete_documents(project=project, ids=[document.pk], actor=OPERATOR)
    assert replace_all([built], serving="") == []
    assert not Section.objects.exists()


def built_of(claim: requests.Claim):
    document = Document.objects.get(pk=claim.document_id)
    return build(claim, document, embedders=[], limits=limits())


def test_who_lost_a_request_writes_nothing(project):
    document = factories.make_document(project, "a.md", "# One\n\nThe first text of them.\n")
    lost = built_of(take_one(project))
    requests.give_back([lost.claim])
    factories.make_document(project, "a.md", "# Two\n\nThe second text of them.\n")
    index(project)

    assert replace_all([lost], serving="") == []
    assert headings(document) == ["Two"]


def test_an_older_text_never_follows_a_newer_one(project):
    """Even with a request of its own, as after a restored row."""
    document = factories.make_document(project, "a.md", "# One\n\nThe first text of them.\n")
    old = built_of(take_one(project))
    IndexedDocument.objects.create(
        document=document,
        project=project,
        document_hash="f" * 64,
        document_version=5,
        section_count=0,
        token_count=0,
        generation=1,
        indexed_at=document.updated_at,
    )
    assert replace_all([old], serving="") == []
    assert IndexedDocument.objects.get(document=document).document_version == 5


def test_one_bad_document_does_not_sink_the_others(project, monkeypatch):
    def refuse(builds, *, serving):
        if any("bad" in draft.words for built in builds for draft in built.drafts):
            raise ValueError("This text makes no sense.")
        return replace_all(builds, serving=serving)

    monkeypatch.setattr(drain, "replace_all", refuse)
    good = factories.make_document(project, "good.md", "# Good\n\nA text that is fine.\n")
    bad = factories.make_document(project, "bad.md", "# Bad\n\nA text that is bad.\n")

    tally = take_turn(project.pk, check=bool)

    assert (tally.completed, tally.failed) == (1, 1)
    assert statuses(good) == ["completed"]
    assert statuses(bad) == ["failed"]
    request = IndexRequest.objects.get(document=bad)
    assert request.error == "ValueError: This text makes no sense."
    assert paths(ask(project, "fine")) == ["good.md"]


def test_told_to_stop_it_gives_back_what_it_has_not_written(project):
    documents = [factories.make_document(project) for _ in range(3)]
    calls = iter([None, None, Stopped(Stop.CANCELED)])

    def check() -> None:
        if (stop := next(calls)) is not None:
            raise stop

    with pytest.raises(Stopped):
        take_turn(project.pk, check=check)
    assert [statuses(document) for document in documents] == [["pending"]] * 3


def test_the_job_works_off_the_project(project):
    documents = [factories.make_document(project) for _ in range(3)]
    run = enqueue(DRAIN, {"project_id": project.pk}, scope=project.stream)

    assert perform(run).result == {"completed": 3, "failed": 0}
    assert [statuses(document) for document in documents] == [["completed"]] * 3


def test_what_is_left_after_a_turn_is_for_the_next(project):
    for _ in range(drain.BATCH_DOCUMENTS + 1):
        factories.make_document(project)

    take_turn(project.pk, check=bool, seconds=0.001)

    assert IndexRequest.objects.filter(status="pending").count() == 1
    assert JobRun.objects.filter(kind=DRAIN, state=State.PENDING).count() == 1


def test_a_missing_embedder_leaves_the_words(project):
    class Away:
        key, dimensions, at_once = "away", 3, True

        def embed(self, texts, *, check):
            raise EmbedderUnavailable("It is away.")

        def weight(self, language):
            return 0.5

    factories.make_document(project, "a.md")
    claim = take_one(project)
    document = Document.objects.get(pk=claim.document_id)
    built = build(claim, document, embedders=[], limits=limits())
    embed_missing([built], Away())
    assert replace_all([built], serving="") == [built]
    assert not SectionVector.objects.exists()
    assert paths(ask(project, "title", mode=Mode.LEXICAL)) == ["a.md"]


@pytest.mark.django_db(transaction=True)
def test_a_search_finds_the_one_version_or_the_other(transactional_db):
    """Replaced without a pause, while others look: never none, never both."""
    project = factories.make_project()
    texts = [
        "# Signal\n\nThe beacon is red.\n\n## Second\n\nA beacon in red, seen from afar.\n",
        "# Signal\n\nThe beacon is green, and nothing else is said of it here.\n",
    ]
    make_indexed(project, "a.md", texts[0])
    stop = threading.Event()
    wrong: list[object] = []
    searches: list[int] = []

    def look() -> None:
        try:
            while not stop.is_set():
                results = ask(project, "beacon").results
                searches.append(1)
                if len({result.document_hash for result in results}) != 1:
                    wrong.append(results)
        except BaseException as error:
            wrong.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for n in range(15):
        make_indexed(project, "a.md", texts[(n + 1) % 2])
    stop.set()
    for thread in threads:
        thread.join()

    assert wrong == []
    assert len(searches) > 5
