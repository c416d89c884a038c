"""The page of an entry, and editing it."""

import re

import pytest
from django.urls import reverse

from projects.models import EntryRevision, GlossaryEntry
from projects.services.documents import delete_documents
from projects.services.glossary import edit_entry, undo
from tests import factories
from tests.projects.glossary.visiting import PART, data, page, post, publish

pytestmark = pytest.mark.django_db


def quote_of(document, line: int, quote: str) -> dict:
    return {
        "document_id": document.pk,
        "path": document.path,
        "file_hash": document.file_hash,
        "line_start": line,
        "line_end": line,
        "heading_path": ["Handbook", "Mooring"],
        "quote": quote,
    }


class TestEntry:
    @pytest.fixture
    def document(self, project):
        return factories.make_document(project, "ops/lines.md", "# Handbook\n\nA line holds.\n")

    def shown(self, client, entry) -> str:
        return page(client, "glossary-entry", entry.project_id, entry.pk)

    def test_what_it_says_and_is_related_to(self, reading, project, entries):
        html = self.shown(reading, entries["slack water"])
        assert "No current." in html
        assert f'href="{entries["pilot"].get_absolute_url()}" lang="en">pilot</a>' in html
        # Without an entry it is only a word.
        assert '<span class="muted">tide</span>' in html

    def test_a_definition_has_a_language_of_its_own(self, reading, project, owner):
        made = publish(
            project, owner, data("係留索", "A rope that holds a ship."), data("岸壁", "船着場")
        )
        rope, quay = made["係留索"], made["岸壁"]
        assert '<p class="definition" lang="en">A rope' in self.shown(reading, rope)
        # Nothing to tell by: as the term.
        assert '<p class="definition" lang="ja">船着場' in self.shown(reading, quay)
        listed = page(reading, "project-glossary", project.pk)
        assert '<p class="entry-definition" lang="en">A rope' in listed

    def test_what_people_wrote_was_not_written_with_a_prompt(self, reading, project, owner):
        entry = publish(project, owner, data("pilot", prompt_version="generate/3"))["pilot"]
        assert "generate/3" in self.shown(reading, entry)
        edit_entry(entry=entry, actor=owner, version=1, definition="A guide of ships.")
        assert "generate/3" not in self.shown(reading, entry)

    def test_the_words_of_other_entries_are_links_once(self, reading, project, owner):
        made = publish(
            project,
            owner,
            data("mooring line", "Ropes <b>and</b> pilots: the pilot, and two Mooring-lines."),
            data("pilot", "A mooring\nline is no pilotage."),
            data("係留索", "岸壁と係留索塔とロープ。岸壁。"),
            data("岸壁"),
            data("ロープ"),
        )

        def links(term: str) -> list[str]:
            html = self.shown(reading, made[term])
            [definition] = re.findall(r'<p class="definition".*?</p>', html, re.S)
            return re.findall(r">([^<]+)</a>", definition)

        assert links("mooring line") == ["pilots"]
        assert links("pilot") == ["mooring\nline"]
        # 係留索 is within another word here, and its own entry besides.
        assert links("係留索") == ["岸壁", "ロープ"]
        assert "<b>and" not in self.shown(reading, made["mooring line"])

    def test_evidence_leads_to_the_marked_lines(self, reading, project, owner, document):
        quote = quote_of(document, 3, "A line holds.")
        entry = publish(project, owner, data("line", evidence=[quote]))["line"]
        html = self.shown(reading, entry)
        url = reverse("document", args=[project.pk, document.pk])
        address = f"{url}?lines=3&amp;hash={document.file_hash[:12]}#L3"
        assert address in html
        assert "A line holds.</blockquote>" in html
        assert re.search(r"Handbook <span[^>]*>›</span> Mooring", html)
        assert "has changed since" not in html
        assert 'class="passage"' in reading.get(address.replace("&amp;", "&")).content.decode()

    def test_quotes_are_shown_as_readers_of_the_document_see_them(
        self, reading, project, owner, document
    ):
        quotes = [
            quote_of(document, 3, "A **line** *holds* `*all*` of [it](x.md)."),
            quote_of(document, 3, "| 係留索 | *太い*綱 |"),
        ]
        entry = publish(project, owner, data("line", evidence=quotes))["line"]
        html = self.shown(reading, entry)
        assert "A line holds *all* of it.</blockquote>" in html
        assert "係留索 | 太い綱</blockquote>" in html

    def test_a_document_that_has_changed_says_so(self, reading, project, owner, document):
        quote = quote_of(document, 3, "A line holds.")
        entry = publish(project, owner, data("line", evidence=[quote]))["line"]
        factories.make_document(project, document.path, "# Handbook\n\nNew.\n")
        assert "the document has changed since" in self.shown(reading, entry)

    def test_whose_words_the_quotes_are_not_for(self, reading, project, owner, document):
        quote = quote_of(document, 3, "A line holds.")
        entry = publish(project, owner, data("line", "As found.", evidence=[quote]))["line"]
        sentence = f"{owner} wrote this definition; the passages were found for another one."
        assert sentence not in self.shown(reading, entry)
        entry = edit_entry(entry=entry, actor=owner, version=entry.version, definition="By hand.")
        html = self.shown(reading, entry)
        assert sentence in html
        assert "A line holds.</blockquote>" in html
        undo(revision=entry.revisions.first(), actor=owner)
        assert sentence not in self.shown(reading, entry)

    def test_a_document_that_is_gone_has_no_link(self, reading, project, owner, document):
        quote = quote_of(document, 3, "A line holds.")
        entry = publish(project, owner, data("line", evidence=[quote]))["line"]
        delete_documents(project=project, ids=[document.pk], actor=owner)
        html = self.shown(reading, entry)
        assert "no longer in the project" in html
        assert "A line holds.</blockquote>" in html

    def test_doubts(self, reading, project, entries):
        html = self.shown(reading, entries["berth"])
        assert "cannot be found in the documents" in html
        assert "20%" in html

    def test_neighbours_in_the_order_of_the_glossary(self, reading, project, entries):
        html = self.shown(reading, entries["pilot"])
        assert re.search(rf'href="{entries["berth"].get_absolute_url()}" rel="prev"', html)
        assert re.search(rf'href="{entries["slack water"].get_absolute_url()}" rel="next"', html)
        assert 'rel="next"' not in self.shown(reading, entries["係留索"])

    def test_neighbours_of_one_reading_are_not_skipped(self, reading, project, owner):
        made = publish(project, owner, data("橋"), data("端"), data("箸"))
        made = sorted(made.values(), key=lambda entry: entry.pk)
        html = self.shown(reading, made[1])
        assert f'href="{made[0].get_absolute_url()}" rel="prev"' in html
        assert f'href="{made[2].get_absolute_url()}" rel="next"' in html

    def test_the_live_part_is_the_same(self, reading, project, entries):
        url = entries["pilot"].get_absolute_url()
        part = reading.get(url, headers=PART).content.decode()
        assert part.startswith('<div id="entry"')
        assert part.strip() in reading.get(url).content.decode()

    def test_viewers_read_and_no_more(self, reading, project, entries):
        html = self.shown(reading, entries["pilot"])
        main = html[html.index('id="entry"') : html.index("</main>")]
        assert "<form" not in main
        assert reverse("entry-edit", args=[project.pk, entries["pilot"].pk]) not in html

    def test_entries_of_other_projects_are_not_there(self, editing, editor, entries):
        other = factories.make_project("Other", owner=editor)
        pk = entries["pilot"].pk
        for name in ("glossary-entry", "entry-edit"):
            assert editing.get(reverse(name, args=[other.pk, pk])).status_code == 404
        for name in ("entry-delete", "entry-unlock", "entry-reviewed"):
            assert editing.post(reverse(name, args=[other.pk, pk])).status_code == 404
        revision = EntryRevision.objects.first()
        undo = reverse("revision-undo", args=[other.pk, revision.pk])
        assert editing.post(undo).status_code == 404


