"""Rows of commits, written past the ORM.

A first collection writes as fast as git compares, with both on the same cores: there, `bulk_create`
took more time than the database and all of our other work together.
"""

from collections.abc import Iterable
from itertools import chain, islice
from typing import Any

from django.db import connection

from collection.models import Commit
from collection.origins.data import CommitData

COLUMNS = (
    *("repository_id", "branch_id", "sha", "author_name", "author_email", "committed_date"),
    *("additions", "deletions", "subject", "parents", "unreachable"),
)
# Of one statement: some builds of SQLite take no more than 999 values.
ROWS = 90
INSERT = f"INSERT INTO {Commit._meta.db_table} ({', '.join(COLUMNS)}) VALUES "  # noqa: S608
ROW = f"({', '.join(['%s'] * len(COLUMNS))})"


def insert_commits(*, repository_id: int, branch_id: int, commits: Iterable[CommitData]) -> None:
    """What is there already stays as it is: the constraint decides."""
    moment = connection.ops.adapt_datetimefield_value

    def values(commit: CommitData) -> tuple[Any, ...]:
        return (
            repository_id,
            branch_id,
            commit.sha,
            commit.author_name,
            commit.author_email,
            moment(commit.committed_date),
            commit.additions,
            commit.deletions,
            commit.subject,
            " ".join(commit.parents),
            False,
        )

    rows = map(values, commits)
    with connection.cursor() as cursor:
        while some := list(islice(rows, ROWS)):
            statement = f"{INSERT}{', '.join([ROW] * len(some))} ON CONFLICT DO NOTHING"
            cursor.execute(statement, list(chain.from_iterable(some)))
