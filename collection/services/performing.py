"""Working on a collection in the process of a command, as a worker would."""

from collections.abc import Iterable

from collection.models import BulkCollectionRun
from collection.services.ending import jobs_of
from collection.services.settling import settle_run
from glossary_site.jobs import clock, performing
from glossary_site.jobs.models import JobRun


class Performer(performing.Performer[BulkCollectionRun]):
    def first_job(self, row: BulkCollectionRun) -> int:
        assert row.job_id is not None
        return row.job_id

    def is_active(self, row: BulkCollectionRun) -> bool:
        return BulkCollectionRun.objects.running().filter(pk=row.pk).exists()

    def due_jobs(self, row: BulkCollectionRun) -> Iterable[JobRun]:
        return jobs_of(row).due(clock.read()).order_by("pk")

    def look_after(self, row: BulkCollectionRun) -> None:
        if not jobs_of(row).active().exists():
            settle_run(row)
