"""Synonym groups: a primary, company, and one group a term."""

import threading

import pytest
from django.db import connection

from glossary_site.errors import Refusal
from projects.access import OPERATOR
from projects.choices import TermStatus
from projects.models import SynonymGroup, Term
from projects.services.synonyms import (
    add_to_group,
    dissolve,
    make_group,
    remove_from_group,
    set_primary,
    terms_named,
)
from projects.services.terms import set_status
from tests import factories


@pytest.fixture
def terms(project, editor) -> list[Term]:
    return terms_named(project=project, texts=["LLM", "language model", "GPT"], actor=editor)


def members(group) -> set[str]:
    return set(group.terms.values_list("text", flat=True))


def code_of(raised) -> str:
    return raised.value.code


def test_a_group_has_its_primary_among_its_terms(project, editor, terms):
    group = make_group(project=project, primary=terms[0], terms=terms[:2], actor=editor)
    assert (group.primary, members(group)) == (terms[0], {"LLM", "language model"})


def test_one_alone_is_no_group(project, editor, terms):
    with pytest.raises(Refusal) as raised:
        make_group(project=project, primary=terms[0], terms=[terms[0]], actor=editor)
    assert (code_of(raised), raised.value.status) == ("group_too_small", 400)
    assert not SynonymGroup.objects.exists()


def test_a_term_is_in_one_group_at_most(project, editor, terms):
    group = make_group(project=project, primary=terms[0], terms=[terms[1]], actor=editor)
    with pytest.raises(Refusal) as raised:
        make_group(project=project, primary=terms[2], terms=[terms[1]], actor=editor)
    assert code_of(raised) == "term_in_group"
    assert raised.value.details == {"term_id": terms[1].pk, "group_id": group.pk}
    assert SynonymGroup.objects.count() == 1


def test_terms_of_other_projects_do_not_come_in(project, editor, terms):
    other = factories.make_project("Quay")
    (stranger,) = terms_named(project=other, texts=["LLM"], actor=editor)
    with pytest.raises(Refusal) as raised:
        make_group(project=project, primary=terms[0], terms=[stranger], actor=editor)
    assert code_of(raised) == "term_gone"


def test_members_come_and_go_and_the_last_pair_ends_it(project, editor, terms):
    group = make_group(project=project, primary=terms[0], terms=[terms[1]], actor=editor)
    add_to_group(group=group, term=terms[2], actor=editor)
    add_to_group(group=group, term=terms[2], actor=editor)
    assert members(group) == {"LLM", "language model", "GPT"}
    left = remove_from_group(term=terms[1], actor=editor)
    assert left == group
    assert remove_from_group(term=terms[2], actor=editor) is None
    assert not SynonymGroup.objects.exists()
    assert not Term.objects.exclude(group=None).exists()
    assert remove_from_group(term=terms[2], actor=editor) is None


def test_the_primary_stays_until_another_is_chosen(project, editor, terms):
    group = make_group(project=project, primary=terms[0], terms=terms[1:], actor=editor)
    with pytest.raises(Refusal) as raised:
        remove_from_group(term=terms[0], actor=editor)
    assert code_of(raised) == "term_is_primary"
    set_primary(group=group, term=terms[1], actor=editor)
    remove_from_group(term=terms[0], actor=editor)
    group.refresh_from_db()
    assert (group.primary, members(group)) == (terms[1], {"language model", "GPT"})


def test_only_a_member_can_lead(project, editor, terms):
    group = make_group(project=project, primary=terms[0], terms=[terms[1]], actor=editor)
    with pytest.raises(Refusal) as raised:
        set_primary(group=group, term=terms[2], actor=editor)
    assert code_of(raised) == "not_in_group"


@pytest.mark.parametrize("left_out", [TermStatus.EXCLUDED, TermStatus.AUTO_EXCLUDED])
def test_whoever_makes_a_left_out_term_the_primary_wants_it_in(project, editor, terms, left_out):
    Term.objects.filter(pk=terms[0].pk).update(status=left_out, reason="common_noun")
    make_group(project=project, primary=terms[0], terms=[terms[1]], actor=editor)
    terms[0].refresh_from_db()
    assert (terms[0].status, terms[0].reason) == (TermStatus.CANDIDATE, "")
    assert "status" in terms[0].chosen


def test_dissolving_frees_all_of_them(project, editor, terms):
    group = make_group(project=project, primary=terms[0], terms=terms[1:], actor=editor)
    dissolve(group=group, actor=editor)
    assert not Term.objects.exclude(group=None).exists()
    with pytest.raises(Refusal) as raised:
        dissolve(group=group, actor=editor)
    assert (code_of(raised), raised.value.status) == ("group_gone", 404)


def test_names_find_known_terms_in_their_order(project, editor, terms):
    again = terms_named(
        project=project, texts=["new one", "Language Models", "new one", "llm"], actor=editor
    )
    assert [term.text for term in again] == ["new one", "language model", "LLM"]
    assert Term.objects.count() == 4


def test_an_excluded_member_keeps_its_group(project, editor, terms):
    make_group(project=project, primary=terms[0], terms=[terms[1]], actor=editor)
    set_status(project=project, ids=[terms[1].pk], status="excluded", actor=editor)
    terms[1].refresh_from_db()
    assert terms[1].group is not None


@pytest.mark.django_db(transaction=True)
def test_two_who_group_one_term_at_once(project):
    texts = ["shared", "left", "right"]
    shared, left, right = terms_named(project=project, texts=texts, actor=OPERATOR)
    start = threading.Barrier(2)
    codes = []

    def group(primary):
        start.wait()
        try:
            make_group(project=project, primary=primary, terms=[shared], actor=OPERATOR)
            codes.append("made")
        except Refusal as refusal:
            codes.append(refusal.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=group, args=[primary]) for primary in (left, right)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == ["made", "term_in_group"]
    assert SynonymGroup.objects.get().terms.count() == 2
