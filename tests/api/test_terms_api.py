"""Terms, their lists, synonym groups and categories over REST."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from projects.access import OPERATOR
from projects.models import Term
from projects.services.categories import add_category
from projects.services.synonyms import make_group, terms_named
from projects.services.terms import Found, add_term, set_status, take_extraction
from projects.terms.keys import key_of
from tests.factories import make_document, make_project


@pytest.fixture
def base(project) -> str:
    return f"/api/projects/{project.pk}"


@pytest.fixture
def terms(project) -> dict[str, Term]:
    """Three terms as an extraction found them, one of them a common noun."""
    rows = [
        ("quay", 9.0, 5, 2, "technical_term", ""),
        ("harbour pilot", 7.0, 20, 1, "title", ""),
        ("thing", 1.0, 90, 9, "common_noun", "common_noun"),
    ]
    found = [
        Found(
            text=text,
            key=key_of(text),
            reading=text,
            language="en",
            category=category,
            score=score,
            frequency=frequency,
            document_count=documents,
            variants=(text,),
            excluded_because=because,
        )
        for text, score, frequency, documents, category, because in rows
    ]
    take_extraction(project=project, found=found)
    return {row.text: row for row in Term.objects.filter(project=project)}


def texts(response) -> list[str]:
    assert response.status_code == 200, response.json()
    return [row["text"] for row in response.json()["results"]]


class TestList:
    def test_the_best_first(self, as_viewer, base, terms):
        assert texts(as_viewer.get(f"{base}/terms")) == ["quay", "harbour pilot", "thing"]

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("show=kept", ["quay", "harbour pilot"]),
            ("show=excluded", ["thing"]),
            ("show=required", []),
            ("status=auto_excluded", ["thing"]),
            ("q=PILOT", ["harbour pilot"]),
            ("category=title", ["harbour pilot"]),
            ("category=-", []),
            ("ordering=-frequency", ["thing", "harbour pilot", "quay"]),
            ("ordering=-documents", ["thing", "quay", "harbour pilot"]),
            ("ordering=text", ["harbour pilot", "quay", "thing"]),
            ("ordering=-score&page_size=1&page=2", ["harbour pilot"]),
        ],
    )
    def test_narrowed_and_sorted(self, as_viewer, base, terms, query, expected):
        assert texts(as_viewer.get(f"{base}/terms?{query}")) == expected

    @pytest.mark.parametrize(
        "query",
        [
            "show=all",
            "status=x",
            "ordering=nothing",
            "group=x",
            "group=1.5",
            f"group={2**63}",
            "q=%00",
        ],
    )
    def test_what_it_does_not_know_is_said(self, as_viewer, base, terms, query):
        response = as_viewer.get(f"{base}/terms?{query}")
        assert (response.status_code, response.json()["code"]) == (400, "invalid")

    def test_as_many_queries_for_many_as_for_few(self, as_viewer, base, project):
        # The first call of a token notes that it was used.
        as_viewer.get(f"{base}/terms")
        counts = []
        for number in range(2):
            names = [f"term {number} {n}" for n in range(6)]
            named = terms_named(project=project, texts=names, actor=OPERATOR)
            make_group(project=project, primary=named[0], terms=named[1:], actor=OPERATOR)
            with CaptureQueriesContext(connection) as queries:
                assert as_viewer.get(f"{base}/terms").json()["count"] == 6 * (number + 1)
                assert as_viewer.get(f"{base}/synonym-groups").json()["count"] == number + 1
            counts.append(len(queries))
        assert counts[0] == counts[1]


class TestOne:
    def test_added_read_changed_and_deleted(self, as_editor, as_viewer, base, editor):
        added = as_editor.post(
            f"{base}/terms",
            {"text": " Tide  table ", "status": "required", "category": "title", "notes": "N"},
        )
        assert added.status_code == 201
        row = added.json()
        assert (row["text"], row["status"], row["chosen"]) == (
            "Tide table",
            "required",
            ["category", "status", "text"],
        )
        address = f"{base}/terms/{row['id']}"
        assert as_viewer.get(address).json() == row
        changed = as_editor.patch(
            address, {"notes": "New", "status": "excluded", "reason": "Too vague"}
        ).json()
        assert (changed["notes"], changed["status"], changed["reason"], changed["text"]) == (
            "New",
            "excluded",
            "Too vague",
            "Tide table",
        )
        assert as_editor.patch(address, {}).json()["notes"] == "New"
        assert as_editor.delete(address).status_code == 204
        assert as_editor.delete(address).status_code == 404
        assert as_viewer.get(address).json()["code"] == "not_found"

    def test_one_that_is_there_is_named(self, as_editor, base, terms):
        response = as_editor.post(f"{base}/terms", {"text": "Quays"})
        assert response.status_code == 409
        assert response.json()["code"] == "term_exists"
        assert response.json()["term_id"] == terms["quay"].pk

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            ({}, "invalid"),
            ({"text": 7}, "invalid"),
            ({"text": "\u200b"}, "term_invalid"),
            ({"text": "x", "status": "auto_excluded"}, "invalid"),
            ({"text": "x", "category": "nope"}, "category_unknown"),
        ],
        ids=["nothing", "number", "invisible", "status", "category"],
    )
    def test_what_cannot_be_added(self, as_editor, base, body, code):
        response = as_editor.post(f"{base}/terms", body)
        assert (response.status_code, response.json()["code"]) == (400, code)

    def test_a_change_is_whole_or_not_at_all(self, as_editor, base, terms):
        address = f"{base}/terms/{terms['quay'].pk}"
        body = {"notes": "N", "category": "nope", "status": "required"}
        assert as_editor.patch(address, body).status_code == 400
        row = Term.objects.get(pk=terms["quay"].pk)
        assert (row.notes, row.status) == ("", "candidate")

    def test_notes_that_somebody_else_has_written_meanwhile(self, as_editor, base, terms):
        address = f"{base}/terms/{terms['quay'].pk}"
        assert as_editor.patch(address, {"notes": "Theirs"}).status_code == 200
        body = {"notes": "Mine", "seen": {"notes": ""}}
        response = as_editor.patch(address, body)
        assert (response.status_code, response.json()["code"]) == (409, "term_changed")
        body["seen"]["notes"] = "Theirs"
        assert as_editor.patch(address, body).json()["notes"] == "Mine"

    def test_terms_of_other_projects_are_none_of_ours(self, as_editor, base):
        other = add_term(project=make_project("Other"), text="x", actor=OPERATOR)
        for method in (as_editor.get, as_editor.delete, as_editor.patch):
            assert method(f"{base}/terms/{other.pk}").status_code == 404


class TestBulk:
    @pytest.mark.parametrize(
        ("action", "status"),
        [("exclude", "excluded"), ("require", "required"), ("reset", "candidate")],
    )
    def test_a_status_for_many(self, as_editor, base, terms, action, status):
        ids = [row.pk for row in terms.values()]
        body = {"ids": [*ids, 10**9], "action": action, "reason": "Why"}
        changed = as_editor.post(f"{base}/terms/bulk", body).json()["changed"]
        assert changed == (1 if action == "reset" else 3)
        rows = Term.objects.filter(pk__in=ids)
        assert set(rows.values_list("status", flat=True)) == {status}
        reasons = {"Why"} if action == "exclude" else {""}
        assert set(rows.values_list("reason", flat=True)) == reasons

    def test_a_category_for_many_and_the_end_of_many(self, as_editor, base, terms):
        ids = [terms["quay"].pk, terms["thing"].pk]
        body = {"ids": ids, "action": "category", "category": "place_name"}
        assert as_editor.post(f"{base}/terms/bulk", body).json() == {"changed": 2}
        # A common noun that is a place after all is in.
        assert Term.objects.get(pk=terms["thing"].pk).status == "candidate"
        assert as_editor.post(f"{base}/terms/bulk", {"ids": ids, "action": "delete"}).json() == {
            "changed": 2
        }
        assert Term.objects.get().text == "harbour pilot"

    @pytest.mark.parametrize(
        "body",
        [
            {"ids": [], "action": "exclude"},
            {"ids": [1], "action": "explode"},
            {"ids": list(range(1001)), "action": "exclude"},
            {"ids": [2**63], "action": "exclude"},
            {"ids": [1], "action": "category", "category": "nope"},
        ],
        ids=["none", "action", "many", "large", "category"],
    )
    def test_what_it_does_not_do(self, as_editor, base, body):
        assert as_editor.post(f"{base}/terms/bulk", body).status_code == 400


class TestOccurrences:
    @pytest.fixture
    def placed(self, project) -> Term:
        one = make_document(project, "a.md", "# Ships\n\nThe quay is\nlong. A harbour\npilot.\n")
        two = make_document(project, "b.md", "No ships here.\n")
        take_extraction(
            project=project,
            found=[
                Found(
                    text="harbour pilot",
                    key=key_of("harbour pilot"),
                    reading="harbour pilot",
                    language="en",
                    frequency=2,
                    variants=("harbour pilot",),
                    occurrences=((two.pk, 1, 1), (one.pk, 4, 1), (one.pk, 99, 1), (10**6, 1, 1)),
                )
            ],
        )
        return Term.objects.get()

    def test_lines_as_they_are_now(self, as_viewer, base, placed, project):
        one = project.documents.get(path="a.md")
        response = as_viewer.get(f"{base}/terms/{placed.pk}/occurrences")
        assert response.status_code == 200
        rows = response.json()["results"]
        assert rows[0] == {
            "document": one.pk,
            "path": "a.md",
            "line": 4,
            "count": 1,
            # Broken over two lines, it begins on this one.
            "snippet": "long. A harbour",
            "url": f"/projects/{project.pk}/documents/{one.pk}/?lines=4#L4",
        }
        # A line that is gone, and one that no longer has it; a document that is gone has none.
        assert [(row["path"], row["line"], row["snippet"]) for row in rows[1:]] == [
            ("a.md", 99, None),
            ("b.md", 1, None),
        ]

    def test_page_by_page(self, as_viewer, base, placed):
        address = f"{base}/terms/{placed.pk}/occurrences?page_size=1"
        first = as_viewer.get(address).json()
        assert (first["count"], len(first["results"]), first["results"][0]["line"]) == (4, 1, 4)
        assert as_viewer.get(f"{address}&page=9").status_code == 404


class TestListsByWord:
    @pytest.mark.parametrize(
        ("name", "status"), [("excluded-terms", "excluded"), ("required-terms", "required")]
    )
    def test_known_and_unknown_words(self, as_editor, as_viewer, base, terms, name, status):
        new = as_editor.post(f"{base}/{name}", {"text": "new word"})
        assert (new.status_code, new.json()["status"]) == (201, status)
        known = as_editor.post(f"{base}/{name}", {"text": "Quays"})
        assert (known.status_code, known.json()["id"]) == (200, terms["quay"].pk)
        again = as_editor.post(f"{base}/{name}", {"text": "quay"})
        assert (again.status_code, again.json()["status"]) == (200, status)
        listed = texts(as_viewer.get(f"{base}/{name}"))
        assert set(listed) - {"thing"} == {"quay", "new word"}
        assert as_editor.delete(f"{base}/{name}/{terms['quay'].pk}").status_code == 204
        assert as_viewer.get(f"{base}/terms/{terms['quay'].pk}").json()["status"] == "candidate"
        assert as_editor.delete(f"{base}/{name}/{terms['quay'].pk}").status_code == 404

    def test_what_the_extraction_left_out_is_on_the_list_too(self, as_editor, base, terms):
        assert texts(as_editor.get(f"{base}/excluded-terms")) == ["thing"]
        pk = terms["thing"].pk
        assert as_editor.delete(f"{base}/excluded-terms/{pk}").status_code == 204
        row = Term.objects.get(pk=pk)
        assert (row.status, row.chosen) == ("candidate", ["status"])

    def test_there_is_nothing_to_read_at_one_of_them(self, as_editor, base, terms, project):
        pk = terms["quay"].pk
        set_status(project=project, ids=[pk], status="required", actor=OPERATOR)
        assert as_editor.get(f"{base}/required-terms/{pk}").status_code == 405


class TestGroups:
    def test_made_changed_and_dissolved(self, as_editor, as_viewer, base, terms):
        made = as_editor.post(
            f"{base}/synonym-groups", {"primary": "Quay", "members": ["wharf", "quay", "dock"]}
        )
        assert made.status_code == 201
        group = made.json()
        assert group["primary"] == {"id": terms["quay"].pk, "text": "quay"}
        assert [member["text"] for member in group["members"]] == ["dock", "quay", "wharf"]
        address = f"{base}/synonym-groups/{group['id']}"
        assert as_viewer.get(address).json() == group
        assert as_viewer.get(f"{base}/synonym-groups").json()["results"] == [group]
        row = as_viewer.get(f"{base}/terms?q=wharf").json()["results"][0]
        assert (row["group"], row["primary"]) == (group["id"], "quay")
        assert texts(as_viewer.get(f"{base}/terms?group={group['id']}&ordering=text")) == [
            "dock",
            "quay",
            "wharf",
        ]

        changed = as_editor.patch(address, {"primary": "WHARF"}).json()
        assert changed["primary"]["text"] == "wharf"
        assert as_editor.patch(address, {"primary": "thing"}).status_code == 404
        more = as_editor.post(f"{address}/members", {"text": "landing stage"}).json()
        assert len(more["members"]) == 4
        primary = changed["primary"]["id"]
        refused = as_editor.delete(f"{address}/members/{primary}")
        assert (refused.status_code, refused.json()["code"]) == (409, "term_is_primary")
        quay = terms["quay"].pk
        assert as_editor.delete(f"{address}/members/{quay}").status_code == 204
        assert as_editor.delete(f"{address}/members/{quay}").status_code == 404
        assert as_editor.delete(address).status_code == 204
        assert as_viewer.get(address).status_code == 404
        assert not Term.objects.exclude(group=None).exists()

    def test_a_group_that_is_refused_adds_no_terms(self, as_editor, base, terms):
        as_editor.post(f"{base}/synonym-groups", {"primary": "quay", "members": ["wharf"]})
        response = as_editor.post(
            f"{base}/synonym-groups", {"primary": "brand new", "members": ["wharf"]}
        )
        assert (response.status_code, response.json()["code"]) == (409, "term_in_group")
        assert not Term.objects.filter(text="brand new").exists()
        alone = as_editor.post(f"{base}/synonym-groups", {"primary": "a1", "members": ["A1"]})
        assert (alone.status_code, alone.json()["code"]) == (400, "group_too_small")
        assert not Term.objects.filter(text="a1").exists()


class TestCategories:
    def test_everybodys_and_ones_own(self, as_owner, as_viewer, base, project):
        listed = as_viewer.get(f"{base}/term-categories").json()["categories"]
        assert {row["key"] for row in listed} >= {"person_name", "common_noun"}
        made = as_owner.post(f"{base}/term-categories", {"name": "Law", "auto_exclude": True})
        assert (made.status_code, made.json()) == (
            201,
            {"key": "law", "name": "Law", "own": True, "auto_exclude": True},
        )
        taken = as_owner.post(f"{base}/term-categories", {"name": "LAW"})
        assert (taken.status_code, taken.json()["code"]) == (409, "category_exists")
        address = f"{base}/term-categories/law"
        assert as_owner.patch(address, {"auto_exclude": False}).json()["auto_exclude"] is False
        assert as_owner.patch(address, {"name": "Laws"}).json()["name"] == "Laws"
        assert as_owner.delete(address).status_code == 204
        assert as_owner.delete(address).status_code == 404
        assert not project.term_categories.exists()

    def test_everybodys_cannot_be_changed(self, as_owner, base):
        assert as_owner.delete(f"{base}/term-categories/common_noun").status_code == 404

    def test_a_key_is_fit_for_addresses(self, as_owner, base, project, owner):
        add_category(project=project, name="Law", actor=owner)
        body = {"name": "Other", "key": "not this"}
        assert as_owner.post(f"{base}/term-categories", body).status_code == 400
