"""Search and the index over REST."""

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from glossary_site.people.services import create_token
from indexing.choices import RequestStatus
from indexing.models import IndexRequest, Section
from indexing.services.requests import fail
from projects.choices import Role
from tests import factories
from tests.indexing.harbour import HARBOUR, make_harbour
from tests.indexing.working import index, make_indexed, take_one

pytestmark = pytest.mark.django_db

# As the search-docs that came before had them.
SEED_NAMES = {
    "documentPath",
    "heading",
    "score",
    "indexStatus",
    "isLatest",
    "hasPendingUpdate",
}
OTHER_NAMES = {
    "headingPath",
    "sectionNumber",
    "depth",
    "lineStart",
    "lineEnd",
    "snippet",
    "snippetHtml",
    "documentId",
    "documentTitle",
    "projectId",
    "projectName",
    "sectionId",
    "documentHash",
    "indexedAt",
    "terms",
}


def program(user) -> APIClient:
    client = APIClient()
    client.default_format = "json"
    _token, secret = create_token(user=user, name="tests")
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


@pytest.fixture
def client(owner) -> APIClient:
    return program(owner)


@pytest.fixture
def base(project) -> str:
    return f"/api/projects/{project.pk}"


def found(response) -> list[tuple[str, str]]:
    assert response.status_code == 200, response.json()
    return [(row["documentPath"], row["heading"]) for row in response.json()["results"]]


def failed_request(project, path="bad.md") -> IndexRequest:
    factories.make_document(project, path)
    assert fail(take_one(project), "ValueError: no luck")
    return IndexRequest.objects.get(document__path=path)


