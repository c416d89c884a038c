"""Sending one by one, several at a time.

This thread keeps the books, `wire.py` makes the calls. Answers are written down as they come, those
of one moment together and with what goes out next: a worker that is killed loses nothing but what
was on the wire in that moment.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from uuid import UUID

from django.db import DatabaseError, connection
from django.utils import timezone

from glossary_site.jobs.errors import Stop, Stopped
from glossary_site.llm import troubles
from glossary_site.llm.models import LLMJob, LLMProcess
from glossary_site.llm.providers import ProviderConfig
from glossary_site.llm.requests import Request
from glossary_site.llm.services import dialects, ledger, processes
from glossary_site.llm.services.ledger import Known
from glossary_site.llm.services.processes import Interrupted
from glossary_site.llm.sessions import Session
from glossary_site.llm.strategies.asks import Answer, Ask, Done, Failed, first_ask, follow
from glossary_site.llm.strategies.books import Heard, Page, page_of
from glossary_site.llm.strategies.growth import Growth
from glossary_site.llm.strategies.lines import Lines
from glossary_site.llm.strategies.outages import Teller
from glossary_site.llm.strategies.wire import Outcome, Wire

# How soon a cancelled session is noticed.
LOOK_SECONDS = 0.2
# How often it is made sure, while nothing happens, that the process is still ours.
PROOF_SECONDS = 0.5
# How many requests are held in memory before their turn, and looked up in the ledger at once.
AHEAD = 50
# More than wait in a process whose requests are still being written.
MOST_LEFT = 10_000
# How many one transaction may take from the ledger.
MOST_SERVED = 200
# Duplicates that wait for the one among them that was sent.
MOST_FOLLOWERS = 1000
# So many failures in a row that had nothing to do with the request: the rest would meet them too.
MOST_GENERAL_FAILURES = 10
# A server that is away is waited for without a worker, longer each time; but after so many turns
# without an answer it is given up.
MOST_OUTAGES = 3
OUTAGE_SECONDS = 30.0
OUTAGE_GROWTH = 4.0
# A worker that is going down waits so long for what is on the wire.
LAST_ANSWERS_SECONDS = 3.0

Source = Callable[[int], list[LLMJob]]
Arrival = Outcome[Ask, Answer]


class Pending:
    """The requests of a process that wait, in order, a few at a time."""

    def __init__(self, process_id: UUID) -> None:
        self._process_id = process_id
        self._last: UUID | None = None

    def __call__(self, count: int) -> list[LLMJob]:
        waiting = LLMJob.objects.of(self._process_id).pending().after(self._last)
        rows = list(waiting.only("pk", "request_json")[:count])
        if rows:
            self._last = rows[-1].pk
        return rows


def nothing(count: int) -> list[LLMJob]:
    return []


class Sending:
    """Sends until there is nothing left, or until it has to stop."""

    def __init__(
        self,
        process: LLMProcess,
        config: ProviderConfig,
        session: Session,
        *,
        source: Source,
        asks: Iterable[Ask] = (),
        # Whether the process ends with it, in the same transaction as the last answer.
        whole: bool = False,
        seconds: float | None = None,
        heard: Heard | None = None,
        # What is to be asked besides, as far as it is thought of by then.
        growth: Growth | None = None,
    ) -> None:
        self._process = process
        self._config = config
        self._session = session
        self._source = source
        self._growth = growth
        self._whole = whole
        self._hearer = heard
        # More than are called at a time: when an answer comes, the next call need not wait for the
        # transaction that notes both.
        self._room = 2 * config.concurrency
        self._until = None if seconds is None else time.monotonic() + seconds
        # Follow-ups, which go first; what waits for its turn; what is out; who waits for that.
        self._urgent: deque[Ask] = deque(asks)
        self._waiting: deque[Ask] = deque()
        self._out: dict[tuple[str, str], Ask] = {}
        self._followers: dict[tuple[str, str], list[Ask]] = {}
        self._arrived: list[Arrival] = []
        # The source has nothing more.
        self._dry = False
        self._heard = False
        # What came to nothing before anybody was answered, with who waited for it.
        self._doubtful: list[tuple[Arrival, list[Ask]]] = []
        self._away = ""
        self._teller = Teller(session, concurrency=config.concurrency, told=process.unheard)
        self._general_failures = 0
        self._last_error = ""
        # The server wants to be left alone for so many seconds, and why.
        self.later: float | None = None
        self.why = ""

    def run(self, wire: Wire) -> None:
        try:
            self._think(wire)
            self._turn(wire, [])
            while not self._over:
                self._session.check()
                self._think(wire)
                due = not self._out or self._fills_the_wire
                if not due:
                    # No more than there are calls ready to take their places.
                    together = min(len(self._out), self._config.concurrency)
                    self._arrived = wire.collect(LOOK_SECONDS, together=together)
                    answered = any(each.answer is not None for each in self._arrived)
                    self._teller.look(wire.outage, heard=self._heard or answered)
                if due or self._arrived:
                    self._turn(wire, self._arrived)
                elif wire.unproved_for() > PROOF_SECONDS:
                    moment = time.monotonic()
                    processes.check_own(self._process.pk, self._session)
                    wire.prove(moment)
        except Interrupted:
            raise
        except Stopped as stopped:
            if stopped.why is Stop.SHUTDOWN:
                self._keep_last_answers(wire)
            raise
        except Exception:
            # Whatever it is, answers that are paid for are worth a try.
            with suppress(DatabaseError):
                if not connection.in_atomic_block:
                    connection.close_if_unusable_or_obsolete()
                self._keep_last_answers(wire)
            raise

    def _think(self, wire: Wire) -> None:
        """Write further requests: as many as can go out at once, a reserve, and more while nobody
        answers. All of them before we stop: whoever goes on later finds them there."""
        growth = self._growth
        while growth is not None and not growth.is_dry:
            if not self._stopping and self._has_enough(wire):
                break
            self._session.check()
            wire.let_go()
            growth.think()

    def _has_enough(self, wire: Wire) -> bool:
        if 0 < self._wanted <= self._written:
            return True
        # Answers can wait until there is a reserve: without it calls would wait for the next turn.
        reserve = len(self._out) + self._written - self._config.concurrency
        has_reserve = reserve >= self._config.concurrency // 2
        return self._written >= AHEAD or (has_reserve and wire.has_answers())

    @property
    def _fills_the_wire(self) -> bool:
        return 0 < self._wanted <= self._written and not self._is_held_back

    @property
    def _wanted(self) -> int:
        """So many are worth a transaction: half of the line, as long as part of it is idle, for who
        is asked sooner is back sooner; else all that there is room for."""
        idle = self._config.concurrency - len(self._out)
        if idle > 0:
            return min(idle, (self._config.concurrency + 1) // 2)
        return self._room - len(self._out)

    @property
    def _written(self) -> int:
        """Requests that came with the growth, and are not out yet."""
        return 0 if self._growth is None else self._growth.ready + len(self._waiting)

    def _turn(self, wire: Wire, outcomes: list[Arrival]) -> None:
        """One transaction; what it says is sent is sent then."""
        for outcome in outcomes:
            if outcome.learned:
                dialects.learn(self._config, **outcome.learned)
        # Before the transaction: who is stopped right after it must not take its proof for fresh.
        moment = time.monotonic()
        with page_of(self._process, self._session, heard=self._hearer) as page:
            for outcome in outcomes:
                self._take_in(outcome, page)
            self._settle_doubts(page)
            self._grow(page)
            sending = self._take_out(page)
            if self._whole and self._complete:
                page.complete()
            elif self._whole and self._over and self._hopeless:
                page.give_up(troubles.hopeless(self._general_failures, self._last_error))
            elif self._over and self._away and self._process.stalls >= MOST_OUTAGES:
                page.give_up(troubles.absent(self._away))
        self._arrived = []
        wire.prove(moment)
        wire.send(sending)
        if not self._process.ended:
            self._session.progress(self._process.done, self._process.total)

    @property
    def stopped_early(self) -> bool:
        return not self._complete

    @property
    def _complete(self) -> bool:
        return self._dry and self.later is None and not (self._out or self._urgent)

    @property
    def _over(self) -> bool:
        return self._complete or (self._stopping and not self._out and not self._grows)

    @property
    def _grows(self) -> bool:
        return self._growth is not None and not self._growth.over

    @property
    def _stopping(self) -> bool:
        late = self._until is not None and time.monotonic() > self._until
        return late or self.later is not None or self._hopeless

    @property
    def _is_held_back(self) -> bool:
        """Nothing new goes out for now."""
        followers = sum(map(len, self._followers.values()))
        return self._stopping or bool(self._doubtful) or followers > MOST_FOLLOWERS

    @property
    def _hopeless(self) -> bool:
        return self._general_failures >= max(MOST_GENERAL_FAILURES, self._config.concurrency)

    # What came back

    def _take_in(self, outcome: Arrival, page: Page) -> None:
        ask = self._out.pop(outcome.ask.name)
        followers = self._followers.pop(ask.name, [])
        if outcome.later is not None:
            self.later, self.why = max(outcome.later, self.later or 0.0), outcome.error
            if self._whole:
                page.unsent(ask)
        elif outcome.answer is not None:
            self._general_failures = 0
            self._heard = True
            page.answered(ask, outcome.answer)
            self._follow(ask, outcome.answer, page, served=False)
            for follower in followers:
                self._follow(follower, outcome.answer, page, served=True)
        elif self._whole and outcome.passing and outcome.general and not self._heard:
            self._doubtful.append((outcome, followers))
        else:
            self._general_failures = self._general_failures + 1 if outcome.general else 0
            self._fail(outcome, followers, page)

    def _settle_doubts(self, page: Page) -> None:
        """Nobody is answered in this turn, for a reason that may pass: the server is away, and that
        is no fault of the request. But not before all who were asked with it have been heard."""
        if not self._doubtful or (self._out and not self._heard):
            return
        for outcome, followers in self._doubtful:
            if self._heard:
                self._fail(outcome, followers, page)
            else:
                self._away = self.why = outcome.error
                pause = OUTAGE_SECONDS * OUTAGE_GROWTH ** (page.process.stalls - 1)
                self.later = max(pause, self.later or 0.0)
                page.unsent(outcome.ask)
        self._doubtful = []

    def _fail(self, outcome: Arrival, followers: list[Ask], page: Page) -> None:
        self._last_error = outcome.error
        page.no_answer(outcome.ask, outcome.error)
        for each in (outcome.ask, *followers):
            page.failed(each.job_id, outcome.error, key=each.request.key)

    def _follow(self, ask: Ask, answer: Answer, page: Page, *, served: bool) -> None:
        step = follow(ask, answer, self._config, served=served)
        if isinstance(step, Done):
            page.completed(ask.job_id, step, key=ask.request.key)
        elif isinstance(step, Failed):
            page.useless(ask, step.error)
            page.failed(ask.job_id, step.error, key=ask.request.key)
        else:
            self._urgent.append(step)

    # What goes out

    def _grow(self, page: Page) -> None:
        if self._growth is not None:
            self._waiting.extend(page.grown(self._growth.take()))
            page.process.growing = self._grows

    def _take_out(self, page: Page) -> list[Ask]:
        """As many as there is room for. What the ledger knows takes no room."""
        sending: list[Ask] = []
        served = 0
        while len(self._out) < self._room and served < MOST_SERVED:
            asks = self._next()
            if not asks:
                break
            known = ledger.look_up(page.process, asks) | page.known
            served += sum(
                self._place(ask, known.get(ask.name, ledger.NOTHING), page, sending) for ask in asks
            )
        return sending

    def _next(self) -> list[Ask]:
        """Follow-ups first. Nothing new when it is time to stop."""
        if self._urgent and self.later is None and not self._hopeless:
            asks = list(self._urgent)
            self._urgent.clear()
            return asks
        if self._is_held_back:
            return []
        if not self._waiting:
            self._waiting.extend(first_ask(job, self._config) for job in self._source(AHEAD))
            self._dry = not self._waiting and not self._grows
        room = self._room - len(self._out)
        return [self._waiting.popleft() for _ in range(min(len(self._waiting), room))]

    def _place(self, ask: Ask, known: Known, page: Page, sending: list[Ask]) -> bool:
        """Where an ask belongs; True where it needs no call."""
        if known.answer is not None:
            self._follow(ask, known.answer, page, served=True)
            return True
        if known.error:
            page.failed(ask.job_id, known.error, key=ask.request.key)
            return True
        if ask.name in self._out:
            self._followers.setdefault(ask.name, []).append(ask)
        elif len(self._out) < self._room:
            ask = replace(ask, sendings=known.sendings + 1, sent_at=timezone.now())
            self._out[ask.name] = ask
            page.sent(ask)
            sending.append(ask)
        else:
            self._urgent.append(ask)
        return False

    def _keep_last_answers(self, wire: Wire) -> None:
        """We have to stop, but the run is still ours: an answer that comes in the last seconds is
        kept in the ledger, and not paid for again by the next one."""
        until = time.monotonic() + LAST_ANSWERS_SECONDS
        arrived = self._arrived
        missing = self._out.keys() - {each.ask.name for each in arrived}
        while missing and (left := until - time.monotonic()) > 0:
            outcomes = wire.collect(min(left, LOOK_SECONDS))
            missing -= {each.ask.name for each in outcomes}
            arrived += outcomes
        kept = [(each.ask, each.answer) for each in arrived if each.answer is not None]
        if kept:
            ledger.keep(self._process.pk, kept)


def turn(
    process: LLMProcess,
    config: ProviderConfig,
    session: Session,
    *,
    seconds: float | None,
    heard: Heard | None = None,
    requests: Iterable[Request] = (),
    lines: Lines,
) -> tuple[float, str]:
    growth = Growth(process, config, requests) if process.growing else None
    pending = Pending(process.pk)
    # One that grows has few that wait, left by a kill. They are taken now, all of them: what has
    # grown is not to be met a second time in the queue.
    left = pending(MOST_LEFT) if growth and process.total else []
    sending = Sending(
        process,
        config,
        session,
        source=nothing if growth else pending,
        asks=[first_ask(job, config) for job in left],
        whole=True,
        seconds=seconds,
        heard=heard,
        growth=growth,
    )
    with lines.to(config) as wire:
        sending.run(wire)
    return sending.later or 0.0, sending.why
