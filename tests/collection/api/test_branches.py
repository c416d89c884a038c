"""Branches over REST: how far each is, and what goes when its commits are deleted."""

from datetime import timedelta

import pytest

from collection.models import Commit
from tests.collection.api.conftest import refused
from tests.collection.factories import (
    DAY_ONE,
    make_branch,
    make_collection,
    make_commit,
    make_commits,
    make_repository,
)
from tests.factories import make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def repository(project):
    return make_repository(project, branch_patterns=["main", "next"])


@pytest.fixture
def url(base, repository) -> str:
    return f"{base}/repositories/{repository.pk}/branches"


def test_each_says_how_far_it_is(as_viewer, url, repository):
    main = make_branch(repository, head="a" * 40, complete=True, collected_at=DAY_ONE)
    make_commits(main, 3)
    make_branch(repository, "next", state="gone")
    told = as_viewer.get(url).json()["results"]
    assert told == [
        {
            "id": main.pk,
            "name": "main",
            "state": "followed",
            "head": "a" * 40,
            "complete": True,
            "collected_at": "2026-01-05T12:00:00Z",
            "rewritten_at": None,
            "rewritten_from": "",
            "commits": 3,
            "last_commit": "2026-01-05T14:00:00Z",
        },
        {**told[1], "name": "next", "state": "gone", "commits": 0, "last_commit": None},
    ]
    assert [row["name"] for row in as_viewer.get(f"{url}?state=gone").json()["results"]] == ["next"]
    refused(as_viewer.get(f"{url}?state=lost"), 400, "invalid")


def test_however_many_it_takes_as_many_queries(
    as_viewer, url, repository, django_assert_num_queries
):
    make_commits(make_branch(repository), 2)
    as_viewer.get("/api/me")  # the first time, the use of the token is noted
    # The token with its person, the project, the role, the repository, the count, the rows.
    with django_assert_num_queries(6):
        as_viewer.get(url)
    for number in range(8):
        make_commits(make_branch(repository, f"release/{number}"), 2)
    with django_assert_num_queries(6):
        assert as_viewer.get(url).json()["count"] == 9


@pytest.fixture
def next_branch(repository):
    """Two commits, of which `main` has one as well."""
    main, branch = make_branch(repository), make_branch(repository, "next")
    shared = make_commit(main)
    make_commit(branch, sha=shared.sha, committed_date=DAY_ONE)
    make_commit(branch, additions=10, committed_date=DAY_ONE + timedelta(days=1))
    return branch


IMPACT = {
    "commits": 2,
    "only_here": 1,
    "also_on_other_branches": 1,
    "additions": 10,
    "deletions": 1,
    "authors": 1,
    "first": "2026-01-05T12:00:00Z",
    "last": "2026-01-06T12:00:00Z",
    "documents_affected": 0,
    "is_followed": True,
}


def test_what_would_go_is_said_and_then_goes(as_owner, url, next_branch):
    one = f"{url}/{next_branch.pk}"
    assert as_owner.get(f"{one}/impact").json() == IMPACT
    assert Commit.objects.count() == 3
    response = as_owner.delete(f"{one}/commits")
    assert (response.status_code, response.json()) == (200, IMPACT)
    assert Commit.objects.get().branch.name == "main"
    next_branch.refresh_from_db()
    assert (next_branch.state, next_branch.head) == ("followed", "")


def test_it_can_be_left_out_at_the_same_time(as_owner, url, next_branch, repository):
    response = as_owner.delete(f"{url}/{next_branch.pk}/commits?stop_following=true")
    assert response.status_code == 200, response.content
    next_branch.refresh_from_db()
    repository.refresh_from_db()
    assert (next_branch.state, repository.branch_patterns) == ("left_out", ["main"])


def test_not_where_it_would_be_followed_again(as_owner, url, next_branch, repository):
    repository.branch_patterns = ["*"]
    repository.save()
    address = f"{url}/{next_branch.pk}/commits?stop_following=true"
    refused(as_owner.delete(address), 409, "branch_wanted")
    assert Commit.objects.count() == 3


def test_not_while_it_is_collected(as_owner, url, next_branch, repository, project):
    run = make_collection(project, [(repository, "next")])
    told = refused(as_owner.delete(f"{url}/{next_branch.pk}/commits"), 409, "branch_in_hand")
    assert told["run_id"] == str(run.pk)
    assert Commit.objects.count() == 3


def test_a_doubtful_wish_deletes_nothing(as_owner, url, next_branch):
    address = f"{url}/{next_branch.pk}/commits?stop_following=perhaps"
    refused(as_owner.delete(address), 400, "invalid")
    assert Commit.objects.count() == 3


def test_editors_do_not(as_editor, url, next_branch):
    refused(as_editor.get(f"{url}/{next_branch.pk}/impact"), 403, "permission_denied")
    refused(as_editor.delete(f"{url}/{next_branch.pk}/commits"), 403, "permission_denied")
    assert Commit.objects.count() == 3


def test_branches_of_others_are_not_here(as_owner, url):
    theirs = make_branch(make_repository(make_project("Elsewhere")))
    refused(as_owner.delete(f"{url}/{theirs.pk}/commits"), 404, "not_found")
    refused(as_owner.get(f"{url}/{2**63}/impact"), 404, "not_found")
