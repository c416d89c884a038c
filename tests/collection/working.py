"""Doing in a test what a worker does for a collection."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

from collection.choices import Kind
from collection.models import BulkCollectionRun, Commit, Repository
from collection.origins import opening
from collection.origins.data import Origin
from collection.services.ending import jobs_of
from collection.services.starting import start
from glossary_site.jobs import pulse
from glossary_site.jobs.models import JobRun
from projects.access import OPERATOR
from projects.models import Project
from tests.jobs.running import perform

WORKER = "test:long:1"


@contextmanager
def answering(origins: Mapping[int, Origin]) -> Iterator[None]:
    """Repositories by their number, and who answers for each."""

    def opened(repository: Repository, *, stopped: Callable[[], bool]) -> Origin:
        return origins[repository.pk]

    before = dict(opening.ORIGINS)
    opening.ORIGINS.update(dict.fromkeys(Kind.values, opened))
    try:
        yield
    finally:
        opening.ORIGINS.update(before)


def work_on(run: BulkCollectionRun) -> BulkCollectionRun:
    """Do its waiting jobs, one after the other, until none is left."""
    while (job := jobs_of(run).active().order_by("pk").first()) is not None:
        perform_job(job)
    return BulkCollectionRun.objects.get(pk=run.pk)


def perform_job(job: JobRun) -> JobRun:
    """Without the pulse: from its own connection it would see nothing of a job that is in the
    transaction of a test, and take it for lost as soon as that lasts half a second."""
    with patch.object(pulse, "kept", lambda session: nullcontext()):
        return perform(job, worker=WORKER)


def collect(project: Project | None, **wish: Any) -> BulkCollectionRun:
    return work_on(start(actor=OPERATOR, project=project, **wish))


def shas(repository: Repository, branch: str = "main", **filters: Any) -> list[str]:
    rows = Commit.objects.filter(repository=repository, branch__name=branch, **filters)
    return list(rows.order_by("pk").values_list("sha", flat=True))
