"""One execution of one run: claim it, keep it, end it.

with job_session(run_id, worker=name) as session:
    if session is not None:      # None: it is somebody else's, or not due
        session.perform()
"""

import logging
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, transaction

from glossary_site.jobs import clock, news, pulse, registry
from glossary_site.jobs.choices import State
from glossary_site.jobs.errors import PermanentFailure, Stop, Stopped
from glossary_site.jobs.hold import Hold
from glossary_site.jobs.models import JobLog, JobRun
from glossary_site.jobs.payloads import storable
from glossary_site.jobs.services import transitions
from glossary_site.jobs.services.transitions import Again
from glossary_site.observe import telemetry
from glossary_site.observe.masking import mask
from glossary_site.observe.telemetry import Role
from glossary_site.observe.trace import bound

logger = logging.getLogger(__name__)

PROGRESS_SECONDS = 0.5
MESSAGE_LENGTH = 200
CONFIRMING_SHARE = 0.5


class Session:
    """What a job's function works with."""

    def __init__(self, run: JobRun, kind: registry.Kind, *, began: float) -> None:
        self.run = run
        self.kind = kind
        self.hold = Hold(run)
        self.began = began
        # When the lease was last known to be ours, by our own clock.
        self.renewed = self.began
        self.ended = False
        self._why: Stop | None = None
        self._stop = threading.Event()
        self._in_transaction = False
        self._progress_written = 0.0
        self._told = self._progress

    # For the job's function

    def cancelled(self) -> bool:
        """Whether it should stop, for whatever reason. Asks nobody, so ask it often."""
        if self.unsure_seconds > self.patience:
            self.stop(Stop.LOST)
        return self._stop.is_set()

    def check(self) -> None:
        """Stop here, if it should. Not for coroutines: it may look into the database."""
        if self.unsure_seconds > settings.JOB_LEASE_SECONDS and not self.stopped:
            # The whole process may have slept, its pulse too: look before anything is done. No
            # answer leaves us unsure, and patience decides.
            with suppress(DatabaseError, InterfaceError):
                self.confirm()
        if self.cancelled():
            assert self._why is not None
            raise Stopped(self._why)

    def wait(self, seconds: float) -> None:
        """Sleep, but not longer than the work is wanted."""
        self._stop.wait(seconds)
        self.check()

    def progress(self, current: int, total: int, message: str = "") -> None:
        """Tell how far it is. Written twice a second at most, and always at the end."""
        self.check()
        now = time.monotonic()
        if current < total and now - self._progress_written < PROGRESS_SECONDS:
            return
        self._progress_written = now
        run = self.run
        run.progress_current, run.progress_total = min(current, total), total
        run.progress_message = storable(message)[:MESSAGE_LENGTH]
        if not self._in_transaction:
            # In one the row would stay locked to its end, for the pulse as well; its last
            # statement tells.
            self._tell_progress()

    def log(self, message: str, level: str = JobLog.Level.INFO) -> None:
        """A line of the run's own log, which people read on its page."""
        self.check()
        text = storable(mask(message))
        logger.log(getattr(logging, level.upper()), "%s", text)
        JobLog.objects.create(run=self.run, message=text, level=level)

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """A transaction that commits only while the run is ours. Made sure of at the end of it, so
        that the pulse can go on renewing the lease during it."""
        with self._transaction():
            yield
            self._tell_progress()

    @contextmanager
    def finishing(self, result: dict[str, Any] | None = None) -> Iterator[None]:
        """The last transaction: its writes and the end of the run happen together or not at all."""
        with self._transaction():
            yield
            self._finish(result)
        self.ended = True

    # For the one who runs it

    def perform(self) -> None:
        result = self.kind.run(self, self.run.payload)
        if not self.ended:
            self._finish(result)
            self.ended = True

    @property
    def stopped(self) -> bool:
        return self._why is not None

    def look(self) -> None:
        """Whether it was cancelled, or ended by somebody else."""
        if not self.hold.reload() and not self.ended:
            self.stop(self._why_lost())

    def confirm(self) -> None:
        """Renew the lease, or learn that the run is not ours any more. Until the database has
        answered we are unsure, and go on only so long."""
        began = time.monotonic()
        try:
            ours = self.hold.renew()
        except (DatabaseError, InterfaceError):
            self.cancelled()
            raise
        if ours:
            self.renewed = began
        elif not self.ended:
            self.stop(self._why_lost())

    @property
    def unsure_seconds(self) -> float:
        """How long ago the run was last known to be ours. On SQLite nobody can take it while we
        are in a transaction: nobody else can write."""
        if self._in_transaction and connection.vendor == "sqlite":
            return 0.0
        return time.monotonic() - self.renewed

    @property
    def patience(self) -> float:
        """Seconds without a renewal after which the job stops: before the leader gives it up, with
        some of the time for confirming left to come to an end."""
        return float(settings.JOB_LEASE_SECONDS + CONFIRMING_SHARE * settings.JOB_CONFIRM_SECONDS)

    def stop(self, why: Stop) -> None:
        """Called by the pulse, from its thread."""
        if self._why is None:
            self._why = why
            self._stop.set()

    def give_up(self) -> None:
        """For a job that was told to stop and does not."""
        if self._why is not None:
            self.fail(Stopped(self._why))

    def fail(self, error: BaseException) -> None:
        """End it as what happened to it demands. What is not ours any more is left alone."""
        if self.ended:
            logger.error("Failed after it had succeeded", exc_info=error)
            return
        text = describe(error)
        if isinstance(error, Stopped):
            if error.why in (Stop.CANCELED, Stop.LOST):
                logger.info("Stopped: %s", error)
                return
            to = State.TIMED_OUT if error.why is Stop.TIMED_OUT else State.FAILED
        else:
            to = State.FAILED
            logger.error("Failed: %s", text, exc_info=error)
        if not connection.in_atomic_block:
            # What failed may have been the connection.
            connection.close_if_unusable_or_obsolete()
        story = storable(mask("".join(traceback.format_exception(error))))
        with transaction.atomic():
            if self.hold.end(to, error=text, again=_again(error)):
                JobLog.objects.create(run=self.run, level=JobLog.Level.ERROR, message=story)
            else:
                logger.warning("It had been ended by somebody else before it failed.")

    def _finish(self, result: dict[str, Any] | None) -> None:
        if not self.hold.end(State.SUCCEEDED, result=result):
            self.stop(self._why_lost())
            self.check()

    def _tell_progress(self) -> None:
        """How far it is; refused when the run is not ours any more."""
        run = self.run
        began = time.monotonic()
        if not self.hold.renew(
            progress_current=run.progress_current,
            progress_total=run.progress_total,
            progress_message=run.progress_message,
            progress_at=clock.now(),
        ):
            self.stop(self._why_lost())
            self.check()
        self.renewed = began
        if self._told != self._progress:
            self._told = self._progress
            news.changed(run)

    @property
    def _progress(self) -> tuple[int, int, str]:
        run = self.run
        return run.progress_current, run.progress_total, run.progress_message

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.check()
        self._in_transaction = True
        try:
            with transaction.atomic():
                yield
        finally:
            self._in_transaction = False

    def _why_lost(self) -> Stop:
        return Stop.CANCELED if self.hold.state() == State.CANCELED else Stop.LOST