class TestSearch:
    def test_the_answer_has_the_names_of_the_seed(self, client, base, project):
        document = make_harbour(project, "harbour.md")
        body = client.get(f"{base}/search", {"q": "pilot", "mode": "lexical"}).json()
        assert set(body) == {"query", "total", "totalIsExact", "results", "notices", "entry"}
        assert (body["query"], body["total"], body["totalIsExact"]) == ("pilot", 1, True)
        assert body["notices"] == []
        (row,) = body["results"]
        assert set(row) == SEED_NAMES | OTHER_NAMES
        assert row["documentPath"] == "harbour.md"
        assert (row["heading"], row["headingPath"]) == ("Pilots", ["Harbour", "Pilots"])
        assert (row["indexStatus"], row["isLatest"], row["hasPendingUpdate"]) == (
            "latest",
            True,
            False,
        )
        assert 0 < row["score"] <= 1
        lines = HARBOUR.split("\n")[row["lineStart"] - 1 : row["lineEnd"]]
        assert any(line.startswith("A pilot guides ships") for line in lines)
        assert "pilot guides" in row["snippet"]
        assert "<mark>pilot</mark>" in row["snippetHtml"]
        assert (row["documentId"], row["projectId"]) == (document.pk, project.pk)
        assert row["documentHash"] == document.file_hash
        assert Section.objects.get(pk=row["sectionId"]).heading == "Pilots"

    def test_it_says_that_a_newer_text_is_coming(self, client, base, project):
        make_harbour(project, "harbour.md")
        make_indexed(project, "other.md", "# Other\n\nNo pilot here.\n")
        factories.make_document(project, "harbour.md", "# Quite another\n")
        answer = client.get(f"{base}/search", {"q": "pilot", "mode": "lexical"})
        states = {
            row["documentPath"]: (row["indexStatus"], row["isLatest"], row["hasPendingUpdate"])
            for row in answer.json()["results"]
        }
        assert states == {
            "harbour.md": ("updating", False, True),
            "other.md": ("latest", True, False),
        }
        for status in ("latest_only", "completed_only"):
            answer = client.get(f"{base}/search", {"q": "pilot", "index_status": status})
            assert {path for path, _heading in found(answer)} == {"other.md"}

    def test_all_my_projects_and_no_other(self, client, project, editor, outsider):
        make_harbour(project, "here.md")
        other = factories.make_project("Elsewhere")
        make_harbour(other, "there.md")
        wish = {"q": "pilot", "mode": "lexical"}
        assert found(client.get("/api/search", wish)) == [("here.md", "Pilots")]
        assert found(program(outsider).get("/api/search", wish)) == []
        factories.make_member(other, Role.VIEWER, editor)
        answer = program(editor).get("/api/search", wish)
        assert {row["projectName"] for row in answer.json()["results"]} == {"Harbour", "Elsewhere"}

    def test_pages_and_the_cap(self, client, base, project):
        for number in range(5):
            make_indexed(project, f"{number}.md", f"# Tide {number}\n\nThe tide.\n")
        wish = {"q": "tide", "mode": "lexical"}
        everything = found(client.get(f"{base}/search", {**wish, "limit": 10**30}))
        assert len(everything) == 5
        first = found(client.get(f"{base}/search", {**wish, "limit": 2}))
        second = found(client.get(f"{base}/search", {**wish, "limit": 2, "offset": 2}))
        assert first + second == everything[:4]

    @pytest.mark.parametrize("depth", ["depth=1&depth=2", "depth=1,2", "depth=1, 2&depth="])
    def test_depths_once_or_often(self, client, base, project, depth):
        make_indexed(project, "a.md", "# Top\n\n## Middle\n\n### Deep\n\nA lighthouse.\n")
        answer = client.get(f"{base}/search?q=lighthouse&mode=lexical&{depth}")
        assert found(answer) == [("a.md", "Middle")]

    def test_whole_documents(self, client, base, project):
        make_harbour(project, "harbour.md")
        answer = client.get(f"{base}/search?q=harbour&mode=lexical&depth=0")
        assert found(answer) == [("harbour.md", "")]

    def test_paths_in_and_out(self, client, base, project):
        for path in ("guide/a.md", "guide/old/b.md", "notes/c.md"):
            make_harbour(project, path)
        wish = {"q": "pilot", "mode": "lexical", "path": ["guide/", "notes/"]}
        wish["exclude_path"] = ["old/", "c.md"]
        assert found(client.get(f"{base}/search", wish)) == [("guide/a.md", "Pilots")]

    def test_a_word_that_goes_on(self, client, base, project):
        make_harbour(project, "harbour.md")
        wish = {"q": "pilo", "mode": "lexical"}
        assert found(client.get(f"{base}/search", wish)) == []
        answer = client.get(f"{base}/search", {**wish, "typing": "true"})
        assert found(answer) == [("harbour.md", "Pilots")]

    @pytest.mark.parametrize(
        "query", ["", "   ", '"', "-", "*", "(((", "🙂", "NEAR OR NOT", "x" * 9000]
    )
    def test_what_is_no_question_is_no_error(self, client, base, project, query):
        make_harbour(project, "harbour.md")
        answer = client.get(f"{base}/search", {"q": query, "mode": "lexical"})
        assert found(answer) == []
        assert found(client.get(f"{base}/search", {"q": query})) is not None
        if not query.strip():
            assert answer.json()["notices"]

    def test_without_a_query_there_is_a_hint(self, client, base):
        assert client.get(f"{base}/search").json()["notices"]

    @pytest.mark.parametrize(
        ("wrong", "field"),
        [
            ("mode=magic", "mode"),
            ("limit=0", "limit"),
            ("limit=many", "limit"),
            ("offset=-1", "offset"),
            ("offset=1001", "offset"),
            ("depth=7", "depth"),
            ("depth=1,deep", "depth"),
            ("index_status=fresh", "index_status"),
            ("typing=perhaps", "typing"),
            ("q=%00", "q"),
            ("&".join(f"path={n}" for n in range(51)), "path"),
        ],
    )
    def test_a_wrong_parameter_is_named(self, client, base, wrong, field):
        for path in (base, "/api"):
            response = client.get(f"{path}/search?{wrong}")
            assert (response.status_code, response.json()["code"]) == (400, "invalid")
            assert list(response.json()["fields"]) == [field]

    def test_a_pattern_that_is_none(self, client, base, project):
        make_harbour(project, "harbour.md")
        response = client.get(f"{base}/search", {"q": "pilot", "path": "!"})
        assert (response.status_code, response.json()["code"]) == (400, "bad_pattern")

    def test_the_number_of_queries_does_not_grow(
        self, client, base, project, django_assert_max_num_queries
    ):
        for number in range(12):
            make_indexed(project, f"{number}.md", f"# Tide {number}\n\nThe tide.\n")
        client.get(f"{base}/search", {"q": "tide"})
        with django_assert_max_num_queries(20):
            client.get(f"{base}/search", {"q": "tide", "limit": 12})


