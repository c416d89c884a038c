"""The published glossary over REST: edits that know what they saw, undo, export."""

import json
import threading

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from glossary_site.people.services import create_token
from projects.access import OPERATOR
from projects.models import EntryRevision, GlossaryEntry
from projects.services.glossary import EntryData, publish_entries
from projects.terms.keys import key_of
from projects.terms.readings import reading_of
from tests.factories import make_document, make_project


@pytest.fixture
def base(project) -> str:
    return f"/api/projects/{project.pk}/glossary"


def publish(project, *terms: str, definition: str = "", **fields):
    rows = [
        EntryData(
            term=term,
            key=key_of(term),
            reading=reading_of(term),
            language="en",
            definition=definition or f"What {term} is.",
            **{"score": 10.0 - number, **fields},
        )
        for number, term in enumerate(terms)
    ]
    return publish_entries(project=project, entries=rows, run_id=7, actor=OPERATOR)


def entry(term: str) -> GlossaryEntry:
    return GlossaryEntry.objects.get(key=key_of(term))


def terms(response) -> list[str]:
    assert response.status_code == 200, response.json()
    return [row["term"] for row in response.json()["results"]]


class TestReading:
    def test_in_order_and_narrowed(self, as_viewer, base, project):
        publish(project, "quay", "anchor", "灯台")
        publish(project, "Mole", needs_review=True, category="title")
        assert terms(as_viewer.get(base)) == ["anchor", "Mole", "quay", "灯台"]
        for query, expected in [
            ("q=ANCHOR", ["anchor"]),
            ("q=とう", ["灯台"]),
            ("letter=Q", ["quay"]),
            ("letter=た", ["灯台"]),
            ("letter=%23", []),
            ("category=title", ["Mole"]),
            ("needs_review=true", ["Mole"]),
            ("needs_review=false&ordering=-score", ["quay", "anchor", "灯台"]),
            ("page_size=1&page=2", ["Mole"]),
        ]:
            assert terms(as_viewer.get(f"{base}?{query}")) == expected, query
        assert as_viewer.get(f"{base}?letter=zz").status_code == 400

    def test_an_entry_with_the_place_of_each_quote(self, as_viewer, base, project):
        document = make_document(project, "a.md", "# A\n\nThe quay is long.\n")
        piece = {
            "document_id": document.pk,
            "path": "a.md",
            "file_hash": document.file_hash,
            "line_start": 3,
            "line_end": 4,
            "heading_path": ["A"],
            "quote": "The quay is long.",
        }
        publish(project, "quay", evidence=[piece])
        row = as_viewer.get(f"{base}/{entry('quay').pk}").json()
        url = f"/projects/{project.pk}/documents/{document.pk}/?lines=3-4"
        assert row["evidence"] == [{**piece, "url": f"{url}&hash={document.file_hash[:12]}#L3"}]
        assert (row["version"], row["locked"], row["run_id"]) == (1, [], 7)

    def test_as_many_queries_for_many_as_for_few(self, as_viewer, base, project):
        publish(project, "quay")
        as_viewer.get(base)
        counts = []
        for names in (["a1"], [f"b{n}" for n in range(20)]):
            publish(project, *names)
            with CaptureQueriesContext(connection) as queries:
                assert as_viewer.get(base).status_code == 200
                assert as_viewer.get(f"{base}/revisions").status_code == 200
            counts.append(len(queries))
        assert counts[0] == counts[1]

    def test_entries_of_other_projects_are_none_of_ours(self, as_editor, base):
        publish(make_project("Other"), "quay")
        address = f"{base}/{entry('quay').pk}"
        assert as_editor.get(address).status_code == 404
        assert as_editor.patch(address, {"version": 1}).status_code == 404
        assert as_editor.delete(address).status_code == 404
        revision = EntryRevision.objects.get()
        assert as_editor.post(f"{base}/revisions/{revision.pk}/undo").status_code == 404
        assert as_editor.post(f"{base}/publications/{revision.batch}/undo").status_code == 404


