"""Statistics, authors and saved filters over REST."""

from datetime import timedelta

import pytest

from collection.models import AuthorAlias, SavedFilter
from tests.collection.api.conftest import refused
from tests.collection.factories import DAY_ONE, make_branch, make_commit, make_repository
from tests.factories import make_project

pytestmark = pytest.mark.django_db
ADA = {"name": "Ada Lovelace", "email": "ada@example.com"}
GRACE = {"name": "Grace Hopper", "email": "grace@example.org"}
HOPPER = {"name": "ghopper", "email": "grace@localhost"}


@pytest.fixture
def url(base) -> str:
    return f"{base}/statistics"


@pytest.fixture
def main(project):
    """Three commits in two weeks: one of Ada's, two of Grace's under two names."""
    branch = make_branch(make_repository(project, "harbour"))
    for number, who in enumerate((ADA, GRACE, HOPPER)):
        make_commit(
            branch,
            committed_date=DAY_ONE + timedelta(days=4 * number),
            author_name=who["name"],
            author_email=who["email"],
        )
    theirs = make_branch(make_repository(make_project("Elsewhere")))
    make_commit(theirs)
    return branch


class TestStatistics:
    def test_everything_by_week(self, as_viewer, url, main):
        told = as_viewer.get(url).json()
        assert told == {
            "filter": {
                "repositories": [],
                "branches": [],
                "authors": [],
                "since": None,
                "until": None,
                "per": "week",
                "by": "none",
                "include_unreachable": False,
            },
            "totals": {"commits": 3, "additions": 9, "deletions": 3},
            "groups": [
                {
                    "key": "",
                    "label": "",
                    "repository": None,
                    "commits": 3,
                    "additions": 9,
                    "deletions": 3,
                }
            ],
            "periods": ["2026-01-05", "2026-01-12"],
            "rows": [
                row("2026-01-05", commits=2, additions=6, deletions=2),
                row("2026-01-12", commits=1, additions=3, deletions=1),
            ],
        }

    def test_by_author_in_a_month(self, as_viewer, url, main):
        told = as_viewer.get(f"{url}?per=month&by=author&since=2026-01-05&until=2026-01-09").json()
        assert told["periods"] == ["2026-01-01"]
        assert [group["key"] for group in told["groups"]] == [
            "Ada Lovelace <ada@example.com>",
            "Grace Hopper <grace@example.org>",
        ]
        assert told["totals"]["commits"] == 2

    def test_by_branch_of_one_repository(self, as_viewer, url, main):
        told = as_viewer.get(f"{url}?by=branch&repository={main.repository_id}&branch=main").json()
        (group,) = told["groups"]
        assert (group["key"], group["repository"]) == ("main", main.repository_id)
        assert told["filter"]["branches"] == ["main"]

    @pytest.mark.parametrize("query", ["include_unreachable=true", "unreachable=1"])
    def test_what_was_left_behind_when_asked(self, as_viewer, url, main, query):
        make_commit(main, unreachable=True)
        assert as_viewer.get(url).json()["totals"]["commits"] == 3
        assert as_viewer.get(f"{url}?{query}").json()["totals"]["commits"] == 4

    def test_nothing_is_no_error(self, as_viewer, url):
        told = as_viewer.get(f"{url}?repository=7").json()
        assert told["totals"] == {"commits": 0, "additions": 0, "deletions": 0}
        assert told["rows"] == told["groups"] == told["periods"] == []

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ("repository=x", "repository"),
            (f"repository={'9' * 5000}", "repository"),
            ("branch=%00", "branch"),
            ("since=2026-13-01", "since"),
            ("since=yesterday", "since"),
            ("since=2026-02-01&until=2026-01-01", "until"),
            ("per=year", "per"),
            ("by=colour", "by"),
            ("unreachable=perhaps", "unreachable"),
            ("include_unreachable=perhaps", "include_unreachable"),
        ],
    )
    def test_what_cannot_be_understood(self, as_viewer, url, query, field):
        told = refused(as_viewer.get(f"{url}?{query}"), 400, "invalid")
        assert list(told["fields"]) == [field]

    @pytest.mark.parametrize(
        "query",
        [
            "since=0001-01-01",
            "until=0001-01-01",
            "since=9999-12-31",
            "until=9999-12-31",
            "since=9999-12-01&until=9999-12-31",
            "since=0001-01-01&until=9999-12-31",
        ],
    )
    def test_the_ends_of_the_calendar(self, as_viewer, url, main, settings, query):
        answers = set()
        for settings.TIME_ZONE in ("UTC", "Asia/Tokyo", "America/New_York"):
            for per in ("week", "month"):
                answers.add(as_viewer.get(f"{url}?{query}&per={per}").status_code)
        assert answers <= {200, 400}


def row(period, **figures) -> dict:
    return {"period_start": period, "key": "", "label": "", "repository": None, **figures}


