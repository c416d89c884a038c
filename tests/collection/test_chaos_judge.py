"""The judge of `make collection-chaos` can be trusted: it is content with a true collection of real
repositories, and notices each way in which one can be untrue."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from django.db.models import F
from django.utils import timezone

from benchmarks.collection_chaos_judge import CHECKS, Case, breaches, totals
from benchmarks.collection_chaos_judged import differences, walks
from benchmarks.collection_chaos_repositories import (
    GONE,
    NO_REPOSITORY,
    Made,
    damage,
    make_repositories,
    mend,
)
from collection.choices import ResultStatus, RunStatus
from collection.models import Branch, BulkCollectionResult, BulkCollectionRun, Commit
from collection.services.ending import COLLECT, scope_of
from collection.services.repositories import add_repository
from collection.services.starting import retry_failed
from glossary_site.jobs.services.enqueue import enqueue
from projects.access import OPERATOR
from tests.collection.working import collect, work_on
from tests.undoing import undone


@pytest.fixture
def made(tmp_path, settings) -> list[Made]:
    """Ten targets in eight repositories, of which two are broken."""
    settings.GIT_ROOTS = [tmp_path / "roots"]
    settings.DATA_DIR = tmp_path / "data"
    (tmp_path / "roots").mkdir()
    made = make_repositories(tmp_path / "roots", targets=10, failing=0, passing=0, seed=1)
    made[1].trouble, made[4].trouble = GONE, NO_REPOSITORY
    return made


@pytest.fixture
def run(made, project) -> BulkCollectionRun:
    for each in made:
        patterns = ["*"] if len(each.branches) > 1 else []
        add_repository(project=project, address=each.path, actor=OPERATOR, branch_patterns=patterns)
        damage(each)
    return collect(project)


def one(status: ResultStatus) -> BulkCollectionResult:
    return BulkCollectionResult.objects.filter(status=status).order_by("pk")[0]


def change(result: BulkCollectionResult, **fields: object) -> None:
    BulkCollectionResult.objects.filter(pk=result.pk).update(**fields)


def another_commit() -> None:
    commit = Commit.objects.order_by("pk")[0]
    commit.pk, commit.sha = None, "f" * 40
    commit.save()


def twice_in_another_branch() -> None:
    commit = Commit.objects.filter(branch__name="main", repository__branches__name="topic")[0]
    known = Commit.objects.filter(branch__name="topic").values("sha")
    commit = Commit.objects.filter(repository=commit.repository).exclude(sha__in=known)[0]
    commit.pk, commit.branch = None, Branch.objects.get(name="topic")
    commit.save()


def another_target() -> None:
    result = one(ResultStatus.SUCCESS)
    result.pk, result.branch_name = None, "nowhere"
    result.save()


RUNS = BulkCollectionRun.objects
# What is done to the rows, and the check that must notice it.
TAMPERINGS: dict[str, tuple[Callable[[BulkCollectionRun], object], str]] = {
    "it runs still": (
        lambda run: RUNS.update(status=RunStatus.RUNNING, completed_at=None),
        "it_has_ended",
    ),
    "it was cancelled": (lambda run: RUNS.update(status=RunStatus.CANCELLED), "it_has_ended"),
    "a job works on": (
        lambda run: enqueue(COLLECT, {"run_id": str(run.pk)}, scope=scope_of(run)),
        "it_has_ended",
    ),
    "a target is pending": (
        lambda run: change(
            one(ResultStatus.SUCCESS), status=ResultStatus.PENDING, processed_at=None
        ),
        "every_target_has_ended",
    ),
    "a target waits for another try": (
        lambda run: change(one(ResultStatus.FAILED), next_retry_at=timezone.now()),
        "every_target_has_ended",
    ),
    "too few succeeded": (
        lambda run: RUNS.update(
            success_count=F("success_count") - 1, completed_count=F("completed_count") - 1
        ),
        "counts_are_true",
    ),
    "too few failed": (
        lambda run: RUNS.update(failed_count=F("failed_count") - 1),
        "counts_are_true",
    ),
    "more targets than rows": (
        lambda run: RUNS.update(total_targets=F("total_targets") + 1),
        "counts_are_true",
    ),
    "more new commits than the targets have": (
        lambda run: RUNS.update(new_commits=F("new_commits") + 1),
        "counts_are_true",
    ),
    "a target is missing": (
        lambda run: one(ResultStatus.SUCCESS).delete(),
        "targets_are_those_there_are",
    ),
    "a target that is none": (lambda run: another_target(), "targets_are_those_there_are"),
    "a broken one succeeded": (
        lambda run: change(
            one(ResultStatus.FAILED), status=ResultStatus.SUCCESS, new_commits_count=0
        ),
        "targets_are_those_there_are",
    ),
    "a good one failed": (
        lambda run: change(
            one(ResultStatus.SUCCESS), status=ResultStatus.FAILED, error_message="No."
        ),
        "targets_are_those_there_are",
    ),
    "a target boasts": (
        lambda run: change(one(ResultStatus.SUCCESS), new_commits_count=F("new_commits_count") + 1),
        "each_tells_how_many_were_new",
    ),
    "a commit is missing": (
        lambda run: Commit.objects.order_by("pk")[0].delete(),
        "commits_are_those_of_git",
    ),
    "a commit is taken for lost": (
        lambda run: Commit.objects.filter(pk=Commit.objects.order_by("pk")[0].pk).update(
            unreachable=True
        ),
        "commits_are_those_of_git",
    ),
    "a commit that git does not have": (
        lambda run: another_commit(),
        "commits_are_those_of_git",
    ),
    "a commit in a branch that does not have it": (
        lambda run: twice_in_another_branch(),
        "commits_are_those_of_git",
    ),
    "a branch that is not at its end": (
        lambda run: Branch.objects.filter(name="topic").update(complete=False),
        "branches_are_where_git_is",
    ),
    "a branch at another commit": (
        lambda run: Branch.objects.filter(name="topic").update(head="f" * 40),
        "branches_are_where_git_is",
    ),
    "a branch that nobody has": (
        lambda run: Branch.objects.create(
            repository=Branch.objects.get(name="topic").repository, name="nowhere"
        ),
        "branches_are_where_git_is",
    ),
}


def judge(run: BulkCollectionRun, made: list[Made], *, new: bool = True) -> list[str]:
    return breaches(Case(RUNS.get(pk=run.pk), made, new))


def test_a_true_collection_has_no_breach(made, run, project):
    assert judge(run, made) == []
    assert (run.total_targets, run.success_count, run.failed_count) == (10, 8, 2)

    # What was broken is mended: only that is collected, and then there is nothing new.
    for each in made:
        mend(each)
    whole = [replace(each, trouble="") for each in made]
    retried = work_on(retry_failed(run, actor=OPERATOR))
    assert (
        judge(retried, [now for now, before in zip(whole, made, strict=True) if before.fails]) == []
    )
    again = collect(project)
    assert judge(again, whole, new=False) == []
    assert totals(again)["commits"] == sum(
        len(commits) for each in made for commits in each.branches.values()
    )

    # Of other wishes, each of these collections would be untrue.
    assert judge(again, whole) != []
    assert judge(again, made, new=False) != []
    assert judge(retried, whole) != []


def test_each_tampering_is_noticed_by_the_check_that_is_for_it(made, run):
    missed = {}
    for what, (tamper, check) in TAMPERINGS.items():
        with undone():
            tamper(run)
            found = judge(run, made)
        if not any(breach.startswith(f"{check}: ") for breach in found):
            missed[what] = found
    assert missed == {}
    assert {check for _, check in TAMPERINGS.values()} == {check.__name__ for check in CHECKS}
    assert judge(run, made) == []


def test_a_look_at_histories_is_noticed_when_nothing_is_new():
    assert walks(Counter({"ls-remote": 5, "version": 1})) == []
    assert walks(Counter({"ls-remote": 5, "log": 1})) != []
    assert walks(Counter({"ls-remote": 5, "fetch": 2})) != []
    assert walks(Counter()) != []


def test_totals_that_differ_are_named():
    assert differences({"commits": 3, "additions": 7}, {"commits": 3, "additions": 7}) == []
    (difference,) = differences({"commits": 3, "additions": 7}, {"commits": 3, "additions": 8})
    assert difference.startswith("additions: 7")
    assert differences({"commits": 3}, {"commits": 3, "additions": 8}) != []
