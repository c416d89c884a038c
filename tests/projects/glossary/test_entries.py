"""What people do to the entries of the published glossary."""

import pytest
from django.utils.translation import override

from glossary_site.errors import Refusal
from glossary_site.live.models import Event
from projects.access import OPERATOR
from projects.choices import Change
from projects.models import EntryRevision, GlossaryEntry
from projects.news import PROGRESS, news_of
from projects.services.glossary import (
    add_entry,
    delete_entry,
    undo,
    undo_batch,
    unlock,
)
from projects.services.glossary.entries import MOST_NAMES
from tests.projects.glossary.scene import data, edit, entry, last, publish, told


class TestEntries:
    def test_what_somebody_writes_is_locked(self, project, editor):
        row = add_entry(
            project=project,
            actor=editor,
            term=" Quay ",
            definition="Where ships lie.",
            aliases=["wharf", "wharf", "Quay"],
        )
        row.refresh_from_db()
        assert (row.term, row.letter, row.aliases) == ("Quay", "Q", ["wharf"])
        assert row.locked == ["term", "definition", "aliases"]
        assert (row.version, row.confidence, row.needs_review) == (1, 1.0, False)
        revision = last(row)
        assert (revision.change, revision.author, revision.number) == (Change.CREATED, editor, 1)
        assert (revision.before, revision.after["definition"]) == (None, "Where ships lie.")
        assert told(project) == ["glossary.changed", "glossary.added"]

    def test_a_japanese_entry_stands_in_its_row(self, project, editor):
        row = add_entry(project=project, actor=editor, term="灯台", definition="光る塔。")
        assert (row.reading, row.letter, row.language) == ("とうだい", "た", "ja")

    def test_a_term_has_one_entry(self, project, editor):
        first = add_entry(project=project, actor=editor, term="quay", definition="A place.")
        with pytest.raises(Refusal) as raised:
            add_entry(project=project, actor=editor, term="Quays", definition="Places.")
        assert (raised.value.code, raised.value.details) == (
            "entry_exists",
            {"entry_id": first.pk},
        )

    @pytest.mark.parametrize(
        ("fields", "code"),
        [
            ({"definition": "  "}, "definition_invalid"),
            ({"definition": "a\x00b"}, "definition_invalid"),
            ({"definition": "x" * 10_001}, "definition_too_long"),
            ({"term": ""}, "term_invalid"),
            ({"category": "nope"}, "category_unknown"),
            ({"aliases": [str(n) for n in range(51)]}, "too_many_names"),
            ({"related": [""]}, "term_invalid"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_what_cannot_be_an_entry(self, project, editor, fields, code):
        with pytest.raises(Refusal) as raised:
            add_entry(
                project=project, actor=editor, **{"term": "x", "definition": "An x.", **fields}
            )
        assert (raised.value.code, raised.value.status) == (code, 400)
        assert not GlossaryEntry.objects.exists()

    def test_an_edit_locks_what_differs_and_nothing_else(self, project, editor):
        publish(project, data("quay", needs_review=True, supported=False))
        row = edit(
            entry(project, "quay"), editor, term="quay", definition="Mine.", category="title"
        )
        row.refresh_from_db()
        assert row.locked == ["definition", "category"]
        assert (row.version, row.confidence) == (2, 1.0)
        assert (row.supported, row.needs_review) == (True, False)
        revision = last(row)
        assert (revision.number, revision.before["definition"]) == (2, "What quay is.")

    def test_more_names_than_a_person_may_give_stay(self, project, editor):
        found = [f"wharf {n}" for n in range(MOST_NAMES + 1)]
        publish(project, data("quay", aliases=found, related=found))
        row = edit(entry(project, "quay"), editor, definition="Mine.", aliases=found, related=found)
        assert (row.definition, row.aliases, row.locked) == ("Mine.", found, ["definition"])
        row = edit(row, editor, term="pier")
        assert row.aliases == ["quay", *found]
        row = edit(row, editor, term="wharf 0", aliases=found)
        assert row.aliases == found[1:]
        with pytest.raises(Refusal) as raised:
            edit(row, editor, related=[*found, "mole"])
        assert raised.value.code == "too_many_names"

    def test_no_change_is_no_revision(self, project, editor):
        publish(project, data("quay"))
        row = edit(entry(project, "quay"), editor, term="quay", definition=" What quay is. ")
        assert (row.version, row.locked) == (1, [])
        assert EntryRevision.objects.count() == 1

    def test_whoever_comes_second_is_told(self, project, editor, owner):
        publish(project, data("quay"))
        mine, theirs = entry(project, "quay"), entry(project, "quay")
        edit(mine, editor, definition="Mine.")
        with pytest.raises(Refusal) as raised:
            edit(theirs, owner, category="title")
        assert (raised.value.code, raised.value.status) == ("entry_changed", 409)
        assert raised.value.details == {"version": 2}
        assert entry(project, "quay").category == ""

    def test_only_fields_of_an_entry_can_be_edited(self, project, editor):
        publish(project, data("quay"))
        with pytest.raises(TypeError):
            edit(entry(project, "quay"), editor, score=9.0)

    def test_somebody_has_looked_at_it(self, project, editor):
        publish(project, data("quay", needs_review=True))
        row = edit(entry(project, "quay"), editor, needs_review=False)
        assert (row.needs_review, row.locked, row.confidence) == (False, [], 0.6)
        # The same words from a later run need no second look; other words do.
        publish(project, data("quay", needs_review=True), run_id=8)
        assert not entry(project, "quay").needs_review
        publish(project, data("quay", "Something else.", needs_review=True), run_id=9)
        assert entry(project, "quay").needs_review

    def test_another_name_keeps_the_old_one_as_an_alias(self, project, editor):
        publish(project, data("quay", aliases=["wharf"]), data("pier"))
        row = edit(entry(project, "quay"), editor, term="Landing stage")
        assert (row.key, row.letter, row.aliases) == ("landingstage", "L", ["quay", "wharf"])
        assert row.locked == ["term", "aliases"]
        with pytest.raises(Refusal) as raised:
            edit(row, editor, term="Piers")
        assert raised.value.code == "entry_exists"

    def test_another_spelling_is_only_that(self, project, editor):
        publish(project, data("quays"))
        row = edit(entry(project, "quay"), editor, term="quay")
        assert (row.aliases, row.locked) == ([], ["term"])

    def test_unlocked_is_what_runs_may_write_again(self, project, editor):
        publish(project, data("quay"))
        row = edit(entry(project, "quay"), editor, definition="Mine.")
        row = unlock(entry=row, field="definition", actor=editor)
        assert (row.locked, row.version) == ([], 3)
        assert unlock(entry=row, field="definition", actor=editor).version == 3
        publish(project, data("quay", "Theirs."), run_id=8)
        assert entry(project, "quay").definition == "Theirs."

    def test_deleted_is_gone_but_not_its_history(self, project, editor):
        publish(project, data("quay"))
        row = entry(project, "quay")
        with pytest.raises(Refusal) as raised:
            delete_entry(entry=row, actor=editor, version=9)
        assert raised.value.code == "entry_changed"
        delete_entry(entry=row, actor=editor, version=1)
        assert not GlossaryEntry.objects.exists()
        revisions = EntryRevision.objects.order_by("pk")
        assert [(r.change, r.number, r.entry) for r in revisions] == [
            (Change.PUBLISHED, 1, None),
            (Change.DELETED, 2, None),
        ]
        with pytest.raises(Refusal) as raised:
            edit(row, editor, definition="Too late.")
        assert (raised.value.code, raised.value.status) == ("entry_gone", 404)


def test_the_news_say_who_did_what(project, editor):
    published = publish(project, data("quay"), data("pier"), actor=editor)
    publish(project, data("quay", "B."), data("mole"), actor=editor)
    publish(project, data("quay", "C."), actor=OPERATOR)
    row = edit(entry(project, "pier"), editor, definition="<b>Mine</b>.")
    undo(revision=last(row), actor=editor)
    unlocked = edit(entry(project, "mole"), editor, definition="Mine.")
    unlock(entry=unlocked, field="definition", actor=editor)
    delete_entry(entry=entry(project, "mole"), actor=editor)
    add_entry(project=project, actor=editor, term="<i>mole", definition="A wall.")
    undo_batch(project=project, batch=published.batch, actor=editor)
    events = Event.objects.filter(stream__name=project.stream, type__startswith="glossary.")
    with override("en"):
        said = [str(news_of(event).sentence) for event in events.exclude(PROGRESS).order_by("pk")]
    who = "<strong>edda</strong>"
    assert said == [
        f"{who} published a run: 2 new entries.",
        f"{who} published a run: entries that are new (1) or changed (1).",
        "<strong>An operator</strong> published a run: 1 changed entry.",
        f"{who} edited the entry <strong>pier</strong>.",
        f"{who} took a change of the entry <strong>pier</strong> back.",
        f"{who} edited the entry <strong>mole</strong>.",
        f"{who} lets runs change the entry <strong>mole</strong> again.",
        f"{who} took <strong>mole</strong> out of the glossary.",
        f"{who} added <strong>&lt;i&gt;mole</strong> to the glossary.",
        f"{who} took the change of 1 entry back.",
    ]
