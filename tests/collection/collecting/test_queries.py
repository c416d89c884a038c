"""The query patterns that the data model promises, each in one query."""

from datetime import timedelta

import pytest

from collection.choices import RunStatus
from collection.models import BulkCollectionRun, Commit
from collection.services.ending import give_up, succeed
from tests.collection.factories import (
    DAY_ONE,
    make_branch,
    make_collection,
    make_commit,
    make_commits,
    make_repository,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def branches(project):
    first, second = make_repository(project, "first"), make_repository(project, "second")
    return [make_branch(first, "main"), make_branch(first, "old"), make_branch(second, "main")]


def test_targets_are_the_branches_with_a_history(branches, django_assert_num_queries):
    main, old, other = branches
    for branch in (other, main, main):
        make_commit(branch)
    with django_assert_num_queries(1):
        found = [(row["repository_id"], row["branch__name"]) for row in Commit.objects.targets()]
    assert found == [(main.repository_id, "main"), (other.repository_id, "main")]
    assert old.name not in dict(found).values()


def test_the_checkpoint_is_the_newest_date_of_a_branch(branches, django_assert_num_queries):
    main, old, _other = branches
    make_commits(main, 5)
    make_commit(old, committed_date=DAY_ONE + timedelta(days=30))
    with django_assert_num_queries(1):
        found = Commit.objects.checkpoint(repository_id=main.repository_id, branch_name="main")
    assert found == DAY_ONE + timedelta(hours=4)
    assert Commit.objects.checkpoint(repository_id=main.repository_id, branch_name="none") is None


def test_whether_one_is_running(branches, django_assert_num_queries):
    make_collection(None, status=RunStatus.COMPLETED)
    with django_assert_num_queries(1):
        assert not BulkCollectionRun.objects.running().exists()
    make_collection(None)
    assert BulkCollectionRun.objects.running().count() == 1


def test_what_failed_and_the_summary(branches, django_assert_num_queries):
    main, old, other = branches
    run = make_collection(None, [(each.repository, each.name) for each in (main, old, other)])
    first, second, _third = run.results.all()
    with django_assert_num_queries(2):
        assert succeed(first, new_commits=1)
    with django_assert_num_queries(2):
        assert give_up(second, "It is not there.")
    with django_assert_num_queries(1):
        failed = list(run.results.failed().values_list("repository_id", "branch_name"))
    assert failed == [(old.repository_id, "old")]
    with django_assert_num_queries(1):
        row = BulkCollectionRun.objects.summaries().get(pk=run.pk)
    counts = (row.total_targets, row.success_count, row.failed_count, row.pending)
    assert counts == (3, 1, 1, 1)


def test_a_number_of_a_collection_is_a_random_uuid(project):
    assert make_collection(project).run_id.version == 4