class TestIndex:
    def test_how_far_it_is(self, client, base, project):
        make_harbour(project, "a.md")
        factories.make_document(project, "b.md")
        body = client.get(f"{base}/index").json()
        assert (body["documents"], body["up_to_date"], body["sections"]) == (2, 1, 3)
        assert (body["pending"], body["processing"], body["failed"]) == (1, 0, 0)
        assert body["oldest_pending"]
        assert body["rate_per_minute"] > 0

    def test_requests_the_newest_first(self, client, base, project):
        make_harbour(project, "a.md")
        document = factories.make_document(project, "b.md")
        body = client.get(f"{base}/index/requests").json()
        assert body["count"] == 2
        newest = body["results"][0]
        assert (newest["document"], newest["path"]) == (document.pk, "b.md")
        assert (newest["version"], newest["file_hash"]) == (1, document.file_hash)
        assert (newest["status"], newest["attempts"], newest["completed"]) == ("pending", 0, None)
        assert [row["status"] for row in body["results"]] == ["pending", "completed"]

    def test_requests_narrowed(self, client, base, project):
        first = make_harbour(project, "a.md")
        failed_request(project)
        factories.make_document(project, "b.md")

        def paths(**wish):
            rows = client.get(f"{base}/index/requests", wish).json()["results"]
            return sorted(row["path"] for row in rows)

        assert paths(status=["pending", "failed"]) == ["b.md", "bad.md"]
        assert paths(document=first.pk) == ["a.md"]
        assert paths(document=10**12) == []
        response = client.get(f"{base}/index/requests", {"document": 10**30})
        assert list(response.json()["fields"]) == ["document"]
        response = client.get(f"{base}/index/requests", {"status": "lost"})
        assert response.json()["code"] == "invalid"

    def test_requests_of_others_stay_theirs(self, client, base):
        other = failed_request(factories.make_project("Elsewhere"))
        assert client.get(f"{base}/index/requests").json()["count"] == 0
        assert client.post(f"{base}/index/requests/{other.pk}/retry").status_code == 404
        other.refresh_from_db()
        assert other.status == RequestStatus.FAILED

    def test_one_is_tried_again(self, client, base, project):
        request = failed_request(project)
        body = client.post(f"{base}/index/requests/{request.pk}/retry").json()
        assert (body["id"], body["status"]) == (request.pk, "pending")
        assert index(project).completed == 1
        again = client.post(f"{base}/index/requests/{request.pk}/retry")
        assert (again.status_code, again.json()["code"]) == (409, "request_not_failed")
        assert again.json()["request_status"] == "completed"

    def test_all_that_failed_are_tried_again(self, client, base, project):
        failed_request(project, "a.md")
        failed_request(project, "b.md")
        response = client.post(f"{base}/index/retry")
        assert (response.status_code, response.json()) == (202, {"requests": 2})
        assert client.post(f"{base}/index/retry").json() == {"requests": 0}

    def test_rebuilding_some_or_all(self, client, base, project):
        for path in ("guide/a.md", "guide/b.md", "c.md"):
            make_harbour(project, path)
        first = set(Section.objects.values_list("pk", flat=True))
        response = client.post(f"{base}/index/rebuild", {"paths": ["guide/"], "force": True})
        assert (response.status_code, response.json()) == (202, {"requests": 2})
        index(project)
        kept = first & set(Section.objects.values_list("pk", flat=True))
        assert {Section.objects.get(pk=pk).document.path for pk in kept} == {"c.md"}
        assert client.post(f"{base}/index/rebuild").json() == {"requests": 3}
        nothing = client.post(f"{base}/index/rebuild", {"paths": ["nowhere/"]})
        assert (nothing.status_code, nothing.json()["code"]) == (404, "no_such_documents")

    @pytest.mark.parametrize("body", [{"paths": []}, {"paths": "a.md"}, {"force": "maybe"}])
    def test_a_wrong_wish_changes_nothing(self, client, base, project, body):
        make_harbour(project, "a.md")
        response = client.post(f"{base}/index/rebuild", body)
        assert (response.status_code, response.json()["code"]) == (400, "invalid")
        assert not IndexRequest.objects.open().exists()


class TestSections:
    def test_the_outline_and_the_texts(self, client, base, project):
        document = make_harbour(project, "harbour.md")
        address = f"{base}/documents/{document.pk}/sections"
        body = client.get(address).json()
        assert body["count"] == 3
        top, pilots, _tides = body["results"]
        assert [row["heading"] for row in body["results"]] == ["Harbour", "Pilots", "Tides"]
        assert (pilots["parent"], pilots["depth"]) == (top["id"], 2)
        assert pilots["heading_path"] == ["Harbour", "Pilots"]
        assert pilots["file_hash"] == document.file_hash
        assert all("content" not in row for row in body["results"])
        texts = client.get(address, {"content": "true"}).json()["results"]
        assert "A pilot guides ships" in texts[1]["content"]

    def test_before_the_first_time_there_are_none(self, client, base, project):
        document = factories.make_document(project)
        body = client.get(f"{base}/documents/{document.pk}/sections").json()
        assert body["results"] == []

    def test_a_document_of_another_project(self, client, base):
        other = make_harbour(factories.make_project("Elsewhere"))
        assert client.get(f"{base}/documents/{other.pk}/sections").status_code == 404


def test_times_are_the_servers(client, base, project):
    before = timezone.now()
    make_harbour(project, "harbour.md")
    answer = client.get(f"{base}/search", {"q": "pilot", "mode": "lexical"}).json()
    indexed_at = timezone.datetime.fromisoformat(answer["results"][0]["indexedAt"])
    assert before <= indexed_at <= timezone.now()
