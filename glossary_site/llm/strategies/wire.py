"""The calls themselves: an event loop in a thread of its own, and nothing but the network in it.

Whoever keeps the books hands over what is written down as sent, and collects what came of it. A
call is tried again while that can help; a server that asks for patience gets it from all calls, not
only from the one it told. `Wire` asks for chats (for `sync.py`), `wire_vectors.py` for vectors.
"""

from __future__ import annotations

import asyncio
import json
import logging
import queue
import random
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar

import httpx2
from django.conf import settings
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from glossary_site.llm import troubles
from glossary_site.llm.client import openai_client
from glossary_site.llm.providers import ProviderConfig
from glossary_site.llm.sdk import openai
from glossary_site.llm.speech import (
    DEFAULT,
    REPHRASED,
    Lessons,
    Speech,
    Way,
    concerns_all,
    other_way,
    worth_rephrasing,
)
from glossary_site.llm.strategies.asks import Answer, Ask, Malformed, read_answer
from glossary_site.llm.strategies.outages import Outage, Watch
from glossary_site.llm.structured import body_of
from glossary_site.observe.trace import in_context
from glossary_site.outbound.errors import UrlRefused

logger = logging.getLogger(__name__)

# Worth another try, beside every 5xx.
RETRIED = frozenset({408, 409, 425, 429})
LONGEST_BACKOFF = 60.0
# A longer wait than this is not spent in a worker.
LONGEST_PAUSE = 60.0
# Nor is anybody left alone for longer than this, whatever he asks for.
LONGEST_WAIT = 86_400.0
# No money, no other try.
HOPELESS_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
MOST_OF_A_MESSAGE = 500
NEVER = 0.0
# The quiet that all keep is pause enough.
NO_PAUSE_OF_ITS_OWN = 0.001
CLOSING_SECONDS = 1.0
# Calls that went out together come back together. While they do, the interpreter belongs to this
# thread, and the other writes them down in one transaction instead of ten.
MOMENT_SECONDS = 0.025
# How long the thread with the books may keep the interpreter to itself while this one wants it. It
# lets go of it with every read and write: at the usual five milliseconds a call would wait for it
# longer than for anything but the answer.
INTERPRETER_SECONDS = 0.0005
# What it takes to send a call, with the connection that it may need.
SENDING_SECONDS = 0.003

# What is asked, and what comes back.
A = TypeVar("A")
R = TypeVar("R")


@dataclass(frozen=True)
class Outcome(Generic[A, R]):
    """What came of a call: an answer, an error, or the wish to be asked again much later."""

    ask: A
    answer: R | None = None
    error: str = ""
    # The error says nothing about this request: any other would have met it.
    general: bool = False
    # It may pass: all attempts were made.
    passing: bool = False
    # Seconds until the server wants to hear from us again; the request counts as not sent.
    later: float | None = None
    # With which the server refused it.
    status: int = 0
    # What was learned about the server on the way, by the names of its speech.
    learned: Mapping[str, Any] = field(default_factory=dict)


