"""Working on something in the process of a command, as a worker would.

Its job is claimed in the transaction that makes it, so that no worker gets to see it before; what
follows it (another attempt, the rest after a pause) goes to whoever claims it first, here or there.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Generic, TypeVar

from django.db import connections, transaction
from django.db.models import Model

from glossary_site.jobs import pulse
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.services import transitions
from glossary_site.jobs.session import job_session

LOOK_SECONDS = 0.2


Row = TypeVar("Row", bound=Model)


class Performer(threading.Thread, ABC, Generic[Row]):
    """A thread, so that the command's own is free to show how far it is, and to be interrupted."""

    def __init__(self, begin: Callable[[], Row]) -> None:
        super().__init__(name="performer", daemon=True)
        self._begin = begin
        self._begun = threading.Event()
        self._halt = threading.Event()
        self._made: Row | None = None
        self._error: BaseException | None = None

    @abstractmethod
    def first_job(self, row: Row) -> int:
        """The one that was made with it."""

    @abstractmethod
    def is_active(self, row: Row) -> bool:
        """Whether there is, or will be, something left to do for it."""

    @abstractmethod
    def due_jobs(self, row: Row) -> Iterable[JobRun]:
        """What is to be done for it now."""

    @abstractmethod
    def look_after(self, row: Row) -> None:
        """Nothing was due. The one who looks after what nobody works on may not be there."""

    def begun(self) -> Row:
        """Start; what was made, or why there is nothing."""
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
                row = self._begin()
                job_id = self.first_job(row)
                session = stack.enter_context(job_session(job_id, worker=pulse.worker_name()))
            self._made = row
            self._begun.set()
            if session is not None:
                session.perform()
        while not self._halt.is_set() and self.is_active(row):
            if not any(map(self._take, self.due_jobs(row))):
                self.look_after(row)
                self._halt.wait(LOOK_SECONDS)

    def _take(self, job: JobRun) -> bool:
        if job.rung_at is None:
            # The sweep, which would do so, may not be there.
            transitions.hurry(job)
        with job_session(job.pk, worker=pulse.worker_name()) as session:
            if session is not None:
                session.perform()
        return session is not None
