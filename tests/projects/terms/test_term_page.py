"""The page of a term, its synonyms, and the project's categories."""

import re
from typing import Any

import pytest
from django.urls import reverse

from projects.choices import TermStatus
from projects.models import SynonymGroup, Term
from projects.services.categories import add_category
from projects.services.documents import delete_documents
from projects.services.synonyms import make_group
from projects.services.terms import add_term, update_term
from projects.views.places import excerpt, spelling_pattern, stands_in
from tests import factories
from tests.projects.terms.visiting import PART, extract, found, page, status_of, undo_token

pytestmark = pytest.mark.django_db


def sent_by(html: str) -> dict[str, str]:
    """What a browser would send of the form, ends of lines as browsers have them."""
    body = html[html.index('name="notes"') :]
    hidden = re.findall(r'type="hidden" name="(seen_\w+)"(?: value="([^"]*)")?', body)
    chosen = re.findall(r'<option value="([^"]*)" selected', body)
    (notes,) = re.findall(r">\n?([^<]*)</textarea>", body)
    (text,) = re.findall(r'name="text" value="([^"]*)"', body)
    shown = {"notes": notes, "category": "".join(chosen), "text": text}
    assert len(hidden) == 3
    return {name: v.replace("\n", "\r\n") for name, v in {**dict(hidden), **shown}.items()}