class Line(Generic[A, R]):
    """Everything public is called from the thread that keeps the books."""

    def __init__(self, config: ProviderConfig, speech: Speech = DEFAULT) -> None:
        # First of all, for it may refuse the configuration.
        self._client = openai_client(config)
        self.config = config
        self._language = get_language()
        self._lessons = Lessons(speech)
        self._watch = Watch()
        self._outcomes: queue.SimpleQueue[Outcome[A, R]] = queue.SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(config.concurrency)
        # Until when nobody calls, why, and how often in a row we were told so.
        self._quiet_until = 0.0
        self._quiet_because = ""
        self._told = 0
        self._proved = self._under_way = time.monotonic()
        sys.setswitchinterval(min(INTERPRETER_SECONDS, sys.getswitchinterval()))
        self._thread = threading.Thread(target=in_context(self._run), name="llm-wire", daemon=True)
        self._thread.start()

    def send(self, asks: Sequence[A]) -> None:
        # The others wait for their turn, and go out when an answer comes in.
        at_once = min(len(asks), max(0, self.config.concurrency - len(self._tasks)))
        for ask in asks:
            self._loop.call_soon_threadsafe(self._begin, ask)
        sent = time.monotonic() + at_once * SENDING_SECONDS
        self._under_way = max(self._under_way, sent)

    def let_go(self) -> None:
        """Keep still until what goes out at once is on its way: whoever computes meanwhile makes
        every call wait for the interpreter a dozen times."""
        time.sleep(max(0.0, self._under_way - time.monotonic()))

    def collect(self, seconds: float, *, together: int = 1) -> list[Outcome[A, R]]:
        """Everything that has come, waiting so long for the first, and then a moment for those that
        come together with it, up to so many."""
        outcomes: list[Outcome[A, R]] = []
        with suppress(queue.Empty):
            outcomes.append(self._outcomes.get(timeout=seconds))
            until = time.monotonic() + MOMENT_SECONDS
            while len(outcomes) < together:
                left = max(0.0, until - time.monotonic())
                outcomes.append(self._outcomes.get(timeout=left))
            while True:
                outcomes.append(self._outcomes.get_nowait())
        return outcomes

    def has_answers(self) -> bool:
        return not self._outcomes.empty()

    @property
    def outage(self) -> Outage | None:
        return self._watch.outage

    def prove(self, moment: float) -> None:
        """The work was ours then, by the monotonic clock. Without a fresh proof nothing is sent: a
        process that was stopped for long finds out first whether somebody else has taken over."""
        self._proved = moment

    def unproved_for(self) -> float:
        return time.monotonic() - self._proved

    def close(self) -> None:
        """Abort what is in flight."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSING_SECONDS + 1)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._close())
        finally:
            self._loop.close()

    async def _close(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        try:
            async with asyncio.timeout(CLOSING_SECONDS):
                await self._client.close()
        except (TimeoutError, OSError):
            logger.debug("The connections to the provider did not close in time")

    def _begin(self, ask: A) -> None:
        # What goes wrong is told to whoever asks. This thread has no language of its own.
        with override(self._language):
            task = self._loop.create_task(self._deliver(ask))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _deliver(self, ask: A) -> None:
        call = object()
        try:
            async with self._room:
                outcome = await self._call(ask, call)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            logger.exception("A call to the provider failed in an unforeseen way")
            outcome = Outcome[A, R](
                ask, error=f"{type(error).__name__}: {error}"[:MOST_OF_A_MESSAGE]
            )
        finally:
            self._watch.over(call)
        self._outcomes.put(outcome)

    async def _call(self, ask: A, call: object) -> Outcome[A, R]:
        way = Way(self._lessons.speech)
        attempt = 0
        while True:
            if (later := await self._turn_to_call()) is not None:
                return Outcome(ask, error=self._quiet_because, later=later)
            attempt += 1
            sent_at = time.monotonic()
            self._watch.made(call)
            try:
                answer = await self._ask_once(ask, way)
            except openai.APIStatusError as error:
                if (other := self._other_way(ask, way, error, sent_at=sent_at)) is not None:
                    # Asking in another way is not asking again.
                    way, attempt = other, attempt - 1
                    continue
                outcome, wait = self._refused(ask, error, attempt)
            except (openai.APIConnectionError, TimeoutError, Malformed, ValueError) as error:
                outcome, wait = Outcome[A, R](ask, error=self._in_words(error), general=True), None
            except UrlRefused as error:
                return Outcome(ask, error=str(error), general=True)
            else:
                self._told = 0
                self._watch.answered()
                return Outcome(ask, answer=answer, learned=self._learned(ask, way))
            if wait == NEVER:
                return outcome
            self._watch.failed(call, since=sent_at, why=outcome.error)
            if attempt >= settings.LLM_ATTEMPTS:
                return replace(outcome, passing=True)
            await asyncio.sleep(backoff(attempt) if wait is None else wait)

    async def _turn_to_call(self) -> float | None:
        """Wait while the server wants quiet, and until it is certain that the work is ours. A very
        long wait is given back instead."""
        while True:
            now = time.monotonic()
            if (pause := self._quiet_until - now) > LONGEST_PAUSE:
                return pause
            if pause > 0:
                # Not all at the same instant again.
                await asyncio.sleep(pause + random.uniform(0, 0.1 * pause))  # noqa: S311
            elif now - self._proved > proof_seconds():
                await asyncio.sleep(0.05)
            else:
                return None

    async def _ask_once(self, ask: A, way: Way) -> R:
        raise NotImplementedError

    def _other_way(
        self, ask: A, way: Way, error: openai.APIStatusError, *, sent_at: float
    ) -> Way | None:
        """In which the server may understand what it has refused."""
        return None

    def _learned(self, ask: A, way: Way) -> Mapping[str, Any]:
        """From its being taken in this way."""
        return {}

    async def _post(self, path: str, body: dict[str, Any]) -> Any:
        """The JSON of the bare response: servers differ in what they call an answer, and most of
        what the library makes of one is not needed here."""
        async with asyncio.timeout(self.config.timeout):
            response = await self._client.post(path, cast_to=httpx2.Response, body=body)
        return json.loads(response.content)

    def _refused(
        self, ask: A, error: openai.APIStatusError, attempt: int
    ) -> tuple[Outcome[A, R], float | None]:
        """What is told if no other try follows; and the pause before that: 0 for never, None for
        the usual."""
        status = error.status_code
        about_it = status in REPHRASED or status == 413
        general = not about_it or concerns_all(troubles.reason_in(error.body))
        said = self._in_words(error)
        outcome = Outcome[A, R](ask, error=said, general=general, status=status)
        if (status < 500 and status not in RETRIED) or error.code in HOPELESS_CODES:
            return outcome, NEVER
        asked_for = retry_after(error.response.headers.get("retry-after", ""))
        if status == 429 or asked_for is not None:
            now = time.monotonic()
            # All calls in flight are told at the same time: that counts once.
            self._told += now >= self._quiet_until
            pause = backoff(self._told) if asked_for is None else asked_for
            self._quiet_until = max(self._quiet_until, now + pause)
            self._quiet_because = said
            return outcome, NO_PAUSE_OF_ITS_OWN
        return outcome, None

    def _in_words(self, error: Exception) -> str:
        if isinstance(error, openai.APIError):
            return troubles.explain(error, self.config)
        if isinstance(error, TimeoutError):
            return _("No answer within %(n)s seconds.") % {"n": self.config.timeout}
        if isinstance(error, json.JSONDecodeError):
            return _("The server's answer is not JSON.")
        return str(error)[:MOST_OF_A_MESSAGE]


class Wire(Line[Ask, Answer]):
    """Chats."""

    async def _ask_once(self, ask: Ask, way: Way) -> Answer:
        body = body_of(
            ask.request,
            ask.messages,
            model=self.config.model,
            speech=way.speech,
            most_tokens=self.config.output_tokens,
        )
        return read_answer(await self._post("/chat/completions", body), ask)

    def _other_way(
        self, ask: Ask, way: Way, error: openai.APIStatusError, *, sent_at: float
    ) -> Way | None:
        refusal = troubles.reason_in(error.body)
        if not worth_rephrasing(error.status_code, refusal):
            return None
        return other_way(way, refusal=refusal, request=ask.request, sent_at=sent_at)

    def _learned(self, ask: Ask, way: Way) -> Mapping[str, Any]:
        return self._lessons.taken(way, wants_json=ask.request.schema is not None)


def backoff(attempt: int) -> float:
    """Doubling, and spread so that what failed together does not come back together."""
    pause = min(settings.LLM_BACKOFF_SECONDS * 2 ** (attempt - 1), LONGEST_BACKOFF)
    return float(pause * random.uniform(0.75, 1.25))  # noqa: S311 (no secret)


def proof_seconds() -> float:
    """Well before a lease runs out."""
    return float(settings.JOB_LEASE_SECONDS / 2)


def retry_after(text: str) -> float | None:
    """Seconds, or a date."""
    try:
        seconds = _seconds(text)
    except (ValueError, OverflowError):
        return None
    return min(max(0.0, seconds), LONGEST_WAIT)


def _seconds(text: str) -> float:
    with suppress(ValueError):
        return float(text)
    moment = parsedate_to_datetime(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - datetime.now(UTC)).total_seconds()
