"""What an extraction writes, and what it is told of people's choices."""

from dataclasses import replace

import pytest

from projects.choices import TermStatus
from projects.models import (
    Term,
)
from projects.services.synonyms import make_group
from projects.services.terms import (
    Taken,
    add_term,
    set_status,
    take_extraction,
    term_lists,
    update_term,
)
from projects.services.terms.extraction import BATCH
from projects.terms.keys import key_of
from tests import factories
from tests.projects.terms.scene import extract, found, term, told


class TestExtraction:
    def test_new_known_and_lost_ones(self, project):
        assert extract(project, "a1", "b1") == Taken(added=2, updated=0, removed=0)
        assert extract(project, "a1", "b1") == Taken(added=0, updated=0, removed=0)
        assert extract(project, found("a1", score=9.0), "c1") == Taken(1, 1, 1)
        assert set(Term.objects.values_list("text", "score")) == {("a1", 9.0), ("c1", 5.0)}

    def test_a_row_keeps_its_number_and_its_birthday(self, project):
        extract(project, "a1")
        before = term(project, "a1")
        extract(project, found("A1", frequency=8))
        after = term(project, "a1")
        assert (after.pk, after.created_at) == (before.pk, before.created_at)
        assert (after.text, after.frequency) == ("A1", 8)

    def test_one_that_is_stopped_has_written_nothing(self, project):
        extract(project, "a1")
        checks = iter([None, None, TimeoutError])

        def check():
            if error := next(checks):
                raise error

        new = [found(f"b{number}") for number in range(3 * BATCH)]
        with pytest.raises(TimeoutError):
            take_extraction(project=project, found=new, check=check)
        assert Term.objects.get().text == "a1"
        assert take_extraction(project=project, found=new) == Taken(3 * BATCH, 0, 1)

    def test_the_same_again_is_not_told(self, project):
        extract(project, "a1")
        extract(project, "a1")
        assert [payload["action"] for payload in told(project)] == ["extracted"]
        assert told(project)[0]["added"] == 1

    def test_what_people_chose_stays_and_the_rest_follows(self, project, editor):
        extract(project, "queues")
        update_term(term=term(project, "queue"), actor=editor, text="queue", category="title")
        set_status(
            project=project, ids=[term(project, "queue").pk], status="required", actor=editor
        )
        extract(
            project,
            found("Queues", category="common_noun", score=7.0, excluded_because="common_noun"),
        )
        row = term(project, "queue")
        assert (row.text, row.category, row.status, row.score) == (
            "queue",
            "title",
            TermStatus.REQUIRED,
            7.0,
        )

    @pytest.mark.parametrize("touch", ["notes", "category", "status", "group", "by_hand"])
    def test_a_lost_one_stays_when_somebody_touched_it(self, project, editor, touch):
        extract(project, "queue", "stack")
        row = term(project, "queue")
        if touch == "notes":
            update_term(term=row, actor=editor, notes="Ours.")
        elif touch == "category":
            update_term(term=row, actor=editor, category="title")
        elif touch == "status":
            set_status(project=project, ids=[row.pk], status="required", actor=editor)
        elif touch == "group":
            make_group(project=project, primary=row, terms=[term(project, "stack")], actor=editor)
        else:
            Term.objects.filter(pk=row.pk).update(by_hand=True)
        taken = extract(project, "stack")
        assert (taken.updated, taken.removed) == (1, 0)
        row = term(project, "queue")
        assert (row.score, row.frequency, row.document_count) == (0.0, 0, 0)
        assert (row.variants, row.occurrences) == ([], [])

    def test_an_excluded_one_is_not_looked_for_so_its_figures_stay(self, project, editor):
        extract(project, "queue")
        set_status(
            project=project, ids=[term(project, "queue").pk], status="excluded", actor=editor
        )
        assert extract(project) == Taken(0, 0, 0)
        assert term(project, "queue").frequency == 3

    def test_a_term_added_by_hand_is_in_whatever_its_kind(self, project, editor):
        add_term(project=project, text="thing", actor=editor)
        extract(project, found("thing", category="common_noun", excluded_because="common_noun"))
        assert term(project, "thing").status == TermStatus.CANDIDATE

    def test_what_no_category_of_the_project_is_is_none(self, project):
        extract(project, found("a1", category="invented"))
        assert term(project, "a1").category == ""

    def test_the_first_of_two_with_one_key_counts(self, project):
        assert extract(project, found("a1", score=9.0), found("A1", score=1.0)).added == 1
        assert term(project, "a1").score == 9.0

    def test_other_projects_are_left_alone(self, project):
        other = factories.make_project("Quay")
        extract(other, "a1")
        extract(project, "b1")
        assert extract(project) == Taken(0, 0, 1)
        assert term(other, "a1").pk

    def test_thousands_take_a_few_statements(self, project, django_assert_max_num_queries):
        rows = [found(f"term {number}") for number in range(600)]
        with django_assert_max_num_queries(30):
            take_extraction(project=project, found=rows)
        with django_assert_max_num_queries(30):
            take_extraction(project=project, found=[replace(row, score=6.0) for row in rows])
        assert Term.objects.filter(score=6.0).count() == 600


class TestLists:
    def test_what_people_said(self, project, editor):
        extract(project, "a1", "b1", "c1", "d1", "e1", "untouched")
        set_status(project=project, ids=[term(project, "a1").pk], status="required", actor=editor)
        set_status(project=project, ids=[term(project, "b1").pk], status="excluded", actor=editor)
        update_term(term=term(project, "c1"), actor=editor, category="title", notes="Note.")
        make_group(
            project=project,
            primary=term(project, "e1"),
            terms=[term(project, "d1")],
            actor=editor,
        )
        add_term(project=project, text="By Hand", actor=editor)
        lists = term_lists(project)
        assert lists.required == {"a1": "a1", key_of("By Hand"): "By Hand"}
        assert lists.excluded == {"b1"}
        assert lists.categories == {"c1": "title"}
        assert lists.notes == {"c1": "Note."}
        assert lists.chosen == {"a1", "b1", "c1", key_of("By Hand")}
        assert lists.synonyms == [("e1", "d1")]

    def test_in_two_queries(self, project, editor, django_assert_num_queries):
        extract(project, *(f"a{n}" for n in range(30)))
        ids = [row.pk for row in Term.objects.all()]
        set_status(project=project, ids=ids, status="required", actor=editor)
        with django_assert_num_queries(2):
            assert len(term_lists(project).required) == 30

    def test_an_excluded_member_is_not_among_the_names(self, project, editor):
        extract(project, "a1", "b1", "c1")
        make_group(
            project=project,
            primary=term(project, "a1"),
            terms=[term(project, "b1"), term(project, "c1")],
            actor=editor,
        )
        set_status(project=project, ids=[term(project, "b1").pk], status="excluded", actor=editor)
        assert term_lists(project).synonyms == [("a1", "c1")]
        set_status(project=project, ids=[term(project, "c1").pk], status="excluded", actor=editor)
        assert term_lists(project).synonyms == []
