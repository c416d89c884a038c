"""How a step has its questions answered: by an LLM process, worked on here or left to itself.

One by one, the answers are stored as they come, in the transaction that ends their requests: what a
kill leaves behind is a run with so many entries, and the rest waiting. In a batch they come all at
once, hours later perhaps; the run parks, without a worker, and the end of the process calls for it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import chain
from uuid import UUID, uuid4

from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from glossary_site.durations import in_words
from glossary_site.errors import Refusal
from glossary_site.jobs.errors import Stopped
from glossary_site.jobs.services.audit import SITE
from glossary_site.jobs.services.enqueue import enqueue as enqueue_job
from glossary_site.llm.choices import JobStatus, ProcessStatus, ProviderKind, Strategy
from glossary_site.llm.models import LLMProcess
from glossary_site.llm.requests import Request, Result
from glossary_site.llm.services import processes, queue
from projects.models.terms import TERM_LENGTH
from projects.services.locking import lock_project
from runs.choices import Level
from runs.models import ERROR_LENGTH, Run, RunFailure, RunStep
from runs.pipeline.data import Failure
from runs.pipeline.plan import keys_in
from runs.services import logs
from runs.services.ending import ADVANCE
from runs.services.logs import Line
from runs.services.work import Work

# Stores what the answers say, and gives back what it had no result for.
Store = Callable[[Iterable[Result]], list[Failure]]


class Parked(Exception):
    """The run goes on by itself when its answers are there. Its worker is free."""


class NoAnswers(Refusal):
    """Nothing came of all the questions. Raised while a step is finishing, it leaves that open; but
    what was taken in lasts, so that whoever goes on does not get the same answers again."""

    def __init__(self, reason: str) -> None:
        words = _("The language model answered nothing: %(reason)s")
        super().__init__("no_answers", words % {"reason": reason})


def answered(
    work: Work,
    requests: Callable[[], Iterable[Request]],
    *,
    names: Mapping[str, str],
    store: Store | None = None,
) -> None:
    """Returns when every request has ended; raises `Parked` when that takes a while. `names` are
    those of the terms asked about, by key. With `store`, answers are stored as they come."""
    step = work.step
    process = LLMProcess.objects.filter(pk=step.process_id).first() if step.process_id else None
    asked_a_model = process is not None and process.provider_kind != ProviderKind.BUILTIN
    if process is not None and not process.ended and asked_a_model and work.builtin:
        _withdraw(work, process)
        process = None
    asked = _written(work, requests())
    if process is None:
        first = next(asked, None)
        if first is None:
            return
        asked = chain([first], asked)
        process = _ask(work, asked, total=len(names), live=store is not None)
    if process.ended:
        return
    if process.then_kind:
        raise Parked
    hearing = Hearing(work, names=names, store=store if step.live else None)
    turn = queue.execute(process.pk, Telling(work), heard=hearing, requests=asked, lines=work.lines)
    if not turn.ended:
        _pause(work, process.pk, seconds=turn.resume_after, why=turn.why)
        raise Parked


def _pause(work: Work, process_id: UUID, *, seconds: float, why: str) -> None:
    """The server wants to be left alone for a while: another job goes on then, with the process."""
    with work.session.finishing():
        process = processes.lock_own(process_id, work.session)
        pause = timedelta(seconds=seconds)
        words = _("The language model does not answer now. It is asked again in %(time)s.")
        words %= {"time": in_words(pause)}
        logs.write(work.run, [work.line(f"{words} {why}".strip(), level=Level.WARNING)])
        job = enqueue_job(
            ADVANCE,
            {"run_id": work.run.pk},
            run_after=timezone.now() + pause,
            scope=work.project.stream,
        )
        processes.hand_over(process, job)
        Run.objects.filter(pk=work.run.pk).update(job=job)
        work.tell(now=True)


def _written(work: Work, requests: Iterable[Request]) -> Iterator[Request]:
    """To write one may take a while, and a run may be stopped meanwhile."""
    for request in requests:
        work.session.check()
        yield request


def _ask(work: Work, requests: Iterable[Request], *, total: int, live: bool) -> LLMProcess:
    """Put the questions, or begin to. The number of the process is noted first: whoever stops the
    run in between finds it, and whoever begins the step again asks under it, so that all is asked
    once. After a withdrawal there is none, and the next are other questions."""
    step, run = work.step, work.run
    alone = work.config.strategy == Strategy.BATCH and not work.builtin
    number = step.process_id or uuid4()
    step.process_id, step.live = number, live and not alone
    step.total, step.done = total, 0
    with work.session.atomic():
        work.progress(0, total)
        RunStep.objects.filter(pk=step.pk).update(
            process_id=number, live=step.live, total=total, done=0, failed=0
        )
        # What a model that the project has gone away from had no result for is asked again.
        run.failures.filter(step=step.step).delete()
        _count_failures(run)
    process = queue.enqueue(
        number,
        requests,
        scope=work.project.stream,
        # As it was when the step began: how the answers are stored depends on it.
        strategy=Strategy.BATCH if alone else Strategy.SYNC,
        then=(ADVANCE, {"run_id": run.pk}) if alone else None,
        inline=None if alone else work.session,
        growing=not alone,
    )
    # Stopped while we asked: whoever did it found nothing to withdraw.
    try:
        with work.session.atomic():
            if alone:
                words = _("The questions are put in a batch. The answers may take hours.")
                logs.write_progress(run, [work.line(words)])
    except Stopped:
        with suppress(Refusal):
            processes.cancel(process.pk, actor=SITE)
        raise
    return process


def _withdraw(work: Work, process: LLMProcess) -> None:
    """The project has gone back to the built-in engine, which cannot answer what a model was asked.
    What was answered is stored; the engine is asked for the rest."""
    with work.session.atomic():
        # Withdrawn and forgotten at once: whoever goes on after a kill would take them for
        # withdrawn by people. The run is locked before the feed, which the withdrawal locks.
        process = processes.lock(process.pk)
        _lock(work.run)
        with suppress(Refusal):
            process = processes.cancel(process.pk, actor=SITE)
        if process.ended:
            with queue.consume(process.pk):
                count(work.run, process, requests=process.completed)
        # Else a batch is being cancelled at its provider, and what comes of it nobody wants.
        RunStep.objects.filter(pk=work.step.pk).update(process_id=None, live=False)
    work.step.process_id = None


class Telling:
    """The job's session, which also tells the pages of the run."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self.run = work.session.run
        self.cancelled = work.session.cancelled
        self.check = work.session.check
        self.atomic = work.session.atomic

    def progress(self, current: int, total: int, message: str = "") -> None:
        self._work.session.progress(current, total, message)
        self._work.tell()

    def log(self, message: str, level: str = "info") -> None:
        """What a process says of itself is no progress: how long ago the last was stays true."""
        line = self._work.line(message, level=Level(level))
        with self._work.session.atomic():
            logs.write(self._work.run, [line])
        self._work.tell(now=True)


