"""The counts of collections, as somebody sees them: of one over all projects, how much the others
have is not for everybody."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q, Sum

from collection.choices import ResultStatus
from collection.models import BulkCollectionResult, BulkCollectionRun


@dataclass(frozen=True)
class Tally:
    total: int
    succeeded: int
    failed: int
    new_commits: int

    @property
    def done(self) -> int:
        return self.succeeded + self.failed

    @property
    def pending(self) -> int:
        return self.total - self.done

    # Parts of the bar, in hundredths. A failure is never too small to be seen.
    @property
    def succeeded_share(self) -> float:
        return round(100 * self.succeeded / self.total, 2) if self.total else 0

    @property
    def failed_share(self) -> float:
        return round(100 * self.failed / self.total, 2) if self.total else 0


NOTHING = Tally(0, 0, 0, 0)


def tallies(runs: Sequence[BulkCollectionRun], *, only: Q | None) -> dict[UUID, Tally]:
    """Of each. Those of a project's own are in its row; of one over all projects, the targets that
    are seen (`only`; None: all) are counted, in one query for all."""
    partly = [run.pk for run in runs if run.project_id is None and only is not None]
    counted = _counted(only, partly) if only is not None and partly else {}
    seen = dict.fromkeys(partly, NOTHING) | counted
    return {run.pk: seen.get(run.pk) or _of_row(run) for run in runs}


def _of_row(run: BulkCollectionRun) -> Tally:
    return Tally(
        total=run.total_targets,
        succeeded=run.success_count,
        failed=run.failed_count,
        new_commits=run.new_commits,
    )


def _counted(only: Q, ids: Sequence[UUID]) -> dict[UUID, Tally]:
    results = BulkCollectionResult.objects.filter(only, run__in=ids)
    rows = (
        results.order_by()
        .values("run")
        .annotate(
            total=Count("pk"),
            good=Count("pk", filter=Q(status=ResultStatus.SUCCESS)),
            bad=Count("pk", filter=Q(status=ResultStatus.FAILED)),
            commits=Sum("commits_so_far"),
        )
    )
    return {
        row["run"]: Tally(row["total"], row["good"], row["bad"], row["commits"] or 0)
        for row in rows
    }
