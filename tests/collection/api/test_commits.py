"""Commits over REST: everything a program may ask for, in pages."""

from datetime import timedelta

import pytest

from collection.models import Author, AuthorAlias
from tests.collection.api.conftest import refused
from tests.collection.factories import (
    DAY_ONE,
    make_branch,
    make_commit,
    make_commits,
    make_repository,
    make_touches,
)
from tests.factories import make_document, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def url(base) -> str:
    return f"{base}/commits"


@pytest.fixture
def scene(project):
    """Two repositories of the project and one for all; and one that is none of ours."""
    harbour, quay = make_repository(project, "harbour"), make_repository(project, "quay")
    main = make_branch(harbour)
    first = make_commit(
        main, subject="Lay the keel", sha="ab" * 20, committed_date=DAY_ONE, parents="11 22"
    )
    make_commit(
        main,
        subject="Paint the hull",
        author_name="Grace Hopper",
        author_email="grace@example.org",
        committed_date=DAY_ONE + timedelta(days=1),
    )
    make_commit(
        make_branch(quay, "release/1"),
        subject="Mend the quay",
        committed_date=DAY_ONE + timedelta(days=2),
    )
    make_commit(
        make_branch(make_repository(None, "atlas")),
        subject="Draw a chart",
        committed_date=DAY_ONE + timedelta(days=3),
    )
    make_commit(
        main, subject="Left behind", unreachable=True, committed_date=DAY_ONE - timedelta(days=1)
    )
    make_commit(make_branch(make_repository(make_project("Elsewhere"))), subject="None of ours")
    make_touches(first, ["docs/keel.md", "docs/Hull.md"])
    return {"first": first, "harbour": harbour}


def subjects(response) -> list[str]:
    assert response.status_code == 200, response.content
    return [row["subject"] for row in response.json()["results"]]


ALL = ["Draw a chart", "Mend the quay", "Paint the hull", "Lay the keel"]


def test_a_commit_field_by_field(as_viewer, url, scene):
    row = as_viewer.get(f"{url}?q=keel").json()["results"][0]
    assert row == {
        "id": scene["first"].pk,
        "repository": scene["harbour"].pk,
        "repository_name": "harbour",
        "branch": "main",
        "sha": "ab" * 20,
        "parents": ["11", "22"],
        "author_name": "Ada Lovelace",
        "author_email": "ada@example.com",
        "committed_date": "2026-01-05T12:00:00Z",
        "additions": 3,
        "deletions": 1,
        "subject": "Lay the keel",
        "unreachable": False,
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ALL),
        ("ordering=committed_date", ALL[::-1]),
        ("include_unreachable=true", [*ALL, "Left behind"]),
        ("include_unreachable=false", ALL),
        ("branch=release/1", ["Mend the quay"]),
        ("branch=release", []),
        ("author=GRACE", ["Paint the hull"]),
        ("author=example.org", ["Paint the hull"]),
        ("q=the%20quay", ["Mend the quay"]),
        ("q=%25", []),
        ("path=docs/keel.md", ["Lay the keel"]),
        ("path=docs/chart.md", []),
        ("path=docs", ["Lay the keel"]),
        ("path=docs/", ["Lay the keel"]),
        ("path=doc", []),
        ("sha=abab", ["Lay the keel"]),
        ("sha=ABAB", ["Lay the keel"]),
        ("sha=ba", []),
        ("sha=_b", []),
        ("since=2026-01-06T12:00:00Z", ALL[:3]),
        ("until=2026-01-06T12:00:00Z", ["Lay the keel"]),
        ("since=2026-01-06&until=2026-01-06", ["Paint the hull"]),
        ("until=2026-01-05", ["Lay the keel"]),
        ("repository=0", []),
    ],
)
def test_what_may_be_asked_for(as_viewer, url, scene, query, expected):
    if query == "sha=ba":
        # The others have shas that are made up.
        assert "Lay the keel" not in subjects(as_viewer.get(f"{url}?{query}"))
    else:
        assert subjects(as_viewer.get(f"{url}?{query}")) == expected


def test_of_one_repository(as_viewer, url, scene):
    found = subjects(as_viewer.get(f"{url}?repository={scene['harbour'].pk}"))
    assert found == ["Paint the hull", "Lay the keel"]


def test_a_person_is_found_by_the_name_that_the_project_has(as_viewer, url, project, scene):
    grace = Author.objects.create(project=project, name="Rear Admiral", email="")
    AuthorAlias.objects.create(
        project=project, author=grace, name="Grace Hopper", email="grace@example.org"
    )
    elsewhere = make_project("Other people")
    ada = Author.objects.create(project=elsewhere, name="Admiral Ada", email="")
    AuthorAlias.objects.create(
        project=elsewhere, author=ada, name="Ada Lovelace", email="ada@example.com"
    )
    assert subjects(as_viewer.get(f"{url}?author=admiral")) == ["Paint the hull"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("repository=x", "repository"),
        (f"repository={2**63}", "repository"),
        (f"repository={'9' * 5000}", "repository"),
        ("since=soon", "since"),
        ("since=0001-01-01T00:00:00%2B14:00", "since"),
        ("until=9999-12-31T23:59:59-14:00", "until"),
        ("until=9999-12-31", "until"),
        ("q=a%00b", "q"),
        ("path=%00", "path"),
        (f"sha={'a' * 65}", "sha"),
        (f"author={'x' * 60000}", "author"),
        ("ordering=subject", "ordering"),
    ],
)
def test_what_may_not(as_viewer, url, query, field):
    body = refused(as_viewer.get(f"{url}?{query}"), 400, "invalid")
    assert list(body["fields"]) == [field]


def test_pages_have_an_end_and_repeat_nothing(as_viewer, url, project):
    branch = make_branch(make_repository(project))
    for _number in range(3):
        make_commits(branch, 4, committed_date=DAY_ONE)
    seen: list[int] = []
    page = f"{url}?page_size=5"
    while page:
        answer = as_viewer.get(page).json()
        assert answer["count"] == 12
        seen += [row["id"] for row in answer["results"]]
        page = answer["next"]
    assert len(seen) == len(set(seen)) == 12
    assert as_viewer.get(f"{url}?page_size=1000").json()["next"] is None


def test_however_many_it_takes_as_many_queries(as_viewer, url, project, django_assert_num_queries):
    branch = make_branch(make_repository(project))
    make_touches(make_commits(branch, 1)[0], ["a.md"])
    as_viewer.get("/api/me")  # the first time, the use of the token is noted
    # The token with its person, the project, the role, the count, the rows.
    with django_assert_num_queries(5):
        assert as_viewer.get(f"{url}?path=a.md&author=ada&q=change").json()["count"] == 1
    make_commits(branch, 40)
    with django_assert_num_queries(5):
        assert as_viewer.get(url).json()["count"] == 41


class TestOne:
    def test_with_the_documents_it_touched(self, as_viewer, url, project, scene):
        document = make_document(project, "keel.md")
        scene["harbour"].files.create(path="docs/keel.md", blob="0" * 40, document=document)
        told = as_viewer.get(f"{url}/{scene['first'].pk}").json()
        assert told["subject"] == "Lay the keel"
        assert told["paths"] == [
            {"path": "docs/Hull.md", "document": None},
            {"path": "docs/keel.md", "document": document.pk},
        ]

    def test_not_those_of_others(self, as_viewer, url):
        there = make_commit(make_branch(make_repository(make_project("Elsewhere"))))
        refused(as_viewer.get(f"{url}/{there.pk}"), 404, "not_found")
        refused(as_viewer.get(f"{url}/0"), 404, "not_found")