class TestTerm:
    @pytest.fixture
    def document(self, project):
        text = "# Lines\n\n- A **mooring line** holds.\n\nNothing.\n\nTwo mooring\nlines hold.\n"
        return factories.make_document(project, "ops/lines.md", text)

    @pytest.fixture
    def term(self, project, document) -> Term:
        places = [(document.pk, 3, 1), (document.pk, 7, 1)]
        spellings: dict[str, Any] = {
            "variants": ["mooring line", "mooring lines"],
            "occurrences": places,
        }
        return extract(project, found("mooring line", frequency=5, **spellings))["mooring line"]

    def test_its_places_are_marked_and_linked(self, reading, project, document, term):
        html = page(reading, "term", project.pk, term.pk)
        assert "A <mark>mooring line</mark> holds." in html
        url = reverse("document", args=[project.pk, document.pk])
        assert f'href="{url}?lines=3#L3"' in html
        # Broken over two lines: nothing to mark, and still a place.
        assert f'href="{url}?lines=7#L7"' in html
        assert "changed since" not in html
        assert "3 more occurrences are counted" in html
        assert "<li>mooring lines</li>" in html

    def test_a_document_that_has_changed_says_so(self, reading, project, document, term):
        text = "# Lines\n\nNew.\n\nNothing.\n\nTwo mooring\nlines hold.\n"
        factories.make_document(project, document.path, text)
        html = page(reading, "term", project.pk, term.pk)
        assert "changed since the last run" in html
        assert "?lines=7#L7" in html
        assert "?lines=3#L3" not in html

    def test_a_document_that_is_gone_is_left_out(self, reading, project, document, term, owner):
        delete_documents(project=project, ids=[document.pk], actor=owner)
        assert "did not find it" in page(reading, "term", project.pk, term.pk)

    def test_many_documents_come_in_pages(self, reading, project):
        documents = [factories.make_document(project, f"{n:02}.md", "a pilot\n") for n in range(25)]
        places = {"occurrences": [(each.pk, 1, 1) for each in documents]}
        term = extract(project, found("pilot", frequency=25, **places))["pilot"]
        first = page(reading, "term", project.pk, term.pk)
        assert first.count('class="place"') == 20
        assert page(reading, "term", project.pk, term.pk, page=2).count('class="place"') == 5

    def test_what_is_not_listed_of_a_document_is_a_click_away(self, reading, project):
        document = factories.make_document(project, "log.md", "A pilot.\n" * 10)
        places = {"occurrences": [(document.pk, line, 1) for line in range(1, 11)]}
        term = extract(project, found("pilot", frequency=10, **places))["pilot"]
        html = page(reading, "term", project.pk, term.pk)
        url = reverse("document", args=[project.pk, document.pk])
        assert f'<a href="{url}?lines=9#L9">and 2 more lines</a>' in html

    def test_the_live_part_is_the_same(self, reading, project, term):
        url = reverse("term", args=[project.pk, term.pk])
        part = reading.get(url, headers=PART).content.decode()
        assert part.startswith('<section id="occurrences"')
        assert part.strip() in reading.get(url).content.decode()

    def test_status_buttons_and_undo(self, editing, project, term):
        url = reverse("term", args=[project.pk, term.pk])
        html = editing.post(url, {"status": "required"}, follow=True).content.decode()
        assert status_of(term) == TermStatus.REQUIRED
        editing.post(url, {"undo": undo_token(html)})
        assert status_of(term) == TermStatus.CANDIDATE

    def test_notes_category_and_spelling(self, editing, project, term):
        url = reverse("term-edit", args=[project.pk, term.pk])
        wish = {"text": "Mooring line", "category": "technical_term", "notes": "Say which rope."}
        assert editing.post(url, wish).url == term.get_absolute_url()
        term.refresh_from_db()
        assert (term.text, term.category, term.notes) == tuple(wish.values())
        # Another spelling is the same term still.
        assert term.frequency == 5

    def test_an_edit_that_is_refused(self, editing, project, term, owner):
        add_term(project=project, text="pilot", actor=owner)
        url = reverse("term-edit", args=[project.pk, term.pk])
        response = editing.post(url, {"text": "Pilots", "notes": "kept?"})
        assert response.status_code == 422
        assert "kept?" in response.content.decode()
        assert Term.objects.get(pk=term.pk).text == "mooring line"

    def test_who_is_slower_loses_nothing(self, editing, project, term, owner):
        url = reverse("term-edit", args=[project.pk, term.pk])
        form = sent_by(page(editing, "term", project.pk, term.pk))
        update_term(term=term, actor=owner, notes="Theirs,\non two lines.", category="title")
        response = editing.post(url, {**form, "notes": "Mine."})
        assert response.status_code == 409
        html = response.content.decode()
        assert "This term was changed while you were writing" in html
        assert "Theirs,<br>on two lines." in html
        assert Term.objects.get(pk=term.pk).notes == "Theirs,\non two lines."
        # What only the other one changed is in the form; sending it again is a choice.
        again = sent_by(html)
        assert (again["notes"], again["category"]) == ("Mine.", "title")
        assert editing.post(url, again).status_code == 302
        term.refresh_from_db()
        assert (term.notes, term.category) == ("Mine.", "title")

    def test_an_old_page_does_not_bring_old_values_back(self, editing, project, term, owner):
        form = sent_by(page(editing, "term", project.pk, term.pk))
        update_term(term=term, actor=owner, category="title")
        url = reverse("term-edit", args=[project.pk, term.pk])
        assert editing.post(url, {**form, "notes": "Mine."}).status_code == 302
        term.refresh_from_db()
        assert (term.notes, term.category) == ("Mine.", "title")

    def test_delete(self, editing, project, term):
        response = editing.post(reverse("term-delete", args=[project.pk, term.pk]))
        assert response.url == reverse("project-terms", args=[project.pk])
        assert not project.terms.exists()

    def test_terms_of_other_projects_are_not_there(self, editing, editor, term):
        other = factories.make_project("Other", owner=editor)
        for name in ("term", "term-edit"):
            assert editing.get(reverse(name, args=[other.pk, term.pk])).status_code == 404
        for name in ("term-delete", "term-synonyms"):
            assert editing.post(reverse(name, args=[other.pk, term.pk])).status_code == 404

    def test_its_entry_is_shown(self, editing, project, term):
        url = reverse("entry-add", args=[project.pk])
        editing.post(url, {"term": "Mooring Line", "definition": "A strong rope."})
        html = page(editing, "term", project.pk, term.pk)
        assert "A strong rope." in html
        assert project.entries.get().get_absolute_url() in html


