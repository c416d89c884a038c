"""Is a collection what it says it is? Its rows are compared with each other and with git.

Everything is read from the database of the site; `tests/collection/test_chaos_judge.py` tampers
with one, and sees that each of these notices.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, Sum

from benchmarks.collection_chaos_repositories import Made
from collection.choices import ResultStatus, RunStatus
from collection.models import Branch, BulkCollectionResult, BulkCollectionRun, Commit
from collection.services.ending import jobs_of
from collection.services.summaries import summary


@dataclass
class Case:
    """A collection that has ended, and what it was to do."""

    run: BulkCollectionRun
    made: list[Made]
    # Whether what it was to collect was all new to it, or all known.
    new: bool

    def __post_init__(self) -> None:
        self.results: dict[str, list[BulkCollectionResult]] = defaultdict(list)
        for result in self.run.results.select_related("repository").order_by("pk"):
            self.results[result.repository.address].append(result)

    def all_results(self) -> Iterator[BulkCollectionResult]:
        for results in self.results.values():
            yield from results


def it_has_ended(case: Case) -> Iterator[str]:
    if case.run.status != RunStatus.COMPLETED or case.run.completed_at is None:
        yield f"the run is {case.run.status}"
    if active := jobs_of(case.run).active().count():
        yield f"{active} jobs still work on it"


def every_target_has_ended(case: Case) -> Iterator[str]:
    for result in case.all_results():
        if result.status == ResultStatus.PENDING or result.in_hand_since or result.next_retry_at:
            yield f"{result.repository.address} {result.branch_name} is {result.status}"


def counts_are_true(case: Case) -> Iterator[str]:
    run, rows = case.run, Counter(result.status for result in case.all_results())
    said = summary(run)
    found = sum(result.new_commits_count or 0 for result in case.all_results())
    for what, shown, counted in (
        ("targets", run.total_targets, rows.total()),
        ("completed", run.completed_count, rows[ResultStatus.SUCCESS]),
        ("succeeded", run.success_count, rows[ResultStatus.SUCCESS]),
        ("failed", run.failed_count, rows[ResultStatus.FAILED]),
        ("pending", said.pending_count, rows[ResultStatus.PENDING]),
        ("new commits", run.new_commits, found),
    ):
        if shown != counted:
            yield f"it says {shown} {what}, and the rows say {counted}"


def targets_are_those_there_are(case: Case) -> Iterator[str]:
    expected = {made.path: made for made in case.made}
    for address in case.results.keys() - expected.keys():
        yield f"{address} is no business of it"
    for address, made in expected.items():
        results = case.results.get(address, [])
        if made.fails:
            if [result.status for result in results] != [ResultStatus.FAILED]:
                yield f"{address} is {made.trouble}, and yet {[r.status for r in results]}"
            elif not results[0].error_message:
                yield f"{address} does not say why it failed"
            continue
        found = sorted((result.branch_name, result.status) for result in results)
        if found != sorted((name, ResultStatus.SUCCESS) for name in made.branches):
            yield f"{address} has {sorted(made.branches)}, and the results are {found}"


def each_tells_how_many_were_new(case: Case) -> Iterator[str]:
    branches = {made.path: made.branches for made in case.made}
    for result in case.all_results():
        commits = branches.get(result.repository.address, {}).get(result.branch_name, [])
        wanted = len(commits) if case.new else 0
        if result.status == ResultStatus.SUCCESS and result.new_commits_count != wanted:
            yield (
                f"{result.repository.address} {result.branch_name} says "
                f"{result.new_commits_count} new commits, and there were {wanted}"
            )


def commits_are_those_of_git(case: Case) -> Iterator[str]:
    """Nothing missed, nothing twice, nothing that is not there."""
    stored: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    rows = Commit.objects.filter(repository__results__run=case.run, unreachable=False).distinct()
    for address, branch, sha in rows.values_list("repository__address", "branch__name", "sha"):
        stored[address, branch][sha] += 1
    for made in case.made:
        for name, commits in made.branches.items():
            found = stored.pop((made.path, name), Counter())
            expected = Counter() if made.fails else Counter(commits)
            missed, extra = expected - found, found - expected
            if missed or extra:
                yield f"{made.path} {name}: {missed.total()} missed, {extra.total()} too many"
    for (address, name), found in stored.items():
        yield f"{address} {name}: {found.total()} commits of a branch that is not there"


def branches_are_where_git_is(case: Case) -> Iterator[str]:
    there = {(made.path, name): made for made in case.made for name in made.branches}
    left = {target for target, made in there.items() if not made.fails}
    rows = Branch.objects.filter(repository__results__run=case.run).distinct()
    for address, name, head, complete in rows.values_list(
        "repository__address", "name", "head", "complete"
    ):
        left.discard((address, name))
        made = there.get((address, name))
        if made is None:
            yield f"{address} has no branch {name}"
        elif (head, complete) != (("", False) if made.fails else (made.branches[name][0], True)):
            yield f"{address} {name} is at {head or 'nothing'}, complete: {complete}"
    for address, name in sorted(left):
        yield f"{address} {name} is not known"


CHECKS = (
    it_has_ended,
    every_target_has_ended,
    counts_are_true,
    targets_are_those_there_are,
    each_tells_how_many_were_new,
    commits_are_those_of_git,
    branches_are_where_git_is,
)


def breaches(case: Case) -> list[str]:
    return [f"{check.__name__}: {text}" for check in CHECKS for text in check(case)]


def totals(run: BulkCollectionRun) -> dict[str, int]:
    """What two collections of the same repositories must have in common."""
    lines = Commit.objects.filter(repository__results__run=run).distinct()
    sums = Commit.objects.filter(pk__in=lines.values("pk")).aggregate(
        commits=Count("pk"), additions=Sum("additions"), deletions=Sum("deletions")
    )
    return {
        "targets": run.total_targets,
        "succeeded": run.success_count,
        "failed": run.failed_count,
        "new commits": run.new_commits,
        **{name: value or 0 for name, value in sums.items()},
    }