class TestWriting:
    def test_added_by_hand(self, as_editor, base):
        made = as_editor.post(
            base, {"term": "quay", "definition": "A place.", "aliases": ["wharf"]}
        )
        assert made.status_code == 201
        assert made.json()["locked"] == ["term", "definition", "aliases"]
        again = as_editor.post(base, {"term": "Quays", "definition": "Places."})
        assert (again.status_code, again.json()["code"]) == (409, "entry_exists")
        assert again.json()["entry_id"] == made.json()["id"]

    def test_an_edit_names_what_it_saw(self, as_editor, base, project):
        publish(project, "quay")
        address = f"{base}/{entry('quay').pk}"
        missing = as_editor.patch(address, {"definition": "Mine."})
        assert (missing.status_code, list(missing.json()["fields"])) == (400, ["version"])
        row = as_editor.patch(address, {"version": 1, "definition": "Mine."}).json()
        assert (row["definition"], row["locked"], row["version"]) == (
            "Mine.",
            ["definition"],
            2,
        )
        late = as_editor.patch(address, {"version": 1, "category": "title"})
        assert late.status_code == 409
        assert (late.json()["code"], late.json()["version"]) == ("entry_changed", 2)
        reviewed = as_editor.patch(address, {"version": 2, "needs_review": True}).json()
        assert (reviewed["needs_review"], reviewed["version"]) == (True, 3)
        freed = as_editor.post(f"{address}/unlock", {"field": "definition"}).json()
        assert (freed["locked"], freed["version"]) == ([], 4)
        assert as_editor.post(f"{address}/unlock", {"field": "score"}).status_code == 400

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            ({"definition": ""}, "invalid"),
            ({"definition": " \n "}, "invalid"),
            ({"category": "nope"}, "category_unknown"),
            ({"aliases": ["x"] * 51}, "invalid"),
            ({"aliases": "wharf"}, "invalid"),
            ({"term": "\u200b"}, "term_invalid"),
        ],
        ids=["empty", "blank", "category", "many", "text", "invisible"],
    )
    def test_what_an_entry_cannot_become(self, as_editor, base, project, body, code):
        publish(project, "quay")
        address = f"{base}/{entry('quay').pk}"
        response = as_editor.patch(address, {"version": 1, **body})
        assert (response.status_code, response.json()["code"]) == (400, code)
        assert entry("quay").version == 1

    def test_deleted_if_it_is_what_was_seen(self, as_editor, base, project):
        publish(project, "quay")
        address = f"{base}/{entry('quay').pk}"
        late = as_editor.delete(f"{address}?version=5")
        assert (late.status_code, late.json()["code"]) == (409, "entry_changed")
        assert as_editor.delete(f"{address}?version=x").status_code == 400
        assert as_editor.delete(f"{address}?version=1").status_code == 204
        assert as_editor.delete(address).status_code == 404

    @pytest.mark.django_db(transaction=True)
    def test_two_editors_at_once(self, project, owner):
        publish(project, "quay")
        _token, secret = create_token(user=owner, name="race")
        address = f"/api/projects/{project.pk}/glossary/{entry('quay').pk}"
        start = threading.Barrier(3)
        answers = []

        def change(number):
            client = APIClient()
            client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
            start.wait()
            body = {"version": 1, "definition": f"Number {number}."}
            answers.append(client.patch(address, body, format="json"))
            connection.close()

        threads = [threading.Thread(target=change, args=[n]) for n in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(answer.status_code for answer in answers) == [200, 409, 409]
        (winner,) = [answer.json() for answer in answers if answer.status_code == 200]
        assert winner["definition"] == entry("quay").definition


class TestHistory:
    def test_of_one_entry_and_of_all(self, as_editor, as_viewer, base, project):
        publish(project, "quay", "pier")
        address = f"{base}/{entry('quay').pk}"
        as_editor.patch(address, {"version": 1, "definition": "Mine."})
        rows = as_viewer.get(f"{address}/revisions").json()["results"]
        assert [(row["number"], row["change"], row["author"], row["run_id"]) for row in rows] == [
            (2, "edited", "edda", None),
            (1, "published", None, 7),
        ]
        assert rows[0]["before"]["definition"] == "What quay is."
        assert rows[0]["after"]["definition"] == "Mine."
        assert as_viewer.get(f"{base}/revisions").json()["count"] == 3

    def test_one_change_taken_back(self, as_editor, base, project):
        publish(project, "quay")
        address = f"{base}/{entry('quay').pk}"
        as_editor.patch(address, {"version": 1, "definition": "Mine."})
        revision = EntryRevision.objects.get(change="edited")
        undo = f"{base}/revisions/{revision.pk}/undo"
        row = as_editor.post(undo).json()["entry"]
        assert (row["definition"], row["locked"], row["version"]) == ("What quay is.", [], 3)
        again = as_editor.post(undo)
        assert (again.status_code, again.json()["code"]) == (409, "already_undone")

    def test_a_deleted_entry_brought_back(self, as_editor, base, project):
        publish(project, "quay")
        number = entry("quay").pk
        as_editor.delete(f"{base}/{number}")
        rows = as_editor.get(f"{base}/revisions").json()["results"]
        assert (rows[0]["change"], rows[0]["entry"], rows[0]["after"]) == ("deleted", None, None)
        back = as_editor.post(f"{base}/revisions/{rows[0]['id']}/undo").json()["entry"]
        assert (back["id"], back["term"]) == (number, "quay")
        # And the first publication: taking it back leaves no entry.
        first = EntryRevision.objects.order_by("pk")[0]
        assert as_editor.post(f"{base}/revisions/{first.pk}/undo").json() == {"entry": None}

    def test_a_publication_taken_back(self, as_editor, base, project):
        batch = publish(project, "quay", "pier", "mole").batch
        address = f"{base}/{entry('pier').pk}"
        as_editor.patch(address, {"version": 1, "definition": "Mine."})
        undo = f"{base}/publications/{batch}/undo"
        assert as_editor.post(undo).json() == {"undone": 2, "kept": 1}
        assert terms(as_editor.get(base)) == ["pier"]
        again = as_editor.post(undo)
        assert (again.status_code, again.json()["code"]) == (409, "nothing_to_undo")


class TestExport:
    def test_filtered_as_the_list_is(self, as_viewer, base, project):
        publish(project, "quay", "pier", "pilot")
        rows = as_viewer.get(f"{base}/export?letter=P&q=PIER").json()["entries"]
        assert [row["term"] for row in rows] == ["pier"]
        assert as_viewer.get(f"{base}/export?letter=nope").status_code == 400

    @pytest.mark.parametrize(
        ("query", "accept", "content_type", "start"),
        [
            ("", "", "application/json", '{"entries": ['),
            ("", "*/*", "application/json", '{"entries": ['),
            ("", "text/csv", "text/csv; charset=utf-8", "\ufeffterm,"),
            ("", "text/html, text/markdown;q=0.5", "text/markdown; charset=utf-8", "# Harbour"),
            ("", "text/html", "application/json", '{"entries": ['),
            ("?format=md", "text/csv", "text/markdown; charset=utf-8", "# Harbour"),
            ("?format=csv", "", "text/csv; charset=utf-8", "\ufeffterm,"),
        ],
        ids=range(7),
    )
    def test_as_the_address_or_the_header_asks(
        self, as_viewer, base, project, query, accept, content_type, start
    ):
        publish(project, "quay")
        headers = {"Accept": accept} if accept else {}
        response = as_viewer.get(f"{base}/export{query}", headers=headers)
        assert response.status_code == 200
        assert response["Content-Type"] == content_type
        assert response.content.decode().startswith(start)
        assert response["Content-Disposition"].startswith("attachment; filename")
        assert "Accept" in response["Vary"]

    def test_the_best_first(self, as_viewer, base, project):
        publish(project, "quay", "anchor")
        rows = json.loads(as_viewer.get(f"{base}/export").content)["entries"]
        assert [row["term"] for row in rows] == ["quay", "anchor"]

    def test_no_such_format(self, as_viewer, base):
        assert as_viewer.get(f"{base}/export?format=pdf").status_code == 400