def as_form(entry: GlossaryEntry, **changes) -> dict:
    form = {
        "term": entry.term,
        "definition": entry.definition,
        "category": entry.category,
        "aliases": "\n".join(entry.aliases),
        "related": "\n".join(entry.related),
        "version": entry.version,
    }
    return form | changes


class TestEditing:
    def edit(self, client, entry, **changes):
        url = reverse("entry-edit", args=[entry.project_id, entry.pk])
        return client.post(url, as_form(entry, **changes))

    def test_only_what_differs_is_locked(self, editing, project, entries):
        entry = entries["pilot"]
        response = self.edit(
            editing, entry, definition="Guides ships.", aliases="Lotse\n 水先人 \n"
        )
        assert response.url == entry.get_absolute_url()
        entry.refresh_from_db()
        assert entry.definition == "Guides ships."
        assert entry.aliases == ["Lotse", "水先人"]
        assert entry.locked == ["definition", "aliases"]

    def test_unlock(self, editing, project, entries):
        entry = entries["pilot"]
        self.edit(editing, entry, definition="Guides ships.")
        html = page(editing, "glossary-entry", project.pk, entry.pk)
        assert 'name="field" value="definition"' in html
        post(editing, "entry-unlock", project.pk, entry.pk, field="definition")
        entry.refresh_from_db()
        assert entry.locked == []
        # A field that is not locked, or is none, is no error.
        post(editing, "entry-unlock", project.pk, entry.pk, field="nonsense")

    def test_looks_right(self, editing, project, entries):
        entry = entries["berth"]
        assert "Looks right" in page(editing, "glossary-entry", project.pk, entry.pk)
        html = post(editing, "entry-reviewed", project.pk, entry.pk)
        entry.refresh_from_db()
        assert not entry.needs_review
        assert "Looks right" not in html
        assert "Read, and found right" in html

    @pytest.mark.parametrize(
        "changes", [{"definition": " "}, {"term": ""}, {"term": "Slack-Water"}, {"version": "x"}]
    )
    def test_a_refused_form_keeps_what_was_typed(self, editing, project, entries, changes):
        response = self.edit(editing, entries["pilot"], aliases="mine", **changes)
        assert response.status_code == 422
        assert "mine" in response.content.decode()
        assert GlossaryEntry.objects.get(pk=entries["pilot"].pk).version == 1

    def test_two_at_once_on_one_field_see_both_texts(self, editing, project, entries, owner):
        entry = entries["pilot"]
        edit_entry(entry=entry, actor=owner, version=1, definition="A mariner who steers.")
        response = self.edit(editing, entry, definition="A captain who guides vessels.")
        html = response.content.decode()
        assert response.status_code == 409
        assert "olive has changed this entry while you were writing" in html
        assert "A mariner who steers." in html
        assert "A captain who guides vessels.</textarea>" in html
        assert GlossaryEntry.objects.get(pk=entry.pk).definition == "A mariner who steers."
        # Sent again with what the page has now, it is saved.
        again = re.search(r'name="version" value="(\d+)"', html)[1]
        final = self.edit(editing, entry, definition="A captain who guides.", version=again)
        assert final.status_code == 302
        assert GlossaryEntry.objects.get(pk=entry.pk).definition == "A captain who guides."

    def test_two_at_once_on_different_fields_lose_nothing(self, editing, project, entries, owner):
        entry = entries["pilot"]
        edit_entry(entry=entry, actor=owner, version=1, aliases=["Lotse", "guide"])
        response = self.edit(editing, entry, definition="A captain.")
        html = response.content.decode()
        assert response.status_code == 409
        assert "You changed other fields" in html
        assert "A captain.</textarea>" in html
        assert "Lotse\nguide</textarea>" in html

    def test_add(self, editing, project):
        url = reverse("entry-add", args=[project.pk])
        wish = {"term": "Fender", "definition": "Rubber.", "related": "berth\npilot"}
        response = editing.post(url, wish)
        entry = project.entries.get()
        assert response.url == entry.get_absolute_url()
        assert entry.related == ["berth", "pilot"]
        response = editing.post(url, {"term": "fenders", "definition": "Again."})
        assert response.status_code == 422
        assert entry.get_absolute_url() in response.content.decode()
