"""Own categories, and what else knows of terms."""

import pytest
from django.urls import reverse

from glossary_site.errors import Refusal
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
    add_term,
    categories_of,
    set_status,
    term_lists,
    update_term,
)
from tests import factories
from tests.projects.terms.scene import extract, found, term


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

    def test_its_end_brings_nothing_back_that_is_left_out_for_another_reason(self, project, owner):
        law = add_category(project=project, name="Law", actor=owner)
        ordinary = "An everyday word."
        extract(project, found("thing", category="law", excluded_because=ordinary))
        update_category(category=law, actor=owner, auto_exclude=True)
        update_category(category=law, actor=owner, auto_exclude=False)
        delete_category(category=law, actor=owner)
        row = term(project, "thing")
        assert (row.status, row.reason) == (TermStatus.AUTO_EXCLUDED, ordinary)

    def test_a_term_added_by_hand_stays_in_whatever_its_kind(self, project, owner, editor):
        law = add_category(project=project, name="Law", actor=owner)
        by_hand = add_term(project=project, text="statute", category="law", actor=editor)
        moved = add_term(project=project, text="act", actor=editor)
        update_category(category=law, actor=owner, auto_exclude=True)
        update_term(term=moved, actor=editor, category="law")
        for row in (by_hand, moved):
            row.refresh_from_db()
            assert (row.category, row.status) == ("law", TermStatus.CANDIDATE)

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