class TestSynonyms:
    @pytest.fixture
    def say(self, editing, project, terms):
        url = reverse("term-synonyms", args=[project.pk, terms["pilot"].pk])

        def send(**data) -> str:
            return editing.post(url, data, follow=True).content.decode()

        return send

    def names(self, project) -> set[str]:
        return set(project.terms.exclude(group=None).values_list("text", flat=True))

    def test_the_whole_life_of_a_group(self, say, project, terms):
        assert "now means the same as" in say(synonym="Slack-Water")
        assert self.names(project) == {"pilot", "slack water"}
        # A name that no document has is added.
        assert "was added: no term had this name" in say(synonym="harbour guide")
        guide = project.terms.get(text="harbour guide")
        assert guide.by_hand
        assert guide.group_id
        say(primary=guide.pk)
        assert SynonymGroup.objects.get().primary == guide
        say(remove=terms["slack water"].pk)
        assert self.names(project) == {"pilot", "harbour guide"}
        say(dissolve="1")
        assert self.names(project) == set()

    def test_what_is_refused(self, say, project, terms, owner):
        assert "same term in another spelling" in say(synonym="Pilots")
        assert "Type the other term first." in say(synonym=" ")
        pair = [terms["slack water"]]
        make_group(project=project, primary=terms["mooring line"], terms=pair, actor=owner)
        assert "in a synonym group already" in say(synonym="slack water")
        say(remove=terms["slack water"].pk)
        say(primary=terms["slack water"].pk)
        say(remove="x")
        assert self.names(project) == {"mooring line", "slack water"}


class TestCategories:
    @pytest.fixture
    def owning(self, sign_in, owner):
        return sign_in(owner)

    def test_add_rename_delete(self, owning, project, terms, owner):
        url = reverse("project-categories", args=[project.pk])
        assert owning.post(url, {"name": "Ships", "auto_exclude": "on"}).url == url
        category = project.term_categories.get()
        assert (category.name, category.auto_exclude) == ("Ships", True)
        change = reverse("category-change", args=[project.pk, category.pk])
        owning.post(change, {"name": "Vessels"})
        category.refresh_from_db()
        assert (category.name, category.auto_exclude) == ("Vessels", False)
        update_term(term=terms["pilot"], actor=owner, category=category.key)
        assert "1 term<" in page(owning, "project-categories", project.pk)
        owning.post(reverse("category-delete", args=[project.pk, category.pk]))
        assert not project.term_categories.exists()
        assert Term.objects.get(pk=terms["pilot"].pk).category == ""

    def test_what_is_refused(self, owning, project, owner):
        category = add_category(project=project, name="Ships", actor=owner)
        url = reverse("project-categories", args=[project.pk])
        assert owning.post(url, {"name": "ships"}).status_code == 422
        assert owning.post(url, {"name": ""}).status_code == 422
        change = reverse("category-change", args=[project.pk, category.pk])
        assert "needs a name" in owning.post(change, {"name": ""}, follow=True).content.decode()

    def test_categories_of_other_projects_are_not_there(self, owning, owner, project):
        other = factories.make_project("Other", owner=owner)
        category = add_category(project=other, name="Ships", actor=owner)
        url = reverse("category-delete", args=[project.pk, category.pk])
        assert owning.post(url).status_code == 404


class TestLines:
    def marked(self, line: str, *spellings: str) -> list[str]:
        parts = excerpt(line, spelling_pattern(spellings))
        return [part.text for part in parts if part.marked]

    @pytest.mark.parametrize(
        ("line", "spellings", "marks"),
        [
            ("The Pilot and the pilots", ["pilot"], ["Pilot"]),
            ("mooring  line", ["mooring line"], ["mooring line"]),
            ("a `queue` and **queue**", ["queue"], ["queue", "queue"]),
            ("係留索は係留の索", ["係留", "係留索"], ["係留索", "係留"]),
            ("a [pilot](pilot.md) comes", ["pilot"], ["pilot"]),
            ("a *queue* and `*queue`, 2 * 3", ["queue"], ["queue", "queue"]),
            (r"a \*queue\*", ["*queue*"], ["*queue*"]),
            ("C++ is not C", ["C++"], ["C++"]),
            ("nothing", ["", " "], []),
        ],
    )
    def test_what_is_marked(self, line, spellings, marks):
        assert self.marked(line, *spellings) == marks

    def test_a_row_of_a_table_is_shown_without_its_borders(self):
        parts = excerpt("| queue | a list |", spelling_pattern(["queue"]))
        assert "".join(part.text for part in parts) == "queue | a list"

    def test_a_long_line_is_cut_around_the_term(self):
        parts = excerpt("x " * 500 + "pilot" + " y" * 500, spelling_pattern(["pilot"]))
        text = "".join(part.text for part in parts)
        assert text.startswith("…")
        assert text.endswith("…")
        assert len(text) < 260
        assert any(part.marked for part in parts)

    def test_a_term_may_be_broken_over_two_lines(self):
        pattern = spelling_pattern(["mooring line"])
        assert stands_in(pattern, "> a mooring", "> line")
        assert not stands_in(pattern, "a mooring", "rope")
