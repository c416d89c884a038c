"""The vocabulary for reading: what collections ask the database for, by name."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from django.db.models import Count, Max, Q, QuerySet

from collection.choices import ResultStatus, RunStatus

if TYPE_CHECKING:
    from projects.models import Project


class RepositoryQuerySet(QuerySet[Any]):
    def seen_by(self, project: "Project") -> Self:
        """Its own, and those that an operator added for all."""
        return self.filter(Q(project=project) | Q(project__isnull=True))


class CommitQuerySet(QuerySet[Any]):
    def targets(self) -> QuerySet[Any, dict[str, Any]]:
        """The repositories and branches that have been collected before."""
        pairs = self.order_by("repository_id", "branch__name")
        return pairs.values("repository_id", "branch__name").distinct()

    def checkpoint(self, *, repository_id: int, branch_name: str) -> datetime | None:
        """The newest date of a branch: what people are told, and where an API is asked from; what
        is really new is found by the branch's head."""
        of_branch = self.filter(repository_id=repository_id, branch__name=branch_name)
        found: datetime | None = of_branch.aggregate(last=Max("committed_date"))["last"]
        return found

    def seen_by(self, project: "Project") -> Self:
        return self.filter(Q(repository__project=project) | Q(repository__project__isnull=True))


class CollectionQuerySet(QuerySet[Any]):
    def running(self) -> Self:
        return self.filter(status=RunStatus.RUNNING)

    def newest_first(self) -> Self:
        return self.order_by("-started_at", "run_id")

    def summaries(self) -> Self:
        """Each with `pending`, counted from its results."""
        pending = Count("results", filter=Q(results__status=ResultStatus.PENDING))
        return self.annotate(pending=pending)


class CollectionResultQuerySet(QuerySet[Any]):
    def pending(self) -> Self:
        return self.filter(status=ResultStatus.PENDING)

    def failed(self) -> Self:
        return self.filter(status=ResultStatus.FAILED)
