"""Terms: what people choose stays, what an extraction finds follows the documents."""

import threading
from dataclasses import replace

import pytest
from django.db import IntegrityError, connection, transaction
from django.urls import reverse

from glossary_site.errors import Refusal
from glossary_site.live.reading import events_after
from projects.access import OPERATOR
from projects.choices import TermStatus
from projects.glance import with_glance
from projects.models import (
    EntryRevision,
    GlossaryEntry,
    Project,
    SynonymGroup,
    Term,
    TermCategory,
)
from projects.services.categories import add_category, delete_category, update_category
from projects.services.glossary import add_entry
from projects.services.projects import clone_project
from projects.services.synonyms import make_group
from projects.services.terms import (
    Found,
    Taken,
    add_term,
    categories_of,
    delete_terms,
    list_term,
    set_category,
    set_status,
    take_extraction,
    term_lists,
    update_term,
)
from projects.terms.keys import key_of
from tests import factories


def found(text: str, **fields) -> Found:
    values = {
        "key": key_of(text),
        "reading": text.casefold(),
        "language": "en",
        "category": "technical_term",
        "score": 5.0,
        "frequency": 3,
        "document_count": 1,
        "variants": (text,),
        "occurrences": ((1, 2, 3),),
    }
    return Found(text=text, **{**values, **fields})


def extract(project, *texts: str | Found) -> Taken:
    rows = [text if isinstance(text, Found) else found(text) for text in texts]
    return take_extraction(project=project, found=rows)


def term(project, text: str) -> Term:
    return Term.objects.get(project=project, key=key_of(text))


def told(project) -> list[dict]:
    events = events_after(project.stream, 0)
    return [event["payload"] for event in events if event["type"] == "terms.changed"]


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


class TestCategories:
    def test_everybodys_and_ones_own(self, project, owner):
        add_category(project=project, name="Law", actor=owner, auto_exclude=True)
        add_category(project=project, name="部署", actor=owner)
        infos = {info.key: info for info in categories_of(project)}
        assert infos["common_noun"].auto_exclude
        assert not infos["common_noun"].own
        assert (infos["law"].label, infos["law"].own, infos["law"].auto_exclude) == (
            "Law",
            True,
            True,
        )
        assert infos["category_1"].label == "部署"

    @pytest.mark.parametrize(
        ("name", "key"), [("LAW", ""), ("Other", "law"), ("Other", "title"), ("Title", "")]
    )
    def test_a_key_and_a_name_are_given_once(self, project, owner, name, key):
        add_category(project=project, name="Law", actor=owner)
        with pytest.raises(Refusal) as refusal:
            add_category(project=project, name=name, key=key, actor=owner)
        assert refusal.value.code == "category_exists"

    def test_its_terms_are_left_out_or_not_at_once(self, project, owner, editor):
        law = add_category(project=project, name="Law", actor=owner)
        extract(project, found("statute", category="law"), found("act", category="law"))
        set_status(project=project, ids=[term(project, "act").pk], status="required", actor=editor)
        law = update_category(category=law, actor=owner, auto_exclude=True)
        assert term(project, "statute").status == TermStatus.AUTO_EXCLUDED
        assert term(project, "act").status == TermStatus.REQUIRED
        extract(project, found("statute", category="law"))
        assert term(project, "statute").reason == "law"
        law = update_category(category=law, actor=owner, name="Laws", auto_exclude=False)
        assert (law.name, term(project, "statute").status) == ("Laws", TermStatus.CANDIDATE)

    def test_its_end_leaves_terms_and_entries_without_one(self, project, owner, editor):
        law = add_category(project=project, name="Law", actor=owner)
        add_term(project=project, text="statute", category="law", actor=editor)
        entry = add_entry(
            project=project, actor=editor, term="statute", definition="A law.", category="law"
        )
        delete_category(category=law, actor=owner)
        assert (term(project, "statute").category, term(project, "statute").chosen) == (
            "",
            ["text"],
        )
        entry.refresh_from_db()
        assert (entry.category, entry.version) == ("", 2)
        assert entry.revisions.order_by("-pk").first().author == owner

    @pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\x00"], ids=[*"1234"])
    def test_a_name_that_none_can_have(self, project, owner, name):
        with pytest.raises(Refusal) as refusal:
            add_category(project=project, name=name, actor=owner)
        assert (refusal.value.code, refusal.value.status) == ("category_invalid", 400)


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