class Hearing:
    """Takes answers in, each once, within the transaction that ends its request."""

    def __init__(self, work: Work, *, names: Mapping[str, str], store: Store | None) -> None:
        self._work = work
        self._names = names
        self._store = store
        self._done, self._total = work.step.done, work.step.total

    def __call__(self, results: list[Result]) -> None:
        failures = take_in(self._work, self._store, results) if self._store is not None else []
        # Of those that are stored later, too, at the end of the step.
        failed = {key: each.error for each in results if not each.ok for key in keys_in(each.key)}
        failed |= {failure.key: failure.error for failure in failures}
        lines = []
        name = ""
        keys = [key for result in results for key in keys_in(result.key)]
        for key in keys:
            self._done = min(self._done + 1, self._total)
            name = self._names.get(key, key)
            lines.append(self._line(name, failed.get(key, "")))
        self._work.progress(self._done, self._total, term=name[:TERM_LENGTH], lines=lines)
        RunStep.objects.filter(pk=self._work.step.pk).update(
            done=F("done") + len(keys), failed=F("failed") + len(failures)
        )

    def _line(self, name: str, error: str) -> Line:
        percent = 100 * self._done // self._total if self._total else 100
        return Line(
            f"{name}: {error}" if error else f"{name}: {percent}%",
            level=Level.WARNING if error else Level.INFO,
            step=self._work.step.step,
            current=self._done,
            total=self._total,
            term=name,
        )


