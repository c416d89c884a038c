"""What the live feed is told about collections. Nothing here is the truth: the rows are."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction

from collection.models import BulkCollectionRun
from glossary_site.live.services import publish
from projects.models import Project

STARTED = "collection.started"
COMPLETED = "collection.completed"
CANCELLED = "collection.cancelled"
# No news for the activity: a hint to look at the collection again.
PROGRESS = "collection.progress"


def happened(run: BulkCollectionRun, type: str, **payload: Any) -> None:
    """For people, so it is in the transaction that makes it true. Call it last: the feed is locked
    by it."""
    for stream in streams_of(run):
        publish(stream, type, {"run_id": str(run.pk), "targets": run.total_targets} | payload)


def progress(run: BulkCollectionRun, streams: Iterable[str]) -> None:
    """Told when it is committed: a hint that got lost in a crash costs nothing."""
    told = {"run_id": str(run.pk)}

    def tell() -> None:
        for stream in streams:
            publish(stream, PROGRESS, told)

    transaction.on_commit(tell, robust=True)


def streams_of(run: BulkCollectionRun) -> list[str]:
    """The projects that have a target in it, in one order for all who lock their feeds."""
    if run.project_id is not None:
        return [f"{Project.STREAM_PREFIX}{run.project_id}"]
    projects = run.results.exclude(repository__project=None)
    ids = projects.order_by("repository__project").values_list("repository__project", flat=True)
    return [f"{Project.STREAM_PREFIX}{pk}" for pk in ids.distinct()]
