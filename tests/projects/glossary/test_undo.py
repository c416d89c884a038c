"""Every change can be taken back, one by one or together."""

from uuid import uuid4

import pytest

from glossary_site.errors import Refusal
from projects.choices import Change
from projects.models import EntryRevision, GlossaryEntry
from projects.services.categories import add_category, delete_category
from projects.services.glossary import (
    add_entry,
    delete_entry,
    undo,
    undo_batch,
)
from tests import factories
from tests.projects.glossary.scene import data, edit, entry, last, publish


class TestUndo:
    def test_an_edit_is_taken_back_with_its_lock(self, project, editor, owner):
        publish(project, data("quay", needs_review=True))
        row = edit(entry(project, "quay"), editor, definition="Mine.")
        revision = last(row)
        back = undo(revision=revision, actor=owner)
        assert back is not None
        back.refresh_from_db()
        assert (back.definition, back.locked, back.needs_review) == ("What quay is.", [], True)
        assert (back.confidence, back.version) == (0.6, 3)
        revision.refresh_from_db()
        undoing = last(back)
        assert (undoing.change, undoing.author, revision.undone_by) == (
            Change.UNDONE,
            owner,
            undoing,
        )

    def test_only_what_it_changed_is_taken_back(self, project, editor):
        publish(project, data("quay"))
        first = last(edit(entry(project, "quay"), editor, definition="Mine."))
        edit(entry(project, "quay"), editor, category="title")
        undo(revision=first, actor=editor)
        row = entry(project, "quay")
        assert (row.definition, row.category, row.locked) == (
            "What quay is.",
            "title",
            ["category"],
        )

    def test_a_category_that_was_deleted_since_does_not_come_back(self, project, editor, owner):
        law = add_category(project=project, name="Law", actor=owner)
        publish(project, data("quay"), data("pier"))
        for name in ("quay", "pier"):
            edit(entry(project, name), editor, category="law")
        moved = last(edit(entry(project, "quay"), editor, category="title"))
        gone = entry(project, "pier")
        delete_entry(entry=gone, actor=editor)
        deletion = EntryRevision.objects.filter(term=gone.term).order_by("-pk")[0]
        delete_category(category=law, actor=owner)
        for revision in (moved, deletion):
            undo(revision=revision, actor=editor)
        for name in ("quay", "pier"):
            row = entry(project, name)
            assert (row.category, row.locked) == ("", [])

    def test_what_was_changed_again_stands_against_it(self, project, editor):
        publish(project, data("quay"))
        first = last(edit(entry(project, "quay"), editor, definition="One."))
        second = last(edit(entry(project, "quay"), editor, definition="Two."))
        with pytest.raises(Refusal) as raised:
            undo(revision=first, actor=editor)
        assert (raised.value.code, raised.value.status) == ("entry_changed_since", 409)
        undo(revision=second, actor=editor)
        undo(revision=first, actor=editor)
        assert entry(project, "quay").definition == "What quay is."

    def test_once_is_enough_and_an_undo_can_be_undone(self, project, editor):
        publish(project, data("quay"))
        revision = last(edit(entry(project, "quay"), editor, definition="Mine."))
        row = undo(revision=revision, actor=editor)
        with pytest.raises(Refusal) as raised:
            undo(revision=revision, actor=editor)
        assert raised.value.code == "already_undone"
        undo(revision=last(row), actor=editor)
        row = entry(project, "quay")
        assert (row.definition, row.locked) == ("Mine.", ["definition"])

    def test_a_new_entry_is_taken_out_again(self, project, editor):
        row = add_entry(project=project, actor=editor, term="quay", definition="A place.")
        assert undo(revision=last(row), actor=editor) is None
        assert not GlossaryEntry.objects.exists()

    def test_but_not_when_somebody_worked_on_it(self, project, editor):
        row = add_entry(project=project, actor=editor, term="quay", definition="A place.")
        first = last(row)
        edit(row, editor, category="title")
        with pytest.raises(Refusal) as raised:
            undo(revision=first, actor=editor)
        assert raised.value.code == "entry_changed_since"

    def test_a_deleted_entry_comes_back_with_number_and_history(self, project, editor):
        publish(project, data("quay"))
        row = edit(entry(project, "quay"), editor, definition="Mine.")
        delete_entry(entry=row, actor=editor)
        deletion = EntryRevision.objects.get(change=Change.DELETED)
        back = undo(revision=deletion, actor=editor)
        assert back is not None
        back.refresh_from_db()
        assert (back.pk, back.definition, back.locked) == (row.pk, "Mine.", ["definition"])
        numbers = EntryRevision.objects.filter(entry=back).order_by("pk")
        assert [revision.number for revision in numbers] == [1, 2, 3, 4]
        assert back.version == 4
        edit(back, editor, category="title")

    def test_unless_there_is_another_of_its_name(self, project, editor):
        row = add_entry(project=project, actor=editor, term="quay", definition="A place.")
        delete_entry(entry=row, actor=editor)
        other = add_entry(project=project, actor=editor, term="Quays", definition="Places.")
        with pytest.raises(Refusal) as raised:
            undo(revision=EntryRevision.objects.get(change=Change.DELETED), actor=editor)
        assert (raised.value.code, raised.value.details) == (
            "entry_exists",
            {"entry_id": other.pk},
        )

    def test_a_change_of_an_entry_that_is_gone(self, project, editor):
        row = add_entry(project=project, actor=editor, term="quay", definition="A place.")
        revision = last(edit(row, editor, category="title"))
        delete_entry(entry=entry(project, "quay"), actor=editor)
        with pytest.raises(Refusal) as raised:
            undo(revision=revision, actor=editor)
        assert raised.value.code == "entry_gone"

    def test_a_name_goes_back_unless_it_is_taken(self, project, editor):
        publish(project, data("quay"))
        renaming = last(edit(entry(project, "quay"), editor, term="Landing stage"))
        other = add_entry(project=project, actor=editor, term="quay", definition="A place.")
        with pytest.raises(Refusal) as raised:
            undo(revision=renaming, actor=editor)
        assert raised.value.code == "entry_exists"
        delete_entry(entry=other, actor=editor)
        undo(revision=renaming, actor=editor)
        row = entry(project, "quay")
        assert (row.term, row.letter, row.aliases, row.locked) == ("quay", "Q", [], [])

    def test_a_whole_publication_but_for_what_people_changed_since(self, project, editor):
        publish(project, data("quay"), data("pier"))
        second = publish(
            project, data("quay", "B."), data("pier", "B."), data("mole"), data("lock"), run_id=8
        )
        edit(entry(project, "pier"), editor, definition="Mine.")
        edit(entry(project, "lock"), editor, category="title")
        assert undo_batch(project=project, batch=second.batch, actor=editor) == 2
        rows = dict(GlossaryEntry.objects.values_list("term", "definition"))
        assert rows == {"quay": "What quay is.", "pier": "Mine.", "lock": "What lock is."}
        with pytest.raises(Refusal) as raised:
            undo_batch(project=project, batch=second.batch, actor=editor)
        assert (raised.value.code, raised.value.status) == ("nothing_to_undo", 409)

    def test_and_back_again(self, project, editor):
        first = publish(project, data("quay"), data("pier"))
        undo_batch(project=project, batch=first.batch, actor=editor)
        assert not GlossaryEntry.objects.exists()
        undoing = EntryRevision.objects.filter(change=Change.UNDONE).first()
        assert undo_batch(project=project, batch=undoing.batch, actor=editor) == 2
        assert set(GlossaryEntry.objects.values_list("term", flat=True)) == {"quay", "pier"}
        assert not EntryRevision.objects.filter(entry=None).exists()

    def test_a_batch_of_another_project_is_none(self, project, editor):
        other = factories.make_project("Quay")
        batch = publish(other, data("quay")).batch
        for wrong in (batch, uuid4()):
            with pytest.raises(Refusal) as raised:
                undo_batch(project=project, batch=wrong, actor=editor)
            assert (raised.value.code, raised.value.status) == ("batch_unknown", 404)
        assert entry(other, "quay").version == 1
