"""The published glossary: locks, revisions, undo, and people and runs at once."""

import threading
from dataclasses import replace
from uuid import uuid4

import pytest
from django.db import connection
from django.utils.translation import override

from glossary_site.errors import Refusal
from glossary_site.live.models import Event
from glossary_site.live.reading import events_after
from projects.access import OPERATOR
from projects.choices import Change
from projects.models import EntryRevision, GlossaryEntry
from projects.news import PROGRESS, news_of
from projects.services.glossary import (
    EntryData,
    add_entry,
    delete_entry,
    edit_entry,
    publish_entries,
    undo,
    undo_batch,
    unlock,
)
from projects.terms.keys import key_of
from projects.terms.readings import reading_of
from tests import factories


def place(quote: str, line: int = 3, path: str = "guide.md") -> dict:
    return {
        "document_id": 1,
        "path": path,
        "file_hash": "f" * 64,
        "line_start": line,
        "line_end": line,
        "heading_path": ("Guide",),
        "quote": quote,
    }


def data(term: str, definition: str = "", **fields) -> EntryData:
    values = {
        "confidence": 0.6,
        "evidence": [place(f"{term} is it")],
        "score": 5.0,
        "frequency": 4,
        "prompt_version": "define-1",
    }
    return EntryData(
        term=term,
        key=key_of(term),
        reading=reading_of(term),
        language="en",
        definition=definition or f"What {term} is.",
        **{**values, **fields},
    )


def publish(project, *entries, run_id=7, actor=OPERATOR):
    return publish_entries(project=project, entries=entries, run_id=run_id, actor=actor)


def entry(project, term: str) -> GlossaryEntry:
    return GlossaryEntry.objects.get(project=project, key=key_of(term))


def edit(row: GlossaryEntry, actor, **fields) -> GlossaryEntry:
    return edit_entry(entry=row, actor=actor, version=row.version, **fields)


def last(row: GlossaryEntry) -> EntryRevision:
    return EntryRevision.objects.filter(entry=row).order_by("-pk")[0]


def told(project) -> list[str]:
    kinds = [event["type"] for event in events_after(project.stream, 0)]
    return [kind for kind in kinds if kind.startswith("glossary.")]


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


class TestPublishing:
    def test_new_changed_and_the_same(self, project, editor):
        first = publish(project, data("quay"), data("pier"), actor=editor)
        assert (first.created, first.updated, first.unchanged) == (2, 0, 0)
        second = publish(
            project, data("quay"), data("pier", "Other."), data("mole"), run_id=8, actor=editor
        )
        assert (second.created, second.updated, second.unchanged) == (1, 1, 1)
        pier = entry(project, "pier")
        assert (pier.definition, pier.version, pier.run_id) == ("Other.", 2, 8)
        assert entry(project, "quay").version == 1
        revision = last(pier)
        assert (revision.change, revision.author, revision.run_id) == (
            Change.PUBLISHED,
            editor,
            8,
        )
        assert revision.batch == second.batch

    def test_figures_follow_without_a_revision(self, project):
        publish(project, data("quay"))
        result = publish(project, data("quay", score=9.0, frequency=40), run_id=8)
        row = entry(project, "quay")
        assert (row.score, row.frequency, row.version, row.run_id) == (9.0, 40, 1, 7)
        assert (result.unchanged, EntryRevision.objects.count()) == (1, 1)

    def test_what_is_not_published_stays(self, project):
        publish(project, data("quay"), data("pier"))
        publish(project, data("quay"))
        assert GlossaryEntry.objects.count() == 2

    def test_nothing_new_is_not_told(self, project):
        publish(project, data("quay"))
        publish(project, data("quay"))
        assert told(project) == ["glossary.changed", "glossary.published"]

    def test_what_a_person_wrote_no_run_replaces(self, project, editor):
        publish(project, data("quay"))
        edit(entry(project, "quay"), editor, definition="Mine.", category="title")
        result = publish(
            project,
            data(
                "quay",
                "Theirs.",
                confidence=0.9,
                needs_review=True,
                category="technical_term",
                aliases=["wharf"],
                evidence=[place("a new quote"), place("quay is it", line=9)],
            ),
            run_id=8,
        )
        row = entry(project, "quay")
        assert (row.definition, row.confidence, row.needs_review) == ("Mine.", 1.0, False)
        assert (row.category, row.aliases) == ("title", ["wharf"])
        # What the run found is added; what was known is where it was seen last.
        assert [(piece["quote"], piece["line_start"]) for piece in row.evidence] == [
            ("quay is it", 9),
            ("a new quote", 3),
        ]
        assert (result.updated, result.locked) == (1, 1)

    def test_evidence_of_a_locked_definition_does_not_grow_without_end(self, project, editor):
        publish(project, data("quay"))
        edit(entry(project, "quay"), editor, definition="Mine.")
        for n in range(30):
            publish(project, data("quay", evidence=[place(f"quote {n}")]))
        assert len(entry(project, "quay").evidence) == 20

    def test_a_run_finds_an_entry_by_its_old_name(self, project, editor):
        publish(project, data("quay"))
        row = edit(entry(project, "quay"), editor, term="Landing stage")
        result = publish(project, data("quay", "Better."), run_id=8)
        assert (result.created, result.updated) == (0, 1)
        row = entry(project, "Landing stage")
        assert (row.definition, row.term, row.aliases) == ("Better.", "Landing stage", ["quay"])
        # Found under both names, the new one counts.
        result = publish(project, data("quay", "Old."), data("landing stage", "New."), run_id=9)
        assert (result.created, result.updated, result.unchanged) == (0, 1, 1)
        assert entry(project, "Landing stage").definition == "New."
        # Whoever removes the alias says that it is something else.
        row = entry(project, "Landing stage")
        edit(row, editor, aliases=[])
        assert publish(project, data("quay"), run_id=10).created == 1

    def test_odd_values_are_put_right(self, project):
        publish(project, data("quay", confidence=1.7, category="invented"))
        row = entry(project, "quay")
        assert (row.confidence, row.category) == (1.0, "")

    def test_thousands_take_a_few_statements(self, project, django_assert_max_num_queries):
        rows = [data(f"term {number}") for number in range(300)]
        with django_assert_max_num_queries(40):
            publish(project, *rows)
        with django_assert_max_num_queries(40):
            result = publish(project, *(replace(row, definition="New.") for row in rows))
        assert result.updated == 300
        with django_assert_max_num_queries(60):
            assert undo_batch(project=project, batch=result.batch, actor=OPERATOR) == 300


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