def describe(error: BaseException) -> str:
    """One sentence for people; the whole story is in the log."""
    if isinstance(error, Stopped):
        return f"Stopped: {error}."
    text = storable(mask(str(error).strip()))
    if isinstance(error, PermanentFailure):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _again(error: BaseException) -> Again:
    if isinstance(error, PermanentFailure):
        return Again.NEVER
    if isinstance(error, Stopped) and error.why is Stop.SHUTDOWN:
        return Again.BLAMELESS
    return Again.IF_ATTEMPTS_REMAIN


def claim(run_id: int, *, worker: str) -> Session | None:
    """PENDING → ASSIGNED → RUNNING, each a compare-and-set of its own."""
    run = transitions.assign(run_id, worker=worker)
    if run is None:
        return None
    # Before the lease is written: by our clock it must end earlier, never later.
    began = time.monotonic()
    if not transitions.start(run, worker=worker):
        return None
    return Session(run, registry.kind_of(run.kind), began=began)


@contextmanager
def job_session(run_id: int, *, worker: str) -> Iterator[Session | None]:
    """The claimed run, kept under its lease by the pulse; ended by what happens in the body."""
    session = claim(run_id, worker=worker)
    if session is None:
        yield None
        return
    run = session.run
    if run.scope:
        news.changed(run)
    with (
        bound(job_run_id=run.pk, worker=worker, trace_id=run.trace_id),
        telemetry.span(
            "job", role=Role.CONSUMER, kind=run.kind, job_run_id=run.pk, attempt=run.attempt
        ) as span,
        pulse.kept(session),
    ):
        try:
            yield session
        except BaseException as error:
            span.fail(describe(error))
            session.fail(error)
            # Whoever ends the process has the last word; a job's own failure ends here.
            if not isinstance(error, Exception):
                raise
