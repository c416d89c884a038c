"""What a run would take, from what past ones took; nothing is read or asked for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db.models import Sum

from glossary_site.llm.choices import ProviderKind
from glossary_site.llm.providers import ProviderConfig, provider_for
from glossary_site.llm.tokens import cost_nano, cost_of_nano
from projects.choices import Language
from projects.models import Project
from runs.choices import STEPS, Scope, Status, Step
from runs.models import Run, RunStep
from runs.services.sizes import worth
from runs.services.starting import base_for

# Where there is no run to learn from. A term is asked about with its passages, and answered at
# about a fifth of the longest answer; a part of the entries has issues.
REQUESTS_A_TERM = {Step.EXTRACT: 1 / 40, Step.GENERATE: 0.7, Step.REVIEW: 1 / 25, Step.REFINE: 0.4}
INPUT_TOKENS_A_REQUEST = 1_400
OUTPUT_TOKENS_A_REQUEST = 250
SECONDS_A_REQUEST = 4.0
BUILTIN_SECONDS_A_TERM = 0.02
# Of documents in this language: three for its own signs, one for all that stands between them.
BYTES_A_CHARACTER: dict[str, float] = {Language.JAPANESE: 2.2}
PAST_RUNS = 5


@dataclass(frozen=True)
class Estimate:
    terms: int
    # Zero with the built-in engine.
    requests: int
    tokens: int
    nano: int
    priced: bool
    seconds: float
    # Whether past runs of the project were there to learn from.
    learned: bool

    @property
    def cost(self) -> Decimal | None:
        """None where no price is known."""
        return cost_of_nano(self.nano) if self.priced else None

    @property
    def duration(self) -> timedelta:
        return timedelta(seconds=round(self.seconds))


def estimate(project: Project, scope: Scope) -> Estimate:
    config = provider_for(project.stream)
    terms = _terms(project, scope)
    steps = STEPS[scope]
    past = _past(project, config)
    seconds_a_term = _seconds_a_term(past, steps)
    if config.kind == ProviderKind.BUILTIN:
        seconds = terms * (seconds_a_term or BUILTIN_SECONDS_A_TERM)
        return Estimate(terms, 0, 0, 0, False, seconds, bool(past))
    requests = round(_usual_requests(scope, terms) * _more_than_usual(past, scope))
    input_each, output_each = _tokens_a_request(past)
    tokens = requests * (input_each + output_each)
    nano = cost_nano(
        input_tokens=requests * input_each,
        output_tokens=requests * output_each,
        input_price=config.input_price,
        output_price=config.output_price,
    )
    seconds = (
        terms * seconds_a_term
        if seconds_a_term
        else requests * SECONDS_A_REQUEST / max(1, config.concurrency)
    )
    priced = config.input_price is not None or config.output_price is not None
    return Estimate(terms, requests, tokens, nano, priced, seconds, bool(past))


def _terms(project: Project, scope: Scope) -> int:
    if scope in (Scope.PROVISIONAL_TO_REFINED, Scope.REVIEW, Scope.REFINE):
        base = base_for(project, scope)
        return 0 if base is None else base.provisional.count()
    known: int = project.terms.in_glossary().count()
    if scope in (Scope.FROM_TERMS, Scope.GENERATE):
        return known
    if project.terms.in_glossary().filter(by_hand=False).exists():
        return known
    size = project.documents.aggregate(n=Sum("byte_size"))["n"] or 0
    return known + (worth(int(size / BYTES_A_CHARACTER.get(project.language, 1))) if size else 0)


def _past(project: Project, config: ProviderConfig) -> list[Run]:
    """Of the same provider and model: others are quicker or slower. Not those that did a few terms
    of many."""
    runs = Run.objects.filter(
        project=project, status=Status.COMPLETED, provider=config.kind, model=config.model
    ).exclude(options__has_key="only")
    return list(runs.newest_first()[:PAST_RUNS])


def seconds_of(run: Run, steps: Sequence[Step]) -> float | None:
    """What steps that a run has not begun will take; None where none of the past says so."""
    past = _past(run.project, provider_for(run.project.stream))
    rates = [_rate(past, step) for step in steps]
    terms = _terms_in(run)
    known = [rate for rate in rates if rate is not None]
    return sum(known) * terms if terms and len(known) == len(rates) else None


def _seconds_a_term(past: list[Run], steps: Sequence[Step]) -> float:
    return sum(_rate(past, step) or 0.0 for step in steps)


def _rate(past: list[Run], step: Step) -> float | None:
    """What a step took by term, the last time it was done."""
    rows = RunStep.objects.filter(run__in=past, step=step, finished_at__isnull=False)
    for row in rows.select_related("run").order_by("-run_id"):
        terms = _terms_in(row.run)
        if terms and row.started_at and row.finished_at:
            return (row.finished_at - row.started_at).total_seconds() / terms
    return None


def _terms_in(run: Run) -> int:
    return run.terms.filter(excluded_because="").count()


def _usual_requests(scope: str, terms: int) -> float:
    return terms * sum(REQUESTS_A_TERM.get(step, 0) for step in STEPS[Scope(scope)])


def _more_than_usual(past: list[Run], scope: Scope) -> float:
    """How many times as many requests runs of the scope made; where there are none, other runs."""
    alike = [run for run in past if run.scope == scope] or past
    made = sum(run.requests for run in alike)
    usual = sum(_usual_requests(run.scope, _terms_in(run)) for run in alike)
    return made / usual if made and usual else 1.0


def _tokens_a_request(past: list[Run]) -> tuple[int, int]:
    asked = sum(run.requests - run.served for run in past)
    if asked <= 0:
        return INPUT_TOKENS_A_REQUEST, OUTPUT_TOKENS_A_REQUEST
    return (
        sum(run.input_tokens for run in past) // asked,
        sum(run.output_tokens for run in past) // asked,
    )
