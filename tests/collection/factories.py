"""Repositories and what was collected of them, made without any git: every function takes what
matters and invents the rest. `tests/factories.py` makes the projects."""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from collection.choices import Kind, ResultStatus, RunStatus, State
from collection.models import (
    Branch,
    BulkCollectionResult,
    BulkCollectionRun,
    Commit,
    CommitPath,
    Repository,
)
from projects.models import Project

_serial = count(1)
# A Monday.
DAY_ONE = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)


def a_sha(text: str = "") -> str:
    """What a commit is called: of a text always the same, without one always another."""
    return hashlib.sha1((text or f"commit {next(_serial)}").encode()).hexdigest()


def make_repository(project: Project | None, name: str = "", **fields: Any) -> Repository:
    name = name or f"repository-{next(_serial)}"
    values: dict[str, Any] = {
        "kind": Kind.GIT,
        "address": f"https://git.example.com/team/{name}-{next(_serial)}.git",
        "state": State.READY,
        "default_branch": "main",
    }
    return Repository.objects.create(project=project, name=name, **values | fields)


def make_branch(repository: Repository, name: str = "main", **fields: Any) -> Branch:
    return Branch.objects.create(repository=repository, name=name, **fields)


def commit_row(branch: Branch, **fields: Any) -> Commit:
    """Not stored yet."""
    number = next(_serial)
    values: dict[str, Any] = {
        "sha": a_sha(),
        "author_name": "Ada Lovelace",
        "author_email": "ada@example.com",
        "committed_date": DAY_ONE + timedelta(minutes=number),
        "additions": 3,
        "deletions": 1,
        "subject": f"Change number {number}",
    }
    return Commit(branch=branch, repository_id=branch.repository_id, **values | fields)


def make_commit(branch: Branch, **fields: Any) -> Commit:
    commit = commit_row(branch, **fields)
    commit.save(force_insert=True)
    return commit


def make_commits(branch: Branch, number: int, **fields: Any) -> list[Commit]:
    """Each an hour after the one before."""
    first = fields.pop("committed_date", DAY_ONE)
    rows = [
        commit_row(branch, committed_date=first + timedelta(hours=hours), **fields)
        for hours in range(number)
    ]
    return Commit.objects.bulk_create(rows, batch_size=1000)


def make_touches(commit: Commit, paths: Iterable[str]) -> list[CommitPath]:
    rows = [
        CommitPath(repository_id=commit.repository_id, sha=commit.sha, path=path) for path in paths
    ]
    return CommitPath.objects.bulk_create(rows)


def make_collection(
    project: Project | None,
    targets: Iterable[tuple[Repository, str]] = (),
    *,
    status: RunStatus = RunStatus.RUNNING,
    **fields: Any,
) -> BulkCollectionRun:
    """A collection whose targets all wait; one that has ended has succeeded with all of them."""
    targets = list(targets)
    ended = status != RunStatus.RUNNING
    done = len(targets) if status == RunStatus.COMPLETED else 0
    values: dict[str, Any] = {
        "started_at": DAY_ONE,
        "completed_at": DAY_ONE + timedelta(minutes=1) if ended else None,
        "total_targets": len(targets),
        "completed_count": done,
        "success_count": done,
    }
    run = BulkCollectionRun.objects.create(project=project, status=status, **values | fields)
    result: dict[str, Any] = {}
    if done:
        result = {
            "status": ResultStatus.SUCCESS,
            "new_commits_count": 0,
            "processed_at": DAY_ONE + timedelta(minutes=1),
        }
    BulkCollectionResult.objects.bulk_create(
        BulkCollectionResult(run=run, repository=repository, branch_name=name, **result)
        for repository, name in targets
    )
    return run
