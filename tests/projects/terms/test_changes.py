"""What people do to the terms of a project."""

import pytest
from django.db import IntegrityError, transaction

from glossary_site.errors import Refusal
from projects.choices import TermStatus
from projects.models import (
    Project,
    SynonymGroup,
    Term,
)
from projects.services.categories import add_category
from projects.services.synonyms import make_group
from projects.services.terms import (
    add_term,
    delete_terms,
    list_term,
    set_category,
    set_status,
    update_term,
)
from tests import factories
from tests.projects.terms.scene import extract, found, term, told


class TestByHand:
    def test_what_somebody_adds_is_cleaned_and_theirs(self, project, editor):
        added = add_term(
            project=project, text="  Message\u3000 Queue ", actor=editor, notes=" Ours. "
        )
        assert (added.text, added.notes, added.language) == ("Message Queue", "Ours.", "en")
        assert (added.status, added.by_hand, added.added_by) == ("candidate", True, editor)
        assert added.reading == "message queue"
        assert told(project)[-1] == {
            "action": "added",
            "count": 1,
            "terms": ["Message Queue"],
            "by": "edda",
        }

    def test_a_japanese_term_has_a_reading(self, project, editor):
        added = add_term(project=project, text="灯台", actor=editor)
        assert (added.language, added.reading) == ("ja", "とうだい")

    @pytest.mark.parametrize("text", ["message queues", "Message-Queue", "MESSAGE QUEUE"])
    def test_another_spelling_of_a_known_term_is_refused(self, project, editor, text):
        first = add_term(project=project, text="message queue", actor=editor)
        with pytest.raises(Refusal) as refusal:
            add_term(project=project, text=text, actor=editor)
        assert (refusal.value.code, refusal.value.status) == ("term_exists", 409)
        assert refusal.value.details == {"term_id": first.pk}
        assert Term.objects.count() == 1

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("", "term_invalid"),
            (" \u3000", "term_invalid"),
            ("\u200b", "term_invalid"),
            ("a\x00b", "term_invalid"),
            ("x" * 201, "term_too_long"),
        ],
        ids=["empty", "blank", "invisible", "null", "long"],
    )
    def test_what_is_no_term_is_refused(self, project, editor, text, code):
        with pytest.raises(Refusal) as refusal:
            add_term(project=project, text=text, actor=editor)
        assert (refusal.value.code, refusal.value.status) == (code, 400)
        assert not Term.objects.exists()

    def test_a_category_must_be_one_of_the_project(self, project, editor, owner):
        with pytest.raises(Refusal, match="no category “tool”"):
            add_term(project=project, text="crane", category="tool", actor=editor)
        add_category(project=project, name="Tool", actor=owner)
        assert add_term(project=project, text="crane", category="tool", actor=editor).pk

    def test_what_only_an_extraction_says_nobody_else_may(self, project, editor):
        with pytest.raises(ValueError, match="auto_excluded"):
            add_term(project=project, text="x", status=TermStatus.AUTO_EXCLUDED, actor=editor)

    def test_the_table_itself_keeps_a_key_once(self, project):
        extract(project, "queue")
        with pytest.raises(IntegrityError), transaction.atomic():
            Term.objects.create(project=project, text="Queues", key="queue", language="en")

    def test_a_project_that_is_gone_takes_nothing(self, project, editor):
        other = Project(pk=project.pk + 1000)
        with pytest.raises(Refusal) as refusal:
            add_term(project=other, text="x", actor=editor)
        assert (refusal.value.code, refusal.value.status) == ("project_gone", 404)


class TestChanges:
    def test_only_what_is_named_changes_and_counts_as_chosen(self, project, editor):
        extract(project, "queues")
        row = update_term(term=term(project, "queue"), actor=editor, text="queue")
        row = update_term(term=row, actor=editor, category="title", notes="See ours.")
        assert (row.text, row.category, row.notes) == ("queue", "title", "See ours.")
        assert row.chosen == ["category", "text"]
        assert (row.score, row.frequency) == (5.0, 3)

    def test_two_people_who_change_different_things_lose_nothing(self, project, editor, owner):
        extract(project, "queue")
        mine, theirs = term(project, "queue"), term(project, "queue")
        update_term(term=mine, actor=editor, notes="Mine.")
        update_term(term=theirs, actor=owner, category="title")
        assert (term(project, "queue").notes, term(project, "queue").category) == (
            "Mine.",
            "title",
        )

    def test_two_people_who_write_the_same_notes(self, project, editor, owner):
        extract(project, "queue")
        seen = {"notes": "", "category": "technical_term"}
        row = term(project, "queue")
        update_term(term=row, actor=owner, seen=seen, notes="Theirs.", category="title")
        with pytest.raises(Refusal) as refusal:
            update_term(term=row, actor=editor, seen=seen, notes="Mine.")
        assert (refusal.value.code, refusal.value.status) == ("term_changed", 409)
        assert term(project, "queue").notes == "Theirs."
        # The same words twice are no conflict, nor is what somebody else changed beside them.
        update_term(term=row, actor=editor, seen=seen, notes="Theirs.", text="Queue")
        update_term(term=row, actor=editor, seen={"notes": "Theirs."}, notes="Both.")
        now = term(project, "queue")
        assert (now.text, now.notes, now.category) == ("Queue", "Both.", "title")

    def test_another_word_is_another_term_and_is_counted_anew(self, project, editor):
        extract(project, "queue", "stack")
        row = update_term(term=term(project, "queue"), actor=editor, text="message queue")
        assert (row.key, row.frequency, row.occurrences) == ("messagequeue", 0, [])
        extract(project, "stack")
        assert term(project, "message queue").text == "message queue"
        with pytest.raises(Refusal) as refusal:
            update_term(term=row, actor=editor, text="Stacks")
        assert refusal.value.code == "term_exists"

    def test_nothing_changed_is_no_news(self, project, editor):
        extract(project, "queue")
        before = len(told(project))
        update_term(term=term(project, "queue"), actor=editor, text="queue", notes="")
        assert len(told(project)) == before

    def test_one_that_was_deleted_meanwhile(self, project, editor):
        extract(project, "queue")
        row = term(project, "queue")
        delete_terms(project=project, ids=[row.pk], actor=editor)
        with pytest.raises(Refusal) as refusal:
            update_term(term=row, actor=editor, notes="Too late.")
        assert (refusal.value.code, refusal.value.status) == ("term_gone", 404)

    def test_a_status_is_a_setting_of_its_own(self, project, editor):
        extract(project, "queue")
        with pytest.raises(TypeError):
            update_term(term=term(project, "queue"), actor=editor, status="required")

    def test_a_better_category_brings_a_common_noun_back(self, project, editor):
        extract(project, found("thing", category="common_noun", excluded_because="common_noun"))
        assert term(project, "thing").status == TermStatus.AUTO_EXCLUDED
        update_term(term=term(project, "thing"), actor=editor, category="technical_term")
        row = term(project, "thing")
        assert (row.status, row.reason) == (TermStatus.CANDIDATE, "")


