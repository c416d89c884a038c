"""What the live feed is told about collections. Nothing here is the truth: the rows are."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, Sum

from collection.choices import ResultStatus
from collection.models import BulkCollectionRun
from collection.querysets import CollectionResultQuerySet
from glossary_site.live.services import publish
from projects.models import Project

STARTED = "collection.started"
COMPLETED = "collection.completed"
CANCELLED = "collection.cancelled"
# No news for the activity: a hint to look at the collection again.
PROGRESS = "collection.progress"


def happened(run: BulkCollectionRun, type: str, **payload: Any) -> None:
    """For people, so it is in the transaction that makes it true. Call it last: the feed is locked
    by it. Of a collection of all projects, each is told of its own part."""
    for stream, part in _parts(run):
        publish(stream, type, {"run_id": str(run.pk)} | part | payload)


def _parts(run: BulkCollectionRun) -> Iterator[tuple[str, dict[str, int]]]:
    if run.project is not None:
        yield (
            run.project.stream,
            {
                "targets": run.total_targets,
                "succeeded": run.success_count,
                "failed": run.failed_count,
                "new_commits": run.new_commits,
            },
        )
        return
    of_each = (
        _of_projects(run)
        .values("repository__project")
        .annotate(
            targets=Count("pk"),
            succeeded=Count("pk", filter=Q(status=ResultStatus.SUCCESS)),
            failed=Count("pk", filter=Q(status=ResultStatus.FAILED)),
            new_commits=Sum("commits_so_far"),
        )
    )
    for part in of_each:
        yield _stream(part.pop("repository__project")), part


def progress(run: BulkCollectionRun, streams: Iterable[str]) -> None:
    """Told when it is committed: a hint that got lost in a crash costs nothing."""
    told = {"run_id": str(run.pk)}

    def tell() -> None:
        for stream in streams:
            publish(stream, PROGRESS, told)

    transaction.on_commit(tell, robust=True)


def streams_of(run: BulkCollectionRun) -> list[str]:
    """The projects that have a target in it."""
    if run.project_id is not None:
        return [_stream(run.project_id)]
    ids = _of_projects(run).values_list("repository__project", flat=True)
    return [_stream(pk) for pk in ids.distinct()]


def _of_projects(run: BulkCollectionRun) -> CollectionResultQuerySet:
    """In one order for all who lock their feeds."""
    results: CollectionResultQuerySet = run.results.exclude(repository__project=None)
    return results.order_by("repository__project")


def _stream(project_id: int) -> str:
    return f"{Project.STREAM_PREFIX}{project_id}"