def take_in(work: Work, store: Store, results: list[Result]) -> list[Failure]:
    """Have answers stored. What they had no result for is noted, and asked anew by who tries it
    again: the ledger would only say the same."""
    failures = store(results)
    failed = {failure.key for failure in failures}
    useless = [each.id for each in results if each.ok and failed.intersection(keys_in(each.key))]
    if useless and work.step.process_id is not None:
        queue.reject(work.step.process_id, useless)
    note_failures(work, failures)
    return failures


def note_failures(work: Work, failures: Sequence[Failure]) -> None:
    """Counted at once: a run that is stopped has those, too."""
    if not failures:
        return
    RunFailure.objects.bulk_create(
        (
            RunFailure(
                run=work.run,
                step=work.step.step,
                key=failure.key[:TERM_LENGTH],
                term=failure.term[:TERM_LENGTH],
                error=failure.error[:ERROR_LENGTH],
            )
            for failure in failures
        ),
        ignore_conflicts=True,
    )
    _count_failures(work.run)


def _count_failures(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(failure_count=run.failures.count())


def failures_of(result: Result, names: Mapping[str, str]) -> list[Failure]:
    """Of a request that came to nothing: one for each of its terms."""
    return [Failure(key, names.get(key, key), result.error) for key in keys_in(result.key)]


@contextmanager
def finishing(work: Work, *, of_project: bool = False) -> Iterator[list[Result]]:
    """The last transaction of a step: what is stored in the body, the removal of the questions and
    the end of the step happen together or not at all. Gives the answers not stored yet. Rows are
    locked in this order: the project (where it is written too), the process, the run."""
    step = work.step
    fruitless: NoAnswers | None = None
    with work.session.atomic():
        if of_project:
            lock_project(work.project)
        if step.process_id is None:
            _lock(work.run)
            yield []
        else:
            # Those that came one by one are stored; but requests that were given up, nobody has
            # heard of.
            ends = [JobStatus.FAILED] if step.live else queue.ENDS
            with queue.consume(step.process_id, ends=ends) as results:
                _lock(work.run)
                process = processes.find(step.process_id)
                _check_worth(process)
                try:
                    yield list(results)
                except NoAnswers as error:
                    fruitless = error
                else:
                    count(work.run, process, requests=process.total)
        if fruitless is None:
            _finish(work)
    if fruitless is not None:
        raise fruitless


def _finish(work: Work) -> None:
    step, now = work.step, timezone.now()
    RunStep.objects.filter(pk=step.pk).update(
        finished_at=now,
        done=F("total"),
        failed=work.run.failures.filter(step=step.step).count(),
        started_at=step.started_at or now,
    )
    step.finished_at = now


def _lock(run: Run) -> None:
    """Before the feed is, in the body: whoever stops the run locks it in this order, too."""
    Run.objects.select_for_update(of=("self",)).filter(pk=run.pk).first()


def _check_worth(process: LLMProcess) -> None:
    """One that was given up, with nothing to show for it, is no matter of single terms."""
    if process.status == ProcessStatus.CANCELLED:
        raise Refusal("process_cancelled", process.error or _("The questions were withdrawn."))
    if process.status == ProcessStatus.FAILED and process.completed == 0:
        raise NoAnswers(process.error)


def count(run: Run, process: LLMProcess, *, requests: int) -> None:
    """What it took. The built-in engine takes nothing."""
    if process.provider_kind == ProviderKind.BUILTIN:
        return
    Run.objects.filter(pk=run.pk).update(
        requests=F("requests") + requests,
        served=F("served") + process.served,
        input_tokens=F("input_tokens") + process.input_tokens,
        output_tokens=F("output_tokens") + process.output_tokens,
        cost_nano=F("cost_nano") + process.cost_nano,
    )
