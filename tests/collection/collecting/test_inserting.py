"""Rows of commits that go past the ORM are those that it would have written."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from collection.models import Commit
from collection.origins.data import CommitData
from collection.services.collecting.inserting import COLUMNS, insert_commits
from tests.collection.factories import a_sha, make_branch, make_commit, make_repository

pytestmark = pytest.mark.django_db

WHEN = datetime(2024, 2, 29, 23, 59, 59, tzinfo=UTC)


def commit(number: int, **fields) -> CommitData:
    values: dict[str, Any] = {
        "sha": a_sha(f"{number}"),
        "parents": (a_sha("a"), a_sha("b")),
        "author_name": "Åsa 100%s O'Neil",
        "author_email": "asa@example.com",
        "committed_date": WHEN + timedelta(minutes=number),
        "additions": 2**40,
        "deletions": number,
        "subject": "用語 50% \\ ?",
    }
    return CommitData(**values | fields)


@pytest.fixture
def branch(project):
    return make_branch(make_repository(project))


def insert(branch, commits) -> None:
    insert_commits(repository_id=branch.repository_id, branch_id=branch.pk, commits=commits)


def test_every_column_is_written():
    columns = {field.column for field in Commit._meta.concrete_fields}
    assert columns - {"id"} == set(COLUMNS)


def test_what_is_read_is_what_was_told(branch):
    told = [commit(number) for number in range(200)]
    insert(branch, told)
    rows = Commit.objects.filter(branch=branch).order_by("committed_date")
    assert [
        CommitData(
            sha=row.sha,
            parents=tuple(row.parents.split()),
            author_name=row.author_name,
            author_email=row.author_email,
            committed_date=row.committed_date,
            additions=row.additions,
            deletions=row.deletions,
            subject=row.subject,
        )
        for row in rows
    ] == told
    assert {row.repository_id for row in rows} == {branch.repository_id}
    assert not rows.filter(unreachable=True).exists()


def test_what_is_there_stays(branch):
    there = make_commit(branch, subject="As it was")
    insert(branch, [commit(1), commit(2, sha=there.sha)])
    assert Commit.objects.get(sha=there.sha).subject == "As it was"
    assert branch.commits.count() == 2


def test_nothing_is_nothing(branch):
    insert(branch, [])
    assert not branch.commits.exists()