class TestAtOnce:
    @pytest.mark.django_db(transaction=True)
    def test_of_many_edits_of_one_version_one_wins(self, project):
        publish(project, data("quay"))
        row = entry(project, "quay")
        start = threading.Barrier(6)
        won, refused = [], []

        def change(number):
            start.wait()
            try:
                edit_entry(entry=row, actor=OPERATOR, version=1, definition=f"Definition {number}.")
                won.append(f"Definition {number}.")
            except Refusal as refusal:
                refused.append((refusal.code, refusal.details["version"]))
            finally:
                connection.close()

        run_all([threading.Thread(target=change, args=[n]) for n in range(6)])
        assert [entry(project, "quay").definition] == won
        assert refused == [("entry_changed", 2)] * 5
        assert EntryRevision.objects.count() == 2

    @pytest.mark.django_db(transaction=True)
    def test_many_who_add_one_entry_make_one(self, project):
        start = threading.Barrier(5)
        outcomes = []

        def add(term):
            start.wait()
            try:
                add_entry(project=project, actor=OPERATOR, term=term, definition="A place.")
                outcomes.append("made")
            except Refusal as refusal:
                outcomes.append(refusal.code)
            finally:
                connection.close()

        names = ["quay", "Quay", "quays", "QUAY", "Quays"]
        run_all([threading.Thread(target=add, args=[name]) for name in names])
        assert sorted(outcomes) == ["entry_exists"] * 4 + ["made"]

    @pytest.mark.django_db(transaction=True)
    def test_a_run_that_publishes_beside_editors_loses_nothing_of_theirs(self, project):
        terms = [f"term {number}" for number in range(30)]
        publish(project, *(data(term) for term in terms))
        start = threading.Barrier(2)
        refused: set[str] = set()

        def write():
            start.wait()
            try:
                for term in terms[:15]:
                    while entry(project, term).definition != f"Mine of {term}.":
                        try:
                            edit(entry(project, term), OPERATOR, definition=f"Mine of {term}.")
                        except Refusal as refusal:
                            refused.add(refusal.code)
            finally:
                connection.close()

        def publish_often():
            start.wait()
            try:
                for run in range(4):
                    rows = (data(term, f"Run {run}.") for term in terms)
                    publish(project, *rows, run_id=100 + run)
            finally:
                connection.close()

        run_all([threading.Thread(target=write), threading.Thread(target=publish_often)])
        assert refused <= {"entry_changed"}
        rows = dict(GlossaryEntry.objects.values_list("term", "definition"))
        for term in terms[:15]:
            assert rows[term] == f"Mine of {term}."
        assert {rows[term] for term in terms[15:]} == {"Run 3."}
        for row in GlossaryEntry.objects.all():
            numbers = row.revisions.order_by("number").values_list("number", flat=True)
            assert list(numbers) == list(range(1, row.version + 1))

    @pytest.mark.django_db(transaction=True)
    def test_two_who_undo_one_revision_do_it_once(self, project):
        publish(project, data("quay"))
        revision = last(edit(entry(project, "quay"), OPERATOR, definition="Mine."))
        start = threading.Barrier(2)
        outcomes = []

        def take_back():
            start.wait()
            try:
                undo(revision=revision, actor=OPERATOR)
                outcomes.append("undone")
            except Refusal as refusal:
                outcomes.append(refusal.code)
            finally:
                connection.close()

        run_all([threading.Thread(target=take_back) for _ in range(2)])
        assert sorted(outcomes) == ["already_undone", "undone"]
        assert entry(project, "quay").version == 3


def run_all(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
