"""The pages of the glossary: reading it, one entry with what it rests on, editing, and history."""

import csv
import json
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from projects.choices import Change
from projects.models import EntryRevision, GlossaryEntry
from projects.rendering.words import word_diff
from projects.services.documents import delete_documents
from projects.services.glossary import EntryData, add_entry, edit_entry, publish_entries
from projects.terms.keys import key_of
from projects.terms.readings import reading_of
from tests import factories

pytestmark = pytest.mark.django_db

PART = {"HX-Request": "true"}
JAPANESE = re.compile("[\u3041-\u9fff]")


def data(term: str, definition: str = "A thing.", **more) -> EntryData:
    return EntryData(
        term=term,
        key=key_of(term),
        reading=reading_of(term),
        language="ja" if JAPANESE.search(term) else "en",
        definition=definition,
        **more,
    )


def publish(project, actor, *entries: EntryData) -> dict[str, GlossaryEntry]:
    publish_entries(project=project, entries=entries, run_id=7, actor=actor)
    return {entry.term: entry for entry in project.entries.all()}


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


@pytest.fixture
def reading(sign_in, viewer):
    return sign_in(viewer)


@pytest.fixture
def editing(sign_in, editor):
    return sign_in(editor)


@pytest.fixture
def entries(project, owner) -> dict[str, GlossaryEntry]:
    return publish(
        project,
        owner,
        data("pilot", "A mariner who guides vessels.", aliases=["Lotse"], category="title"),
        data("slack water", "No current.", related=["pilot", "tide"]),
        data("係留索", "船をつなぎとめる綱。"),
        data("berth", "Used in: a berth.", needs_review=True, supported=False, confidence=0.2),
    )


def page(client, name: str, *args, **query) -> str:
    response = client.get(reverse(name, args=args), query)
    assert response.status_code == 200
    return response.content.decode()


def named(html: str) -> list[str]:
    return re.findall(r"data-row-link[^>]*>([^<]+)</a>", html)


def post(client, name: str, *args, **data) -> str:
    response = client.post(reverse(name, args=args), data, follow=True)
    assert response.status_code == 200
    return response.content.decode()


