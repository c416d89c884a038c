"""What a run's entries become in the glossary, around what people wrote."""

from dataclasses import replace

from projects.access import OPERATOR
from projects.choices import Change
from projects.models import EntryRevision, GlossaryEntry
from projects.services.glossary import (
    undo_batch,
)
from tests.projects.glossary.scene import data, edit, entry, last, place, publish, told


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

    def test_of_several_old_names_the_best_one_counts(self, project, editor):
        publish(project, data("quay"))
        row = edit(entry(project, "quay"), editor, aliases=["wharf"])
        edit(row, editor, term="Landing stage")
        result = publish(project, data("quay", "First."), data("wharf", "Second."), run_id=8)
        assert (result.created, result.updated, result.unchanged) == (0, 1, 1)
        row = entry(project, "Landing stage")
        assert (row.definition, last(row).number) == ("First.", row.version)
        assert undo_batch(project=project, batch=result.batch, actor=editor) == 1
        assert entry(project, "Landing stage").definition == "What quay is."

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
