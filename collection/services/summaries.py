"""How a collection stands: for pages, programs and terminals."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, Sum
from django.utils import timezone

from collection.choices import ResultStatus
from collection.models import BulkCollectionResult, BulkCollectionRun

# As many as a page shows; the table of results has pages.
MOST_SHOWN = 50


@dataclass(frozen=True)
class Summary:
    run_id: UUID
    started_at: datetime
    completed_at: datetime | None
    run_status: str
    total_targets: int
    success_count: int
    failed_count: int
    pending_count: int
    new_commits: int


def summary(run: BulkCollectionRun) -> Summary:
    """In one query, the pending ones counted from the rows."""
    row: Any = BulkCollectionRun.objects.summaries().get(pk=run.pk)
    return Summary(
        run_id=row.run_id,
        started_at=row.started_at,
        completed_at=row.completed_at,
        run_status=row.status,
        total_targets=row.total_targets,
        success_count=row.success_count,
        failed_count=row.failed_count,
        pending_count=row.pending,
        new_commits=row.new_commits,
    )


@dataclass(frozen=True)
class Standing:
    run: BulkCollectionRun
    # Stored so far, with those of targets that have not ended yet.
    commits_so_far: int
    in_hand: list[BulkCollectionResult] = field(default_factory=list)
    # Their trouble may pass; each says when it is tried again.
    waiting: list[BulkCollectionResult] = field(default_factory=list)
    failures: list[BulkCollectionResult] = field(default_factory=list)
    seconds_since_progress: float | None = None

    @property
    def done(self) -> int:
        return self.run.done_count

    @property
    def total(self) -> int:
        return self.run.total_targets


def standing(run: BulkCollectionRun, *, only: Q | None = None) -> Standing:
    """`only` leaves out what somebody may not see of it."""
    run = BulkCollectionRun.objects.select_related("project", "actor", "job").get(pk=run.pk)
    results = run.results.select_related("repository").filter(only or Q())
    pending = results.filter(status=ResultStatus.PENDING)
    in_hand = pending.filter(in_hand_since__isnull=False)
    waiting = pending.filter(in_hand_since__isnull=True, next_retry_at__isnull=False)
    failures = results.filter(status=ResultStatus.FAILED)
    since = run.progress_at or run.started_at
    return Standing(
        run=run,
        commits_so_far=results.aggregate(n=Sum("commits_so_far"))["n"] or 0,
        in_hand=list(in_hand.order_by("in_hand_since", "pk")[:MOST_SHOWN]),
        waiting=list(waiting.order_by("next_retry_at", "pk")[:MOST_SHOWN]),
        failures=list(failures.order_by("-processed_at", "-pk")[:MOST_SHOWN]),
        seconds_since_progress=(
            max(0.0, (timezone.now() - since).total_seconds()) if run.is_running else None
        ),
    )