class TestList:
    def test_an_empty_one_says_what_to_do_next(self, editing, reading, project):
        assert reverse("document-add", args=[project.pk]) in page(
            editing, "project-glossary", project.pk
        )
        factories.make_document(project)
        runs = f'href="{reverse("project-runs", args=[project.pk])}">To the runs'
        assert runs in page(editing, "project-glossary", project.pk)
        assert runs not in page(reading, "project-glossary", project.pk)

    def test_in_order_under_their_letters(self, reading, project, entries):
        html = page(reading, "project-glossary", project.pk)
        assert named(html) == ["berth", "pilot", "slack water", "係留索"]
        assert re.findall(r'<h2 class="letter"[^>]*>(.)</h2>', html) == ["B", "P", "S", "か"]
        assert "けいりゅうさく" in html
        assert "also Lotse" in html

    def test_only_letters_that_exist_are_links(self, reading, project, entries):
        html = page(reading, "project-glossary", project.pk)
        assert re.findall(r'<a id="letter-(.)"', html) == ["B", "P", "S", "か"]
        assert '<span aria-hidden="true">A</span>' in html
        assert '<span aria-hidden="true">あ</span>' in html

    def test_a_script_that_nobody_uses_has_no_bar(self, reading, project, owner):
        publish(project, owner, data("pilot"))
        assert "あ" not in page(reading, "project-glossary", project.pk)

    def test_the_language_of_the_project_comes_first(self, reading, project, entries):
        project.language = "ja"
        project.save()
        html = page(reading, "project-glossary", project.pk)
        assert html.index('id="letter-か"') < html.index('id="letter-B"')

    def test_one_letter(self, reading, project, entries):
        assert named(page(reading, "project-glossary", project.pk, letter="か")) == ["係留索"]
        html = page(reading, "project-glossary", project.pk, letter="P")
        assert named(html) == ["pilot"]
        # The others stay in reach.
        assert 'id="letter-S"' in html
        assert len(named(page(reading, "project-glossary", project.pk, letter="nonsense"))) == 4

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("PILOT", ["pilot"]),
            ("guides", ["pilot"]),
            ("lotse", ["pilot"]),
            ("けいりゅう", ["係留索"]),
            ("つなぎ", ["係留索"]),
            ("nowhere", []),
        ],
    )
    def test_search_in_terms_readings_aliases_and_definitions(
        self, reading, project, entries, query, expected
    ):
        assert named(page(reading, "project-glossary", project.pk, q=query)) == expected

    def test_aliases_in_japanese_are_found(self, reading, project, owner):
        publish(project, owner, data("mooring line", aliases=["もやい綱"]), data("pilot"))
        assert named(page(reading, "project-glossary", project.pk, q="もやい")) == ["mooring line"]

    def test_a_term_that_is_missing_can_be_added_from_there(self, editing, project, entries):
        html = page(editing, "project-glossary", project.pk, q="Fender & Co")
        add = f"{reverse('entry-add', args=[project.pk])}?term=Fender%20%26%20Co"
        assert add in html
        assert 'value="Fender &amp; Co"' in editing.get(add).content.decode()

    def test_by_category_and_state(self, reading, project, entries):
        assert named(page(reading, "project-glossary", project.pk, category="title")) == ["pilot"]
        assert named(page(reading, "project-glossary", project.pk, only="review")) == ["berth"]
        assert named(page(reading, "project-glossary", project.pk, only="unsupported")) == ["berth"]
        assert named(page(reading, "project-glossary", project.pk, only="edited")) == []

    def test_doubts_are_words_not_only_colours(self, reading, project, entries):
        html = page(reading, "project-glossary", project.pk, letter="B")
        assert re.search(r"badge-bad.*unsupported</span>", html)
        assert re.search(r"badge-warn.*needs review</span>", html)

    @pytest.mark.parametrize("query", ["\0", "%", "_", "'", "\\", "<b>"])
    def test_odd_addresses_are_only_words(self, reading, project, entries, query):
        for key in ("q", "category", "only", "letter", "sort", "page"):
            page(reading, "project-glossary", project.pk, **{key: query})

    def test_htmx_gets_the_same_part_alone(self, reading, project, entries):
        url = reverse("project-glossary", args=[project.pk])
        part = reading.get(url, headers=PART).content.decode()
        assert part.startswith('<div id="results"')
        assert 'hx-trigger="live:glossary from:body"' in part
        whole = page(reading, "project-glossary", project.pk)
        assert part.strip() in whole

    def test_large_ones_come_in_pages_and_few_queries(self, reading, project, owner):
        def queries() -> int:
            with CaptureQueriesContext(connection) as captured:
                page(reading, "project-glossary", project.pk, q="term")
            assert not any('"evidence"' in query["sql"] for query in captured)
            return len(captured)

        many = [data(f"term {n}x", aliases=["other"]) for n in range(70)]
        publish(project, owner, *many[:2])
        page(reading, "project-glossary", project.pk)
        before = queries()
        publish(project, owner, *many)
        assert queries() == before <= 18
        assert len(named(page(reading, "project-glossary", project.pk))) == 60
        assert len(named(page(reading, "project-glossary", project.pk, page=2))) == 10

    def test_no_script_survives(self, editing, project, owner):
        entry = add_entry(
            project=project,
            actor=owner,
            term="<script>x</script>",
            definition="<script>y</script>",
            aliases=["<img src=x>"],
            related=["<img src=z>"],
        )
        for html in (
            page(editing, "project-glossary", project.pk),
            page(editing, "glossary-entry", project.pk, entry.pk),
            page(editing, "entry-edit", project.pk, entry.pk),
            page(editing, "glossary-history", project.pk),
        ):
            assert not re.search(r"<script>[xy]|<img src=[xz]", html)


class TestExport:
    def test_json(self, reading, project, entries):
        response = reading.get(reverse("glossary-export", args=[project.pk, "json"]))
        rows = json.loads(response.content)["entries"]
        assert {row["term"] for row in rows} == set(entries)
        assert "harbour-glossary.json" in response["Content-Disposition"]

    def test_csv(self, reading, project, entries):
        response = reading.get(reverse("glossary-export", args=[project.pk, "csv"]))
        rows = list(csv.reader(response.content.decode("utf-8-sig").splitlines()))
        assert len(rows) == 1 + len(entries)
        assert response["Content-Type"] == "text/csv; charset=utf-8"

    def test_markdown(self, reading, project, entries):
        text = reading.get(reverse("glossary-export", args=[project.pk, "md"])).content.decode()
        assert text.index("### pilot") < text.index("### 係留索")

    def test_the_menu_has_all_three_and_no_other_exists(self, reading, project, entries):
        html = page(reading, "project-glossary", project.pk)
        for format in ("md", "json", "csv"):
            assert reverse("glossary-export", args=[project.pk, format]) in html
        other = reverse("glossary-export", args=[project.pk, "exe"])
        assert reading.get(other).status_code == 404


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

    def test_a_document_that_has_changed_says_so(self, reading, project, owner, document):
        quote = quote_of(document, 3, "A line holds.")
        entry = publish(project, owner, data("line", evidence=[quote]))["line"]
        factories.make_document(project, document.path, "# Handbook\n\nNew.\n")
        assert "the document has changed since" in self.shown(reading, entry)

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


