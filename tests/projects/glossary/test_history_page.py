"""What happened to the glossary, and the differences."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from projects.choices import Change
from projects.models import EntryRevision
from projects.rendering.words import word_diff
from projects.services.glossary import edit_entry
from tests.projects.glossary.visiting import page, post

pytestmark = pytest.mark.django_db


class TestHistory:
    def test_authors_words_and_undo(self, editing, editor, project, entries):
        entry = entries["pilot"]
        edit_entry(entry=entry, actor=editor, version=1, definition="A mariner who steers vessels.")
        html = page(editing, "glossary-entry", project.pk, entry.pk)
        assert "<del>guides</del><ins>steers</ins>" in html
        assert "run 7" in html
        revision = entry.revisions.first()
        html = post(editing, "revision-undo", project.pk, revision.pk)
        assert "was undone" in html
        entry.refresh_from_db()
        assert entry.definition == "A mariner who guides vessels."
        # Twice is once: the second time it says so.
        assert "already" in post(editing, "revision-undo", project.pk, revision.pk)

    def test_what_was_changed_again_since_is_not_undone(self, editing, editor, project, entries):
        entry = entries["pilot"]
        edit_entry(entry=entry, actor=editor, version=1, definition="One.")
        edit_entry(entry=entry, actor=editor, version=2, definition="Two.")
        first, second = entry.revisions.get(number=2), entry.revisions.get(number=3)
        html = page(editing, "glossary-entry", project.pk, entry.pk)
        assert f'id="undo-{second.pk}"' in html
        assert f'id="undo-{first.pk}"' not in html
        assert "changed again since" in post(editing, "revision-undo", project.pk, first.pk)
        entry.refresh_from_db()
        assert entry.definition == "Two."

    def test_a_deleted_entry_comes_back(self, editing, project, entries):
        entry = entries["pilot"]
        html = post(editing, "entry-delete", project.pk, entry.pk)
        assert "“pilot” was deleted." in html
        assert reverse("glossary-history", args=[project.pk]) in html
        assert "Bring back" in page(editing, "glossary-history", project.pk)
        revision = EntryRevision.objects.get(change=Change.DELETED)
        post(editing, "revision-undo", project.pk, revision.pk)
        assert page(editing, "glossary-entry", project.pk, entry.pk)

    def test_a_publication_is_one_line_and_undone_in_one_go(self, editing, project, entries):
        html = page(editing, "glossary-history", project.pk)
        assert "<strong>4 entries</strong>" in html
        batch = EntryRevision.objects.values_list("batch", flat=True).distinct().get()
        html = post(editing, "batch-undo", project.pk, batch)
        assert "The changes of 4 entries were undone." in html
        assert not project.entries.exists()
        assert "Nothing of it can be taken back" in post(editing, "batch-undo", project.pk, batch)

    def test_the_queries_of_the_history_do_not_grow(self, editing, editor, project, entries):
        def queries() -> int:
            with CaptureQueriesContext(connection) as captured:
                page(editing, "glossary-history", project.pk)
            return len(captured)

        edit_entry(entry=entries["pilot"], actor=editor, version=1, definition="One.")
        page(editing, "glossary-history", project.pk)
        before = queries()
        for number in range(2, 20):
            edit_entry(entry=entries["pilot"], actor=editor, version=number, definition=f"{number}")
        assert queries() == before <= 18


@pytest.mark.parametrize(
    ("old", "new", "spans"),
    [
        ("", "a b", [("add", "a b")]),
        ("a b", "", [("del", "a b")]),
        ("same", "same", [("same", "same")]),
        (
            "a cat sat",
            "a dog sat",
            [("same", "a "), ("del", "cat"), ("add", "dog"), ("same", " sat")],
        ),
        (
            "Used in: “Minutes after the bus went dead, a start was begun from the sheet.”",
            "Starting a dead network from its batteries.",
            [
                (
                    "del",
                    "Used in: “Minutes after the bus went dead, a start was begun from the sheet.”",
                ),
                ("add", "Starting a dead network from its batteries."),
            ],
        ),
        (
            "A rope.",
            "A rope. It holds the ship at the quay in every tide.",
            [("same", "A rope."), ("add", " It holds the ship at the quay in every tide.")],
        ),
        ("船の綱", "船の縄", [("same", "船の"), ("del", "綱"), ("add", "縄")]),
    ],
)
def test_word_diff(old, new, spans):
    assert [(span.kind, span.text) for span in word_diff(old, new)] == spans


def test_a_very_long_text_is_not_compared_word_by_word():
    spans = word_diff("a " * 5000, "b " * 5000)
    assert [span.kind for span in spans] == ["del", "add"]
