"""Working on a run in the process of a command, as a worker would."""

from collections.abc import Iterable

from django.db.models import Q

from glossary_site.jobs import clock, performing
from glossary_site.jobs.models import JobRun
from glossary_site.llm.services import processes
from runs.models import Run, RunStep
from runs.services.ending import jobs_of
from runs.services.settling import settle_run

LOOK_SECONDS = performing.LOOK_SECONDS


class Performer(performing.Performer[Run]):
    def first_job(self, row: Run) -> int:
        assert row.job_id is not None
        return row.job_id

    def is_active(self, row: Run) -> bool:
        return Run.objects.filter(pk=row.pk).active().exists()

    def due_jobs(self, row: Run) -> Iterable[JobRun]:
        """Its own work, and that of the questions it waits for."""
        asked = RunStep.objects.filter(run=row, finished_at__isnull=True, process_id__isnull=False)
        questions = Q()
        for number in asked.values_list("process_id", flat=True):
            questions |= Q(kind=processes.KIND, payload__process_id=str(number))
        jobs = jobs_of(row)
        if questions:
            jobs |= JobRun.objects.for_scope(row.project.stream).filter(questions)
        return jobs.due(clock.read()).order_by("pk")

    def look_after(self, row: Run) -> None:
        if not jobs_of(row).active().exists():
            settle_run(row)
