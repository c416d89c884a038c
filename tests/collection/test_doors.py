"""Every address of repositories and collections, tried with what belongs to others."""

import pytest
from django.urls import reverse
from django.urls.resolvers import URLPattern

from collection import urls as pages
from collection.api import urls as rest
from collection.choices import RunStatus
from collection.identities import Identity
from collection.models import (
    Author,
    AuthorAlias,
    Branch,
    BulkCollectionResult,
    Commit,
    Repository,
    SavedFilter,
)
from collection.services.authors import merge_authors
from projects.access import OPERATOR
from tests.collection.factories import make_branch, make_collection, make_commit, make_repository
from tests.factories import make_project, make_user

pytestmark = pytest.mark.django_db
METHODS = ("get", "post", "patch", "put", "delete")
SECRET_NAME = "mole-of-others"
# Parts of an address that name nothing of others, once the project is ours.
OURS = {"project_id", "format"}


def patterns():
    found = []
    for one in [*pages.urlpatterns, *rest.urlpatterns]:
        found += [one] if isinstance(one, URLPattern) else one.url_patterns
    return found


@pytest.fixture
def theirs():
    """All that there can be, in a project of others."""
    other = make_project("Elsewhere", owner=make_user("zoe"))
    repository = make_repository(other, SECRET_NAME)
    branch = make_branch(repository, f"{SECRET_NAME}-branch")
    commit = make_commit(branch, subject=SECRET_NAME)
    make_commit(branch, author_name="Zed", author_email="zed@example.com")
    merged = merge_authors(
        project=other,
        into=Identity(commit.author_name, commit.author_email),
        identities=[Identity("Zed", "zed@example.com")],
        actor=OPERATOR,
    )
    saved = SavedFilter.objects.create(project=other, name=SECRET_NAME)
    run = make_collection(other, [(repository, branch.name)], status=RunStatus.CANCELLED)
    return {
        "project_id": other.pk,
        "repository_id": repository.pk,
        "branch_id": branch.pk,
        "commit_id": commit.pk,
        "filter_id": saved.pk,
        "merge_id": merged.entry_id,
        "run_id": run.pk,
        "format": "csv",
    }


def of_others(project_id):
    """Whatever a wish could have changed."""
    mine = {"project": project_id}
    below = {"repository__project": project_id}
    tables = {Repository: mine, Author: mine, AuthorAlias: mine, SavedFilter: mine}
    tables |= {Branch: below, Commit: below, BulkCollectionResult: below}
    return [
        list(table.objects.filter(**of).order_by("pk").values()) for table, of in tables.items()
    ]


def body(theirs) -> dict[str, object]:
    """Something for everybody who reads a body."""
    return {
        "project": theirs["project_id"],
        "repositories": [theirs["repository_id"]],
        "repository": theirs["repository_id"],
        "address": "/nowhere",
        "name": "x",
        "undo": theirs["merge_id"],
        "into": {"name": "Zed", "email": "zed@example.com"},
        "identities": [{"name": "Ada Lovelace", "email": "ada@example.com"}],
        "email": "zed@example.com",
    }


@pytest.mark.parametrize("whose", ["theirs", "ours"])
def test_nothing_of_others_is_seen_or_done(whose, sign_in, owner, project, theirs):
    """By somebody who may do everything in a project, in that of others and through their own."""
    before = of_others(theirs["project_id"])
    client = sign_in(owner)
    tried = 0
    for pattern in patterns():
        given = {name: theirs[name] for name in pattern.pattern.converters}
        if whose == "ours" and "project_id" in given:
            given["project_id"] = project.pk
        # Lists of our own project, and of all that we see, are there.
        is_refused = bool(given) if whose == "theirs" else bool(given.keys() - OURS)
        for method in METHODS:
            sent = {"data": body(theirs)} if method != "get" else {}
            if sent and pattern.name.startswith("api-"):
                sent["content_type"] = "application/json"
            answer = getattr(client, method)(reverse(pattern.name, kwargs=given), **sent)
            seen = (pattern.name, method, answer.status_code)
            assert SECRET_NAME not in answer.content.decode(), seen
            if is_refused:
                assert answer.status_code in (403, 404, 405, 409), seen
                tried += answer.status_code != 405
    assert tried > 30
    assert of_others(theirs["project_id"]) == before
