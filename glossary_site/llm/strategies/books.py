"""One transaction of a process: what came back, what goes out, and everything that follows from it.

Requests, ledger, counts and events change together, and only while the run is ours.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.utils import timezone

from glossary_site.inserting import insert
from glossary_site.llm import news
from glossary_site.llm.choices import JobStatus
from glossary_site.llm.models import LedgerEntry, LLMJob, LLMProcess
from glossary_site.llm.requests import Result
from glossary_site.llm.services import budgets, ledger, processes, rows
from glossary_site.llm.services.ledger import Known
from glossary_site.llm.services.rows import Row
from glossary_site.llm.sessions import Session
from glossary_site.llm.strategies.asks import Answer, Ask, Done

# Called with the requests that end in a transaction, within it: what it writes about them is there
# together with their answers, or not at all. It publishes nothing: the feed is locked last.
Heard = Callable[[list[Result]], None]


class Page:
    """Filled in Python; written at the end in a few statements, the process first: that tells
    whether it is still ours, and keeps everybody else from it."""

    def __init__(
        self,
        process: LLMProcess,
        session: Session,
        *,
        batch_id: str = "",
        heard: Heard | None = None,
    ) -> None:
        self.process = process
        self._session = session
        self._batch_id = batch_id
        self._heard = heard
        self._results: list[Result] = []
        self._new: list[LLMJob] = []
        self._kept_back: Counter[str] = Counter()
        self._entries: list[LedgerEntry] = []
        # What the ledger will say of the answers on this page, once it is written.
        self.known: dict[tuple[str, str], Known] = {}
        self._failures: list[tuple[Ask, str]] = []
        self._useless: list[tuple[Ask, str]] = []
        self._rows: list[Row] = []
        self._steps: list[dict[str, Any]] = []

    @property
    def names(self) -> set[tuple[str, str]]:
        """What goes out with this page."""
        return {(entry.fingerprint, entry.apart) for entry in self._entries}

    def grown(self, asks: Iterable[tuple[Ask, str]]) -> list[Ask]:
        """Requests that the process did not have before, each as it is kept in the queue, too."""
        taken = []
        for ask, text in asks:
            counted = ask.request.input_tokens, ask.request.max_tokens
            self._kept_back["tokens"] += sum(counted)
            self._kept_back["nano"] += ledger.price(self.process, *counted)
            self._new.append(LLMJob(pk=ask.job_id, process_id=self.process.pk, request_json=text))
            taken.append(ask)
        self.process.total += len(taken)
        return taken

    def sent(self, ask: Ask) -> None:
        self._entries.append(ledger.sent(self.process, ask))
        self._rows.append(Row(ask.job_id, JobStatus.IN_PROGRESS))

    def unsent(self, ask: Ask) -> None:
        """It was not taken: it waits again."""
        self._rows.append(Row(ask.job_id, JobStatus.PENDING))

    def answered(self, ask: Ask, answer: Answer) -> None:
        """A call was made, and is paid for."""
        entry = ledger.answered(self.process, ask, answer, batch_id=self._batch_id)
        self._entries.append(entry)
        self.known[ask.name] = Known(answer=answer)
        self.process.input_tokens += answer.input_tokens
        self.process.output_tokens += answer.output_tokens
        self.process.cost_nano += entry.cost_nano
        self._gets_on()

    def no_answer(self, ask: Ask, error: str) -> None:
        """A call was made, and came to nothing."""
        self._failures.append((ask, error))

    def useless(self, ask: Ask, error: str) -> None:
        """An answer that serves nobody."""
        self._useless.append((ask, error))

    def completed(self, job_id: UUID, done: Done, *, key: str = "") -> None:
        self.process.completed += 1
        self.process.served += done.served
        self._ended(Row(job_id, JobStatus.COMPLETED, response=done.response))
        if self._heard is not None:
            said = json.loads(done.response)
            self._results.append(Result(id=job_id, key=key, ok=True, **said))

    def failed(self, job_id: UUID, error: str, *, key: str = "") -> None:
        self.process.failed += 1
        self._ended(Row(job_id, JobStatus.FAILED, error=error))
        if self._heard is not None:
            self._results.append(Result(id=job_id, key=key, ok=False, error=error))

    def _ended(self, row: Row) -> None:
        self._rows.append(row)
        self._steps.append({"done": self.process.done, "failed": self.process.failed})
        self._gets_on()

    def _gets_on(self) -> None:
        self.process.progress_at = timezone.now()
        self.process.stalls = 0

    def write(self) -> None:
        """What is written once is not written again."""
        kept_back, self._kept_back = self._kept_back, Counter()
        self.process.reserved_tokens += kept_back["tokens"]
        self.process.reserved_nano += kept_back["nano"]
        processes.save_progress(self.process, self._session)
        insert(self._new)
        rows.write(self._rows)
        ledger.write(self._entries)
        for ask, error in self._failures:
            ledger.no_answer(self.process, ask, error)
        for ask, error in self._useless:
            ledger.useless(self.process, ask, error)
        if kept_back:
            budgets.keep_back(self.process, **kept_back)
        self._new, self._rows, self._entries = [], [], []
        self._failures, self._useless = [], []
        if self._heard is not None and self._results:
            results, self._results = self._results, []
            self._heard(results)

    def tell(self) -> None:
        """Last in the transaction: it locks the feed."""
        news.progress(self.process, self._take_steps())

    def complete(self) -> None:
        """The process ends with this page."""
        self.write()
        processes.complete(self.process, steps=self._take_steps())

    def give_up(self, error: str) -> None:
        self.write()
        processes.give_up(self.process, error, steps=self._take_steps())

    def _take_steps(self) -> list[dict[str, Any]]:
        steps, self._steps = self._steps, []
        return steps


@contextmanager
def page_of(
    process: LLMProcess, session: Session, *, batch_id: str = "", heard: Heard | None = None
) -> Iterator[Page]:
    """The process as its owner has it in hand: nobody else changes its counts."""
    with session.atomic():
        page = Page(process, session, batch_id=batch_id, heard=heard)
        yield page
        if not process.ended:
            page.write()
            page.tell()
