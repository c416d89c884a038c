"""Two runs side by side, and what publishing one would change."""

import time

import pytest

from projects.access import OPERATOR
from projects.choices import TermStatus
from projects.models import EntryRevision, GlossaryEntry, Term
from projects.services.glossary.entries import delete_entry, edit_entry, unlock
from projects.services.glossary.publishing import Effect
from projects.services.glossary.undoing import undo_batch
from projects.services.terms import list_term
from runs.models import ProvisionalEntry
from runs.services.comparing import compare, preview
from runs.services.publishing import publish
from tests.runs.made import add_entries, entry_fields, make_run

pytestmark = pytest.mark.django_db

QUOTES = [{"document_id": 1, "path": "a.md", "line_start": 1, "line_end": 1, "quote": "Q."}]


def entry(project, term, definition, **fields) -> GlossaryEntry:
    usual = {"key": term.lower(), "letter": "A", "language": "en", "category": "technical_term"}
    return GlossaryEntry.objects.create(
        project=project, term=term, definition=definition, **(usual | fields)
    )


class TestCompare:
    def test_what_came_what_went_and_what_reads_differently(self, project):
        older, newer = make_run(project), make_run(project)
        add_entries(older, {"Ebb": "The tide goes out.", "Quay": "A wall.", "Buoy": "A mark."})
        add_entries(newer, {"Ebb": "The tide flows out.", "Quay": "A wall.", "Keel": "A beam."})
        found = compare(older, newer)
        assert [side.term for side in found.added] == ["Keel"]
        assert [side.term for side in found.removed] == ["Buoy"]
        (changed,) = found.changed
        assert (changed.term, changed.fields) == ("Ebb", ("definition",))
        assert (changed.old.definition, changed.new.definition) == (
            "The tide goes out.",
            "The tide flows out.",
        )
        assert found.same_count == 1
        assert not found.is_empty

    def test_the_refined_entries_are_a_runs_last_word(self, project):
        older, newer = make_run(project), make_run(project)
        add_entries(older, {"Ebb": "First."}, refined=False)
        add_entries(newer, {"Ebb": "Second."})
        newer.provisional.update(definition="First.")
        assert [each.new.definition for each in compare(older, newer).changed] == ["Second."]
        newer.refined.all().delete()
        assert compare(older, newer).is_empty

    def test_the_order_of_names_is_no_change_but_a_name_is(self, project):
        runs = [make_run(project) for _ in range(3)]
        for run, aliases in zip(runs, (["a", "b"], ["b", "a"], ["b", "c"]), strict=True):
            add_entries(run, {"Ebb": "Same."}, aliases=aliases)
        assert compare(runs[0], runs[1]).is_empty
        assert [each.fields for each in compare(runs[1], runs[2]).changed] == [("aliases",)]

    def test_differences_are_in_the_order_of_the_run_best_first(self, project):
        older, newer = make_run(project), make_run(project)
        add_entries(newer, {"Zulu": "Z.", "Alpha": "A."})
        assert [side.term for side in compare(older, newer).added] == ["Zulu", "Alpha"]
        assert [side.term for side in compare(newer, older).removed] == ["Zulu", "Alpha"]

    def test_two_thousand_entries_in_four_queries_and_at_once(
        self, project, django_assert_num_queries
    ):
        older, newer = make_run(project), make_run(project)
        for run, word in ((older, "one"), (newer, "two")):
            ProvisionalEntry.objects.bulk_create(
                ProvisionalEntry(**entry_fields(run, f"Term {n}", f"It is {word} of {n}. " * 20))
                for n in range(2000)
            )
        began = time.perf_counter()
        with django_assert_num_queries(4):
            found = compare(older, newer)
        assert len(found.changed) == 2000
        # Tens of milliseconds; the limit is for a machine that does much else.
        assert time.perf_counter() - began < 2


class TestPreview:
    def test_counts_what_publishing_would_do(self, project):
        earlier, run = make_run(project), make_run(project)
        words = {"Same": "S.", "Changed": "C.", "Held": "H.", "Quoted": "Q."}
        add_entries(earlier, words | {"Gone": "G."}, evidence=QUOTES)
        add_entries(run, words | {"New": "N."}, evidence=QUOTES)
        publish(earlier, actor=OPERATOR)
        GlossaryEntry.objects.filter(key="changed").update(definition="Before.")
        GlossaryEntry.objects.filter(key="held").update(
            definition="By hand.", locked=["definition"]
        )
        GlossaryEntry.objects.filter(key="quoted").update(evidence=[])
        entry(project, "Own", "Written by hand.")
        seen = preview(run)
        assert (seen.created, seen.updated, seen.unchanged) == (1, 2, 2)
        assert (seen.locked, seen.absent) == (1, 1)
        assert not GlossaryEntry.objects.filter(key="new").exists()
        done = publish(run, actor=OPERATOR)
        assert Effect(**{name: getattr(done, name) for name in vars(seen)}) == seen

    def test_a_term_that_people_exclude_after_the_run_is_not_published(self, project):
        earlier, run = make_run(project), make_run(project)
        add_entries(earlier, {"There": "Before."})
        publish(earlier, actor=OPERATOR)
        add_entries(run, {"Ebb": "Out.", "Flood": "In.", "There": "After."})
        seen = preview(run)
        assert (seen.created, seen.updated, seen.excluded) == (2, 1, 0)
        for text in ("ebb", "There"):
            list_term(project=project, text=text, status=TermStatus.EXCLUDED, actor=OPERATOR)
        Term.objects.create(project=project, text="Flood", key="flood", status="auto_excluded")
        seen = preview(run)
        assert (seen.created, seen.updated, seen.absent, seen.excluded) == (1, 0, 0, 2)
        done = publish(run, actor=OPERATOR, terms=["Ebb", "Flood", "There"])
        assert (done.created, done.updated, done.excluded) == (1, 0, 2)
        entries = GlossaryEntry.objects.values_list("key", "definition")
        assert dict(entries) == {"flood": "In.", "there": "Before."}

    def test_a_lock_on_what_does_not_differ_holds_nothing(self, project):
        run = make_run(project)
        add_entries(run, {"Ebb": "After."})
        entry(project, "Ebb", "Before.", locked=["category"])
        assert (preview(run).updated, preview(run).locked) == (1, 0)

    def test_it_is_remembered_until_the_glossary_changes(
        self, project, django_assert_max_num_queries
    ):
        run = make_run(project)
        add_entries(run, {"Ebb": "The tide that falls.", "Flood": "The tide that rises."})
        assert preview(run).created == 2
        # Of the run's entries nothing is read again.
        with django_assert_max_num_queries(3):
            assert preview(run).created == 2
        publish(run, actor=OPERATOR)
        assert (preview(run).created, preview(run).unchanged) == (0, 2)
        ebb = edit_entry(
            entry=GlossaryEntry.objects.get(key="ebb"), actor=OPERATOR, version=1, definition="Out."
        )
        assert preview(run).locked == 1
        unlock(entry=ebb, field="definition", actor=OPERATOR)
        assert (preview(run).updated, preview(run).locked) == (1, 0)
        delete_entry(entry=GlossaryEntry.objects.get(key="flood"), actor=OPERATOR)
        assert (preview(run).created, preview(run).updated) == (1, 1)
        publish(run, actor=OPERATOR)
        assert preview(run).unchanged == 2
        undo_batch(project=project, batch=latest(project), actor=OPERATOR)
        assert (preview(run).created, preview(run).updated) == (1, 1)


def latest(project):
    return EntryRevision.objects.filter(project=project).order_by("-pk")[0].batch