class TestStatus:
    def test_many_at_once_and_how_many_changed(self, project, editor, outsider):
        extract(project, "a1", "b1", "c1")
        other = factories.make_project("Quay")
        extract(other, "d1")
        ids = [row.pk for row in Term.objects.all()]
        assert set_status(project=project, ids=ids, status="excluded", actor=editor) == 3
        assert set_status(project=project, ids=ids, status="excluded", actor=editor) == 0
        assert term(other, "d1").status == TermStatus.CANDIDATE
        assert told(project)[-1]["action"] == "excluded"
        assert told(project)[-1]["count"] == 3

    def test_a_reason_is_kept_as_long_as_it_is_excluded(self, project, editor):
        extract(project, "a1")
        ids = [term(project, "a1").pk]
        set_status(project=project, ids=ids, status="excluded", reason=" Too  vague ", actor=editor)
        assert term(project, "a1").reason == "Too vague"
        set_status(project=project, ids=ids, status="required", actor=editor)
        assert term(project, "a1").reason == ""

    def test_back_among_the_candidates_the_extraction_judges_again(self, project, editor):
        noun = found("thing", category="common_noun", excluded_because="common_noun")
        extract(project, noun)
        ids = [term(project, "thing").pk]
        set_status(project=project, ids=ids, status="excluded", actor=editor)
        set_status(project=project, ids=ids, status="candidate", actor=editor)
        extract(project, noun)
        assert term(project, "thing").status == TermStatus.AUTO_EXCLUDED

    def test_who_overrules_the_extraction_is_right_for_good(self, project, editor):
        noun = found("thing", category="common_noun", excluded_because="common_noun")
        extract(project, noun)
        ids = [term(project, "thing").pk]
        set_status(project=project, ids=ids, status="candidate", actor=editor)
        extract(project, noun)
        assert term(project, "thing").status == TermStatus.CANDIDATE

    def test_a_list_takes_known_and_unknown_words(self, project, editor):
        extract(project, "queue")
        known, is_new = list_term(project=project, text="Queues", status="required", actor=editor)
        assert (known.text, known.status, is_new) == ("queue", "required", False)
        other, is_new = list_term(project=project, text="stack", status="excluded", actor=editor)
        assert (other.text, other.status, is_new) == ("stack", "excluded", True)

    def test_a_category_for_many(self, project, editor):
        extract(project, "a1", "b1")
        ids = [row.pk for row in Term.objects.all()]
        assert set_category(project=project, ids=ids, category="common_noun", actor=editor) == 2
        row = term(project, "a1")
        assert (row.category, row.status, row.chosen) == (
            "common_noun",
            TermStatus.AUTO_EXCLUDED,
            ["category"],
        )
        with pytest.raises(Refusal, match="no category"):
            set_category(project=project, ids=ids, category="nope", actor=editor)


def test_deleting_dissolves_a_group_that_loses_its_primary_or_its_company(project, editor):
    extract(project, "a1", "b1", "c1", "d1", "e1")
    make_group(
        project=project,
        primary=term(project, "a1"),
        terms=[term(project, "b1"), term(project, "c1")],
        actor=editor,
    )
    make_group(
        project=project, primary=term(project, "d1"), terms=[term(project, "e1")], actor=editor
    )
    gone = [term(project, "a1").pk, term(project, "e1").pk]
    assert delete_terms(project=project, ids=gone, actor=editor) == 2
    assert not SynonymGroup.objects.exists()
    assert set(Term.objects.values_list("text", "group")) == {
        ("b1", None),
        ("c1", None),
        ("d1", None),
    }
    assert delete_terms(project=project, ids=gone, actor=editor) == 0