class TestHistory:
    def test_authors_words_and_undo(self, editing, editor, project, entries):
        entry = entries["pilot"]
        edit_entry(entry=entry, actor=editor, version=1, definition="A mariner who steers vessels.")
        html = page(editing, "glossary-entry", project.pk, entry.pk)
        assert "<del>guides</del><ins>steers</ins>" in html
        assert "run 7" in html
        revision = entry.revisions.first()
        html = post(editing, "revision-undo", project.pk, revision.pk)
        assert "was undone" in html
        entry.refresh_from_db()
        assert entry.definition == "A mariner who guides vessels."
        # Twice is once: the second time it says so.
        assert "already" in post(editing, "revision-undo", project.pk, revision.pk)

    def test_what_was_changed_again_since_is_not_undone(self, editing, editor, project, entries):
        entry = entries["pilot"]
        edit_entry(entry=entry, actor=editor, version=1, definition="One.")
        edit_entry(entry=entry, actor=editor, version=2, definition="Two.")
        first = entry.revisions.get(number=2)
        assert "changed again since" in post(editing, "revision-undo", project.pk, first.pk)
        entry.refresh_from_db()
        assert entry.definition == "Two."

    def test_a_deleted_entry_comes_back(self, editing, project, entries):
        entry = entries["pilot"]
        html = post(editing, "entry-delete", project.pk, entry.pk)
        assert "“pilot” was deleted." in html
        assert reverse("glossary-history", args=[project.pk]) in html
        assert "Bring back" in page(editing, "glossary-history", project.pk)
        revision = EntryRevision.objects.get(change=Change.DELETED)
        post(editing, "revision-undo", project.pk, revision.pk)
        assert page(editing, "glossary-entry", project.pk, entry.pk)

    def test_a_publication_is_one_line_and_undone_in_one_go(self, editing, project, entries):
        html = page(editing, "glossary-history", project.pk)
        assert "<strong>4 entries</strong>" in html
        batch = EntryRevision.objects.values_list("batch", flat=True).distinct().get()
        html = post(editing, "batch-undo", project.pk, batch)
        assert "The changes of 4 entries were undone." in html
        assert not project.entries.exists()
        assert "Nothing of it can be taken back" in post(editing, "batch-undo", project.pk, batch)

    def test_the_queries_of_the_history_do_not_grow(self, editing, editor, project, entries):
        def queries() -> int:
            with CaptureQueriesContext(connection) as captured:
                page(editing, "glossary-history", project.pk)
            return len(captured)

        edit_entry(entry=entries["pilot"], actor=editor, version=1, definition="One.")
        page(editing, "glossary-history", project.pk)
        before = queries()
        for number in range(2, 20):
            edit_entry(entry=entries["pilot"], actor=editor, version=number, definition=f"{number}")
        assert queries() == before <= 18


@pytest.mark.parametrize(
    ("old", "new", "spans"),
    [
        ("", "a b", [("add", "a b")]),
        ("a b", "", [("del", "a b")]),
        ("same", "same", [("same", "same")]),
        (
            "a cat sat",
            "a dog sat",
            [("same", "a "), ("del", "cat"), ("add", "dog"), ("same", " sat")],
        ),
        ("船の綱", "船の縄", [("same", "船の"), ("del", "綱"), ("add", "縄")]),
    ],
)
def test_word_diff(old, new, spans):
    assert [(span.kind, span.text) for span in word_diff(old, new)] == spans


def test_a_very_long_text_is_not_compared_word_by_word():
    spans = word_diff("a " * 5000, "b " * 5000)
    assert [span.kind for span in spans] == ["del", "add"]
