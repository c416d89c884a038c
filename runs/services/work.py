"""A run in the hands of a worker: what its steps read, and what they tell."""

import time
from collections.abc import Iterable, Sequence
from functools import cached_property

from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.jobs.session import Session
from glossary_site.llm.choices import ProviderKind
from glossary_site.llm.providers import ProviderConfig, provider_for
from glossary_site.llm.strategies.lines import Lines
from projects.services.terms import categories_of, term_lists
from runs import news
from runs.choices import Level, Step
from runs.engine.definitions import ContextFinder
from runs.models import Run, RunStep
from runs.pipeline.data import Entry, SourceDocument, Term, TermLists
from runs.pipeline.plan import DEFAULT_MOST_TOKENS
from runs.services import logs, rows
from runs.services.logs import Line
from runs.services.options import RunOptions

# Pages are told so often at most that they should look again.
TELL_SECONDS = 0.5


class Work:
    """What the steps of one run share. Made anew after every kill: nothing in it is the truth."""

    def __init__(self, run: Run, session: Session) -> None:
        self.run = run
        self.project = run.project
        self.session = session
        self.options = RunOptions.from_json(run.options)
        self.config: ProviderConfig = provider_for(run.project.stream)
        self.step = RunStep(run=run, step=Step.LOAD)
        # One step after the other speaks to the same provider.
        self.lines = Lines()
        self._told = 0.0

    @property
    def language(self) -> str:
        return self.project.language

    @property
    def builtin(self) -> bool:
        return self.config.kind == ProviderKind.BUILTIN

    @property
    def most_tokens(self) -> int:
        return self.config.context_tokens or DEFAULT_MOST_TOKENS

    # What the steps read

    @cached_property
    def documents(self) -> list[SourceDocument]:
        found = rows.documents_of(self.run)
        if not found:
            raise Refusal("no_documents", _("All documents of this run were deleted meanwhile."))
        return found

    @cached_property
    def finder(self) -> ContextFinder:
        return ContextFinder(self.documents, check=self.session.check)

    @cached_property
    def lists(self) -> TermLists:
        said = term_lists(self.project)
        return TermLists(
            required=said.required,
            excluded=said.excluded,
            categories=said.categories,
            notes=said.notes,
            chosen=said.chosen,
            synonyms=said.synonyms,
        )

    @cached_property
    def own_categories(self) -> dict[str, str]:
        return {each.key: str(each.label) for each in categories_of(self.project) if each.own}

    @cached_property
    def terms(self) -> dict[str, Term]:
        """Those that get an entry, best first."""
        found = self.run.terms.filter(excluded_because="").order_by("order")
        return {row.key: rows.term_of(row) for row in found}

    @cached_property
    def order(self) -> dict[str, int]:
        return {key: place for place, key in enumerate(self.terms)}

    @cached_property
    def provisional(self) -> dict[str, Entry]:
        found = self.run.provisional.order_by("order")
        return {row.key: rows.entry_of(row) for row in found}

    # What they tell

    def log(self, message: str, *, level: Level = Level.INFO) -> None:
        with self.session.atomic():
            logs.write_progress(self.run, [self.line(message, level=level)])
        self.tell(now=True)

    def line(self, message: str, *, level: Level = Level.INFO) -> Line:
        return Line(message, level=level, step=self.step.step)

    def progress(
        self, current: int, total: int, term: str = "", lines: Sequence[Line] = ()
    ) -> None:
        """Where the run is, within the caller's transaction."""
        logs.write_progress(
            self.run,
            lines,
            current_step=self.step.step,
            progress_current=min(current, total),
            progress_total=total,
            current_term=term,
        )

    def tell(self, *, now: bool = False) -> None:
        """Have open pages look again, not too often."""
        moment = time.monotonic()
        if now or moment - self._told > TELL_SECONDS:
            self._told = moment
            news.progress(self.run, step=str(self.step.step))


def names_of(keys: Iterable[str], terms: dict[str, Term]) -> list[str]:
    return [terms[key].text if key in terms else key for key in keys]