def test_a_clone_takes_over_what_people_said_and_nothing_that_was_counted(project, editor, owner):
    add_category(project=project, name="Law", actor=owner, auto_exclude=True)
    extract(project, "a1", "b1", "c1", "untouched")
    set_status(project=project, ids=[term(project, "a1").pk], status="excluded", actor=editor)
    update_term(term=term(project, "b1"), actor=editor, notes="Note.", category="law")
    make_group(
        project=project, primary=term(project, "b1"), terms=[term(project, "c1")], actor=editor
    )
    clone = clone_project(project=project, actor=owner, name="Copy")
    before, after = term_lists(project), term_lists(clone)
    assert after == before
    assert after.synonyms == [("b1", "c1")]
    assert not Term.objects.filter(project=clone, key="untouched").exists()
    assert {row.frequency for row in Term.objects.filter(project=clone)} == {0}
    assert clone.term_categories.get().auto_exclude
    # And lives on its own.
    set_status(project=clone, ids=[term(clone, "a1").pk], status="required", actor=editor)
    assert term_lists(project).excluded == {"a1"}


@pytest.mark.parametrize("model", [Term, TermCategory, SynonymGroup, GlossaryEntry, EntryRevision])
def test_operators_can_look_and_no_more(project, superuser, sign_in, model):
    factories.make_group(project)
    factories.make_category(project)
    factories.make_entry(project)
    client, name = sign_in(superuser), f"admin:projects_{model._meta.model_name}"
    listed = client.get(reverse(f"{name}_changelist"), {"q": "x"})
    assert listed.status_code == 200
    page = reverse(f"{name}_change", args=[model.objects.all()[0].pk])
    assert client.get(page).status_code == 200
    assert client.post(page, {}).status_code == 403


def test_the_list_of_projects_counts_the_terms_that_are_in(project, editor):
    extract(project, "a1", "b1", found("thing", excluded_because="common_noun"))
    set_status(project=project, ids=[term(project, "a1").pk], status="excluded", actor=editor)
    row = with_glance(Project.objects.all()).get(pk=project.pk)
    assert row.glance_terms == 1


class TestAtOnce:
    @pytest.mark.django_db(transaction=True)
    def test_many_who_add_one_term_make_one(self, project):
        spellings = ["data set", "dataset", "Data-Set", "DATASETS", "data sets", "Dataset"]
        start = threading.Barrier(len(spellings))
        made, refused = [], []

        def add(text):
            start.wait()
            try:
                made.append(add_term(project=project, text=text, actor=OPERATOR).pk)
            except Refusal as refusal:
                refused.append(refusal.details["term_id"])
            finally:
                connection.close()

        threads = [threading.Thread(target=add, args=[text]) for text in spellings]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(made) == 1
        assert refused == made * (len(spellings) - 1)
        assert Term.objects.count() == 1

    @pytest.mark.django_db(transaction=True)
    def test_an_extraction_beside_people_loses_nothing_they_say(self, project):
        texts = [f"term {number}" for number in range(40)]
        extract(project, *texts)
        ids = list(Term.objects.order_by("pk").values_list("pk", flat=True))
        start = threading.Barrier(2)

        def choose():
            start.wait()
            try:
                for pk in ids[:20]:
                    set_status(project=project, ids=[pk], status="excluded", actor=OPERATOR)
            finally:
                connection.close()

        def read_again():
            start.wait()
            try:
                for score in range(5):
                    extract(project, *(found(text, score=float(score)) for text in texts))
            finally:
                connection.close()

        threads = [threading.Thread(target=choose), threading.Thread(target=read_again)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        excluded = Term.objects.filter(status=TermStatus.EXCLUDED).values_list("pk", flat=True)
        assert set(excluded) == set(ids[:20])
        assert set(Term.objects.values_list("score", flat=True)) == {4.0}
