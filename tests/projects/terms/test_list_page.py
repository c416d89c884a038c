"""The list of terms, and what is done there with one click or with many."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from projects.access import OPERATOR
from projects.choices import TermStatus
from projects.models import SynonymGroup, Term
from projects.services.categories import add_category, delete_category
from projects.services.synonyms import add_to_group, make_group
from projects.services.terms import add_term, set_status, update_term
from tests import factories
from tests.projects.terms.visiting import PART, extract, found, page, send, status_of, undo_token

pytestmark = pytest.mark.django_db


def named(html: str) -> list[str]:
    return re.findall(r"data-row-link[^>]*>([^<]+)</a>", html)


def states(*ids: int) -> list[tuple]:
    rows = Term.objects.in_bulk(ids)
    return [(rows[pk].category, rows[pk].status, rows[pk].reason, rows[pk].chosen) for pk in ids]


class TestList:
    def test_without_documents_it_sends_to_the_documents(self, editing, project):
        assert reverse("document-add", args=[project.pk]) in page(
            editing, "project-terms", project.pk
        )

    def test_without_terms_it_sends_to_the_runs(self, editing, reading, project):
        factories.make_document(project)
        runs = f'class="button button-primary" href="{reverse("project-runs", args=[project.pk])}"'
        assert runs in page(editing, "project-terms", project.pk)
        assert runs not in page(reading, "project-terms", project.pk)

    def test_each_tab_has_its_terms_and_their_number(self, reading, project, terms, owner):
        set_status(project=project, ids=[terms["pilot"].pk], status="required", actor=owner)
        html = page(reading, "project-terms", project.pk)
        assert named(html) == ["slack water", "mooring line", "pilot"]
        assert re.findall(r'class="count">(\d+)</span></a>', html)[-4:] == ["3", "1", "1", "4"]
        assert named(page(reading, "project-terms", project.pk, show="required")) == ["pilot"]
        assert named(page(reading, "project-terms", project.pk, show="excluded")) == ["evening"]
        assert len(named(page(reading, "project-terms", project.pk, show="all"))) == 4
        assert len(named(page(reading, "project-terms", project.pk, show="nonsense"))) == 3

    def test_an_automatic_exclusion_says_so_and_why(self, reading, project, terms, owner):
        ids = [terms["pilot"].pk]
        set_status(project=project, ids=ids, status="excluded", actor=owner, reason="known to all")
        html = page(reading, "project-terms", project.pk, show="excluded")
        assert "Excluded automatically: an everyday word" in html
        assert "Excluded: known to all" in html

    def test_notes_synonyms_and_categories_are_shown(self, reading, project, terms, owner):
        update_term(term=terms["pilot"], actor=owner, notes="Only those with a licence.")
        group = [terms["slack water"]]
        make_group(project=project, primary=terms["pilot"], terms=group, actor=owner)
        html = page(reading, "project-terms", project.pk)
        assert "Only those with a licence." in html
        assert "also slack water" in html
        assert "another name of pilot" in html
        assert "Technical term" in html

    def test_the_filter_looks_at_terms_readings_and_notes(self, reading, project, terms, owner):
        update_term(term=terms["pilot"], actor=owner, notes="guides vessels")
        add_term(project=project, text="係留索", actor=owner)
        assert named(page(reading, "project-terms", project.pk, q="VESSEL")) == ["pilot"]
        assert named(page(reading, "project-terms", project.pk, q="けいりゅう")) == ["係留索"]
        html = page(reading, "project-terms", project.pk, q="nowhere")
        assert "No term matches “nowhere”" in html

    def test_by_category_and_by_none(self, reading, project, terms):
        assert named(page(reading, "project-terms", project.pk, category="title")) == ["pilot"]
        assert named(page(reading, "project-terms", project.pk, category="-")) == ["slack water"]

    @pytest.mark.parametrize("query", ["\0", "%", "_", "'", "\\", "あ", "<b>"])
    def test_odd_filters_are_only_words(self, reading, project, terms, query):
        for key in ("q", "category", "show", "sort", "page"):
            page(reading, "project-terms", project.pk, **{key: query})

    @pytest.mark.parametrize(
        ("sort", "first"),
        [
            ("term", "mooring line"),
            ("-frequency", "pilot"),
            ("-spread", "slack water"),
            ("-score", "slack water"),
        ],
    )
    def test_every_column_sorts_both_ways(self, reading, project, terms, sort, first):
        wide = {"document_count": 7}
        extract(
            project,
            found("mooring line", frequency=9, score=8.5),
            found("slack water", frequency=3, score=9.5, **wide),
            found("pilot", frequency=20, score=2.5, document_count=2),
        )
        there = named(page(reading, "project-terms", project.pk, sort=sort))
        back = sort.removeprefix("-") if sort.startswith("-") else f"-{sort}"
        assert there[0] == first
        assert named(page(reading, "project-terms", project.pk, sort=back)) == there[::-1]

    def test_htmx_gets_the_same_part_alone(self, reading, project, terms):
        url = reverse("project-terms", args=[project.pk])
        part = reading.get(url, headers=PART).content.decode()
        assert part.startswith('<div id="results"')
        assert 'hx-trigger="live:terms from:body"' in part
        rows = r"<tbody>.*</tbody>"
        whole = page(reading, "project-terms", project.pk)
        assert re.search(rows, part, re.S)[0] == re.search(rows, whole, re.S)[0]

    def test_viewers_see_no_controls_and_cannot_send_any(self, reading, editing, project, terms):
        assert 'name="only"' in page(editing, "project-terms", project.pk)
        html = page(reading, "project-terms", project.pk)
        assert not re.search(r'name="(only|ids|status|group)"', html)
        url = reverse("project-terms", args=[project.pk])
        assert reading.post(url, {"only": f"{terms['pilot'].pk}:excluded"}).status_code == 403

    def test_the_number_of_queries_does_not_grow(self, editing, project, owner):
        def queries() -> int:
            with CaptureQueriesContext(connection) as captured:
                page(editing, "project-terms", project.pk)
            assert not any('"occurrences"' in query["sql"] for query in captured)
            return len(captured)

        many = [found(f"term {n}x", score=n) for n in range(50)]
        few = extract(project, *many[:3])
        make_group(project=project, primary=few["term 0x"], terms=[few["term 1x"]], actor=owner)
        page(editing, "project-terms", project.pk)
        before = queries()
        all_terms = extract(project, *many)
        pair = [all_terms["term 9x"], all_terms["term 8x"]]
        make_group(project=project, primary=pair[0], terms=pair[1:], actor=owner)
        assert queries() == before <= 18

    def test_no_script_survives(self, editing, project, owner):
        term = add_term(
            project=project, text="<script>x</script>", actor=owner, notes="<img src=x>"
        )
        for html in (
            page(editing, "project-terms", project.pk),
            page(editing, "term", project.pk, term.pk),
            send(editing, project, only=f"{term.pk}:excluded"),
        ):
            assert "<script>x" not in html
            assert "<img src=x>" not in html


class TestOneClick:
    def test_exclude_and_undo(self, editing, project, terms):
        html = send(editing, project, "?q=pilot", only=f"{terms['pilot'].pk}:excluded")
        assert status_of(terms["pilot"]) == TermStatus.EXCLUDED
        assert "“pilot” is excluded." in html
        html = send(editing, project, undo=undo_token(html))
        assert status_of(terms["pilot"]) == TermStatus.CANDIDATE
        assert "1 term is as it was." in html

    def test_undo_restores_what_no_person_may_say(self, editing, project, terms):
        html = send(editing, project, only=f"{terms['evening'].pk}:required")
        send(editing, project, undo=undo_token(html))
        term = Term.objects.get(pk=terms["evening"].pk)
        assert (term.status, term.reason) == (TermStatus.AUTO_EXCLUDED, "common_noun")
        # The next extraction judges it anew, as if nobody had ever said anything.
        assert "status" not in term.chosen

    def test_undo_keeps_a_later_choice_of_somebody_else(self, editing, project, terms, owner):
        html = send(editing, project, only=f"{terms['pilot'].pk}:excluded")
        set_status(project=project, ids=[terms["pilot"].pk], status="required", actor=owner)
        assert "nothing left to undo" in send(editing, project, undo=undo_token(html))
        assert status_of(terms["pilot"]) == TermStatus.REQUIRED

    def test_undo_reaches_no_other_project(self, editing, editor, project, terms):
        other = factories.make_project("Other", owner=editor)
        token = undo_token(send(editing, project, only=f"{terms['pilot'].pk}:excluded"))
        send(editing, other, undo=token)
        assert status_of(terms["pilot"]) == TermStatus.EXCLUDED

    @pytest.mark.parametrize("token", ["x", "W10:abc:def"])
    def test_a_forged_undo_does_nothing(self, editing, project, terms, token):
        assert "no longer be undone" in send(editing, project, undo=token)

    @pytest.mark.parametrize("only", ["", "x:excluded", "1:auto_excluded", "1:", "999999:required"])
    def test_nonsense_changes_nothing(self, editing, project, terms, only):
        before = list(Term.objects.values_list("pk", "status"))
        send(editing, project, only=only)
        assert list(Term.objects.values_list("pk", "status")) == before

    def test_it_leads_back_to_the_list_as_it_was(self, editing, project, terms):
        url = reverse("project-terms", args=[project.pk]) + "?show=all&sort=term"
        response = editing.post(url, {"only": f"{terms['pilot'].pk}:required"})
        assert response.url == url

    def test_htmx_gets_the_list_and_the_message(self, editing, project, terms):
        url = reverse("project-terms", args=[project.pk]) + "?q=pilot"
        answer = editing.post(url, {"only": f"{terms['pilot'].pk}:excluded"}, headers=PART)
        html = answer.content.decode()
        assert html.startswith('<div id="results"')
        assert 'id="messages" role="status" hx-swap-oob="innerHTML"' in html
        assert "“pilot” is excluded." in html
        assert undo_token(html)
        assert named(html) == []


class TestSeveral:
    def test_exclude_and_undo_together(self, editing, project, terms):
        ids = [terms["pilot"].pk, terms["slack water"].pk]
        html = send(editing, project, ids=ids, status="excluded")
        assert "2 terms are excluded." in html
        send(editing, project, undo=undo_token(html))
        assert {status_of(terms[name]) for name in ("pilot", "slack water")} == {"candidate"}

    def test_all_of_the_list_also_on_other_pages(self, editing, project):
        extract(project, *(found(f"term {n}x") for n in range(60)), found("pilot"))
        send(editing, project, "?q=term", ids=[1], every="1", status="required")
        assert project.terms.filter(status="required").count() == 60
        assert project.terms.get(text="pilot").status == TermStatus.CANDIDATE

    def test_synonyms_stand_under_the_best_one(self, editing, project, terms):
        ids = [terms["pilot"].pk, terms["slack water"].pk]
        html = send(editing, project, ids=ids, group="1")
        assert "“pilot” now stands under “slack water”." in html
        assert SynonymGroup.objects.get().primary == terms["slack water"]
        # Once more: the service refuses, and the page says why.
        assert "in a synonym group already" in send(editing, project, ids=ids, group="1")

    def test_synonyms_are_taken_apart_again_unless_there_are_more(self, editing, project, terms):
        ids = [terms["pilot"].pk, terms["slack water"].pk]
        html = send(editing, project, ids=ids, group="1")
        assert "2 terms are as they were." in send(editing, project, undo=undo_token(html))
        assert not SynonymGroup.objects.exists()
        html = send(editing, project, ids=ids, group="1")
        group, another = SynonymGroup.objects.get(), factories.make_term(project)
        add_to_group(group=group, term=another, actor=OPERATOR)
        assert "changed again since" in send(editing, project, undo=undo_token(html))
        assert SynonymGroup.objects.get() == group

    def test_one_is_no_group(self, editing, project, terms):
        html = send(editing, project, ids=[terms["pilot"].pk], group="1")
        assert "two or more" in html

    def test_category(self, editing, project, terms):
        ids = [terms["pilot"].pk, terms["slack water"].pk]
        html = send(editing, project, ids=ids, recategorise="1", to_category="organization")
        assert "2 terms have the category “Organisation”." in html
        assert set(Term.objects.filter(pk__in=ids).values_list("category", flat=True)) == {
            "organization"
        }
        html = send(editing, project, ids=ids, recategorise="1", to_category="nowhere")
        assert "no category" in html

    def test_a_category_is_taken_back(self, editing, project, terms, owner):
        """Also what it did to the lists: an everyday word is left out without anybody saying so."""
        update_term(term=terms["pilot"], actor=owner, category="technical_term")
        names = ("pilot", "slack water", "evening")
        ids = [terms[name].pk for name in names]
        before = states(*ids)
        html = send(editing, project, ids=ids, recategorise="1", to_category="common_noun")
        assert status_of(terms["slack water"]) == TermStatus.AUTO_EXCLUDED
        # The evening was one before.
        assert "2 terms have the category “Common noun”." in html
        assert "2 terms are as they were." in send(editing, project, undo=undo_token(html))
        assert states(*ids) == before
        html = send(editing, project, ids=ids, recategorise="1", to_category="")
        assert "2 terms have no category." in html
        assert status_of(terms["evening"]) == TermStatus.CANDIDATE
        send(editing, project, undo=undo_token(html))
        assert states(*ids) == before
        html = send(editing, project, ids=ids[2:], recategorise="1", to_category="common_noun")
        assert "Nothing was changed" in html

    def test_a_category_taken_back_keeps_what_was_said_since(self, editing, project, terms, owner):
        ids = [terms["pilot"].pk, terms["slack water"].pk]
        html = send(editing, project, ids=ids, recategorise="1", to_category="common_noun")
        update_term(term=terms["pilot"], actor=owner, category="organization")
        set_status(project=project, ids=ids[1:], status="required", actor=owner)
        assert "1 term is as it was." in send(editing, project, undo=undo_token(html))
        assert states(*ids) == [
            ("organization", "candidate", "", ["category"]),
            ("", "required", "", ["status"]),
        ]

    def test_a_category_that_is_gone_does_not_come_back(self, editing, project, terms, owner):
        berths = add_category(project=project, name="Berths", actor=owner)
        term = update_term(term=terms["pilot"], actor=owner, category=berths.key)
        html = send(editing, project, ids=[term.pk], recategorise="1", to_category="")
        delete_category(category=berths, actor=owner)
        send(editing, project, undo=undo_token(html))
        assert Term.objects.get(pk=term.pk).category == ""

    def test_nothing_chosen(self, editing, project, terms):
        assert "Choose the terms first." in send(editing, project, status="excluded")


class TestAdd:
    def test_by_hand(self, editing, project, editor):
        url = reverse("term-add", args=[project.pk])
        wish = {"text": " Fender ", "status": "required", "category": "", "notes": "rubber"}
        assert editing.post(url, wish).url == reverse("project-terms", args=[project.pk])
        term = project.terms.get()
        assert (term.text, term.status, term.notes) == ("Fender", "required", "rubber")
        assert (term.by_hand, term.added_by) == (True, editor)

    def test_one_that_is_there_is_shown(self, editing, project, terms):
        url = reverse("term-add", args=[project.pk])
        response = editing.post(url, {"text": "Mooring-Lines", "status": "candidate"})
        assert response.status_code == 422
        assert terms["mooring line"].get_absolute_url() in response.content.decode()

    def test_a_refused_form_keeps_what_was_typed(self, editing, project):
        url = reverse("term-add", args=[project.pk])
        response = editing.post(url, {"text": "", "notes": "I wrote this"})
        assert response.status_code == 422
        assert "I wrote this" in response.content.decode()

    def test_a_refusal_stands_beside_its_field(self, editing, project):
        url = reverse("term-add", args=[project.pk])
        response = editing.post(url, {"text": "Fender", "status": "required", "notes": "\a bell"})
        assert response.status_code == 422
        assert 'id="id_notes_error"' in response.content.decode()

    def test_suggestions(self, reading, project, terms):
        options = page(reading, "term-suggest", project.pk, synonym="IL")
        assert re.findall(r'value="([^"]+)"', options) == ["pilot"]
        assert page(reading, "term-suggest", project.pk).strip() == ""