class TestAuthors:
    @pytest.fixture
    def url(self, base) -> str:
        return f"{base}/authors"

    def test_the_busiest_first_with_their_names(self, as_viewer, as_editor, url, main):
        as_editor.post(f"{url}/merge", {"into": GRACE, "identities": [HOPPER]})
        told = as_viewer.get(url).json()
        assert told["count"] == 2
        grace = told["results"][0]
        assert (grace["name"], grace["email"]) == (GRACE["name"], GRACE["email"])
        assert (grace["commits"], grace["additions"], grace["deletions"]) == (2, 6, 2)
        assert [each["name"] for each in grace["identities"]] == ["Grace Hopper", "ghopper"]
        assert {each["commits"] for each in grace["identities"]} == {1}
        assert as_viewer.get(f"{url}?page_size=1&page=2").json()["results"] == told["results"][1:]
        assert as_viewer.get(f"{url}?until=2026-01-05").json()["count"] == 1

    def test_merged_undone_and_split(self, as_editor, url, main):
        merge = {"into": GRACE, "identities": [HOPPER]}
        response = as_editor.post(f"{url}/merge", merge)
        assert response.status_code == 200, response.content
        told = response.json()
        assert (told["name"], told["identities"]) == (GRACE["name"], [HOPPER])
        undo = f"{url}/merges/{told['merge_id']}/undo"
        assert as_editor.post(undo).json() == {"identities": 1}
        refused(as_editor.post(undo), 409, "nothing_to_undo")
        refused(as_editor.post(f"{url}/split", HOPPER), 404, "not_merged")
        as_editor.post(f"{url}/merge", merge)
        assert as_editor.post(f"{url}/split", HOPPER).json() == HOPPER
        assert not AuthorAlias.objects.filter(name=HOPPER["name"]).exists()

    @pytest.mark.parametrize(
        ("body", "status", "code"),
        [
            ({}, 400, "invalid"),
            ({"into": GRACE, "identities": HOPPER}, 400, "invalid"),
            ({"into": "Grace", "identities": [HOPPER]}, 400, "invalid"),
            ({"into": GRACE, "identities": []}, 400, "invalid"),
            ({"into": GRACE, "identities": [GRACE]}, 400, "nothing_to_merge"),
            (
                {"into": GRACE, "identities": [{"name": "Nobody", "email": ""}]},
                404,
                "unknown_author",
            ),
            ({"into": {"name": "a\0", "email": ""}, "identities": [GRACE]}, 400, "invalid"),
        ],
    )
    def test_what_is_wrong_is_said(self, as_editor, url, main, body, status, code):
        refused(as_editor.post(f"{url}/merge", body), status, code)
        assert not AuthorAlias.objects.exists()

    def test_viewers_only_look(self, as_viewer, url, main):
        body = {"into": GRACE, "identities": [HOPPER]}
        refused(as_viewer.post(f"{url}/merge", body), 403, "permission_denied")


class TestSavedFilters:
    @pytest.fixture
    def url(self, base) -> str:
        return f"{base}/statistics/filters"

    def test_kept_found_renamed_and_forgotten(self, as_editor, as_viewer, url, main):
        response = as_editor.post(
            url,
            {
                "name": "Ada, monthly",
                "filter": {
                    "authors": ["Ada Lovelace <ada@example.com>"],
                    "repositories": [main.repository_id],
                    "since": "2026-01-01",
                    "per": "month",
                },
            },
        )
        assert response.status_code == 201, response.content
        told = response.json()
        assert (told["name"], told["made_by"]) == ("Ada, monthly", "edda")
        assert told["filter"]["authors"] == ["Ada Lovelace <ada@example.com>"]
        assert (told["filter"]["since"], told["filter"]["until"]) == ("2026-01-01", None)
        assert as_viewer.get(url).json()["results"] == [told]
        one = f"{url}/{told['id']}"
        assert as_viewer.get(one).json() == told
        # It is what the statistics are asked with.
        statistics = url.removesuffix("/filters")
        counted = as_viewer.get(f"{statistics}?{told['query']}").json()
        assert counted["filter"] == told["filter"]
        assert counted["totals"]["commits"] == 1
        assert as_editor.patch(one, {"name": "Ada"}).json()["name"] == "Ada"
        assert as_editor.delete(one).status_code == 204
        refused(as_editor.delete(one), 404, "not_found")

    def test_a_name_is_taken_once(self, as_editor, url):
        first = as_editor.post(url, {"name": "Ada", "filter": {}}).json()
        told = refused(as_editor.post(url, {"name": "ADA", "filter": {}}), 409, "filter_name_taken")
        assert told["filter_id"] == first["id"]

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({"name": "x"}, "filter"),
            ({"filter": {}}, "name"),
            ({"name": "", "filter": {}}, "name"),
            ({"name": "x" * 101, "filter": {}}, "name"),
            ({"name": 7, "filter": {}}, "name"),
            ({"name": "x", "filter": []}, "filter"),
            ({"name": "x", "filter": "by=author"}, "filter"),
            ({"name": "x", "filter": {"branch": ["main"]}}, "filter"),
            ({"name": "x", "filter": {"branches": "main"}}, "filter"),
            ({"name": "x", "filter": {"branches": ["a\0b"]}}, "filter"),
            ({"name": "x", "filter": {"repositories": [True]}}, "filter"),
            ({"name": "x", "filter": {"repositories": [10**20]}}, "filter"),
            ({"name": "x", "filter": {"since": 7}}, "filter"),
            ({"name": "x", "filter": {"by": None}}, "filter"),
        ],
    )
    def test_what_is_wrong_is_said(self, as_editor, url, body, field):
        told = refused(as_editor.post(url, body), 400, "invalid")
        assert list(told["fields"]) == [field]
        assert not SavedFilter.objects.exists()

    def test_of_other_projects_none(self, as_editor, url):
        saved = make_project("Elsewhere").statistics_filters.create(name="Theirs")
        for method in ("get", "patch", "delete"):
            refused(getattr(as_editor, method)(f"{url}/{saved.pk}", {}), 404, "not_found")
