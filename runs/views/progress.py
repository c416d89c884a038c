"""How far a run is, step by step."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from glossary_site.llm.choices import ProviderKind, Strategy
from glossary_site.llm.models import LLMProcess
from runs.choices import Status, Step
from runs.models import Run, RunStep
from runs.services.ending import asked_by
from runs.services.estimates import seconds_of

# A rate measured on less than this says nothing about the rest.
LEAST_MEASURED = timedelta(seconds=2)
# Without any answer, of several that are asked for at a time.
LONG = timedelta(seconds=30)


@dataclass(frozen=True)
class StepLine:
    row: RunStep
    # "done", "now", "left" (the run ended before it was done) or "next"
    state: str

    @property
    def label(self) -> str:
        return str(Step(self.row.step).label)


@dataclass(frozen=True)
class Progress:
    """What a page shows of a run that goes on."""

    run: Run
    steps: list[StepLine]
    # How long the present step still takes, if it goes on as it does, and the whole run, if the
    # later steps take as long as in past runs; None where nobody knows.
    left_in_step: timedelta | None
    left: timedelta | None
    # A model was asked and has long said nothing.
    is_waiting: bool
    # The questions are in a batch, which may take a day.
    in_batch: bool
    now: datetime

    @property
    def current(self) -> StepLine | None:
        return next((step for step in self.steps if step.state == "now"), None)

    @property
    def place(self) -> int:
        """The number of the present step, for “step 2 of 5”."""
        return next((n for n, step in enumerate(self.steps, 1) if step.state == "now"), 1)


def _asked(run: Run) -> LLMProcess | None:
    """What a model is asked just now."""
    number = asked_by(run)
    asked = LLMProcess.objects.filter(pk=number).first() if number else None
    return asked if asked and asked.provider_kind != ProviderKind.BUILTIN else None


def count_what_is_asked(run: Run) -> None:
    """A step is counted at its end. Whoever watches, or has just stopped it, wants to know what it
    takes before that; the row itself stays as it is."""
    if asked := _asked(run):
        run.requests += asked.completed
        run.served += asked.served
        run.input_tokens += asked.input_tokens
        run.output_tokens += asked.output_tokens
        run.cost_nano += asked.cost_nano


def progress_of(run: Run, now: datetime) -> Progress:
    rows = list(run.steps.order_by("order"))
    in_step = _left_in_step(run, rows, now)
    left = _left(run, rows, in_step)
    asked = _asked(run) if run.status == Status.RUNNING else None
    in_batch = asked is not None and asked.strategy == Strategy.BATCH
    is_silent = run.progress_at is not None and now - run.progress_at >= LONG
    is_waiting = asked is not None and not in_batch and is_silent
    return Progress(run, _lines(run, rows), in_step, left, is_waiting, in_batch, now)


def _lines(run: Run, rows: list[RunStep]) -> list[StepLine]:
    first_open = next((row.pk for row in rows if row.finished_at is None), None)
    return [StepLine(row, _state(run, row, row.pk == first_open)) for row in rows]


def _state(run: Run, row: RunStep, is_first_open: bool) -> str:
    if row.finished_at is not None:
        return "done"
    if run.has_ended:
        return "left"
    return "now" if is_first_open and run.status == Status.RUNNING else "next"


def _left(run: Run, rows: list[RunStep], in_step: timedelta | None) -> timedelta | None:
    if in_step is None:
        return None
    later = [Step(row.step) for row in rows if row.finished_at is None][1:]
    seconds = seconds_of(run, later)
    return None if seconds is None else in_step + timedelta(seconds=seconds)


def _left_in_step(run: Run, rows: list[RunStep], now: datetime) -> timedelta | None:
    step = next((row for row in rows if row.finished_at is None), None)
    rest = run.progress_total - run.progress_current
    if step is None or step.started_at is None or not run.progress_current or not rest:
        return None
    measured = now - step.started_at
    if measured < LEAST_MEASURED:
        return None
    return measured * (rest / run.progress_current)
