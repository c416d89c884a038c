"""Working on a run in the process of a command, as a worker would.

The run's job is claimed in the transaction that makes it, so that no worker gets to see it before;
what follows it (another attempt, the rest after a pause, a batch that is asked for) goes to whoever
claims it first, here or there.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from django.db import connections, transaction
from django.db.models import Q

from glossary_site.jobs import clock, pulse
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.services import transitions
from glossary_site.jobs.session import job_session
from glossary_site.llm.services import processes
from runs.models import Run, RunStep
from runs.services.ending import jobs_of
from runs.services.settling import settle_run

LOOK_SECONDS = 0.2


class Performer(threading.Thread):
    """A thread, so that the command's own is free to show how far it is, and to be interrupted."""

    def __init__(self, begin: Callable[[], Run]) -> None:
        super().__init__(name="pipeline", daemon=True)
        self._begin = begin
        self._begun = threading.Event()
        self._halt = threading.Event()
        self._made: Run | None = None
        self._error: BaseException | None = None

    def begun(self) -> Run:
        """Start; the run, or why there is none."""
        self.start()
        self._begun.wait()
        if self._made is None:
            assert self._error is not None
            raise self._error
        return self._made

    def finish(self) -> None:
        """Begin nothing more, and say what went wrong, if anything did."""
        self._halt.set()
        self.join()
        if self._error is not None:
            raise self._error

    def run(self) -> None:
        try:
            self._perform()
        except Exception as error:
            self._error = error
        finally:
            self._begun.set()
            connections.close_all()

    def _perform(self) -> None:
        with ExitStack() as stack:
            with transaction.atomic():
                run = self._begin()
                assert run.job_id is not None
                session = stack.enter_context(job_session(run.job_id, worker=pulse.worker_name()))
            self._made = run
            self._begun.set()
            if session is not None:
                session.perform()
        while not self._halt.is_set() and Run.objects.filter(pk=run.pk).active().exists():
            if not any(map(self._take, due_jobs(run))):
                if not jobs_of(run).active().exists():
                    # Nor may the one who looks after runs that nobody works on.
                    settle_run(run)
                self._halt.wait(LOOK_SECONDS)

    def _take(self, job: JobRun) -> bool:
        if job.rung_at is None:
            # The sweep, which would do so, may not be there.
            transitions.hurry(job)
        with job_session(job.pk, worker=pulse.worker_name()) as session:
            if session is not None:
                session.perform()
        return session is not None


def due_jobs(run: Run) -> Iterator[JobRun]:
    """What is to be done for it now: its own work, and that of the questions it waits for."""
    asked = RunStep.objects.filter(run=run, finished_at__isnull=True, process_id__isnull=False)
    questions = Q()
    for number in asked.values_list("process_id", flat=True):
        questions |= Q(kind=processes.KIND, payload__process_id=str(number))
    jobs = jobs_of(run)
    if questions:
        jobs |= JobRun.objects.for_scope(run.project.stream).filter(questions)
    yield from jobs.due(clock.read()).order_by("pk")
