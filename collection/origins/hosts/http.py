"""HTTP with the API of a host: guarded, limited, patient, and never in the way of a stop.

The client is the asynchronous one although everybody here waits for it: so that whatever a server
does (one byte a minute, headers without end) a request can be left at any moment.
"""

import asyncio
import re
import ssl
import time
from collections.abc import Callable, Coroutine, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

import httpx2

from collection.choices import State
from collection.origins.data import OriginProblem, Stopped
from collection.origins.hosts import words
from collection.origins.hosts.paging import PER_PAGE, following
from collection.origins.hosts.reading import NotUnderstood, parse, rows
from collection.origins.hosts.waiting import (
    allowed,
    asked_to_wait,
    exhausted_for,
    refused_for_now,
)
from glossary_site.outbound.errors import UrlRefused
from glossary_site.outbound.transport import guarded_async_client
from glossary_site.outbound.urls import parse_url

# A page of a hundred commits with their line counts can take a big server this long.
TIMEOUT = httpx2.Timeout(60, connect=8)
SECONDS = 180.0
# For the question that a person at a page waits for.
QUICK_TIMEOUT = httpx2.Timeout(8)
QUICK_SECONDS = 9.0

# How long a host may have us wait in here; beyond it the collection does something else meanwhile.
PATIENCE = 60.0
QUICK_PATIENCE = 3.0
MOST_WAITS = 5
# Before the second try of what did not work.
BACKOFF = 1.0
# How often a stop is looked for.
SLICE = 0.2

MAX_JSON = 32 * 1024 * 1024
MAX_ERROR = 64 * 1024
MAX_REDIRECTS = 3
# A host may give fewer rows than it was asked for, but not one at a time.
FEWEST_A_PAGE = 10
REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return parse(self.body)


class _TooLarge(Exception):
    pass


class Token(httpx2.Auth):
    """A secret on its way into a header, and nowhere else: it does not show itself, and what is
    written down of a failure does not have it."""

    def __init__(self, secret: str, *, header: str, form: str = "{}") -> None:
        self._secret = secret.strip()
        self._header = header
        self._form = form
        if not (self._secret.isascii() and self._secret.isprintable()) or " " in self._secret:
            raise words.bad_token()

    def __bool__(self) -> bool:
        return bool(self._secret)

    def __repr__(self) -> str:
        return "Token(…)" if self else "Token()"

    def auth_flow(
        self, request: httpx2.Request
    ) -> Generator[httpx2.Request, httpx2.Response, None]:
        if self:
            request.headers[self._header] = self._form.format(self._secret)
        yield request


class Api:
    """One project of one host. `base` is the way to it; a host that knows the project by another
    name now says so with a redirect, and what follows goes there."""

    def __init__(
        self,
        origin: str,
        *,
        base: str,
        host: str,
        project: str,
        token: Token,
        right: str,
        bases: re.Pattern[str],
        stopped: Callable[[], bool],
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.host = host
        self.base = base
        self.moved = False
        self.requests = 0
        # How many requests the host allows, and how many more for now, where it says so.
        self.quota: int | None = None
        self.allowance: int | None = None
        self._origin = origin
        self._project = project
        self._token = token
        # What the host calls the right that a token must have.
        self._right = right
        # What the way to a project looks like.
        self._bases = bases
        self._headers = headers or {}
        self._stopped = stopped
        self._not_before = 0.0
        try:
            self._client = guarded_async_client(origin, timeout=TIMEOUT, connections=2, auth=token)
        except UrlRefused as refused:
            raise OriginProblem(State.REFUSED, str(refused)) from None
        # Not the loop of any thread: whoever holds this runs it.
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)

    def close(self) -> None:
        try:
            self._runner.run(self._client.aclose())
        finally:
            self._runner.close()

    # What is asked

    def get(
        self,
        way: str,
        params: Mapping[str, str | list[str]] | None = None,
        *,
        fine: tuple[int, ...] = (),
        quick: bool = False,
        accept: str = "",
        limit: int = MAX_JSON,
        cut: bool = False,
    ) -> Answer:
        """Something of the project. An answer that is neither good nor among the `fine` ones is a
        problem. `cut`: of what is longer than `limit`, the beginning will do."""
        headers = {"Accept": accept} if accept else {}
        for _hop in range(MAX_REDIRECTS + 1):
            answer = self._persistent(
                "GET",
                self._origin + self.base + way,
                quick=quick,
                params=params,
                headers=headers,
                limit=limit,
                cut=cut,
            )
            if answer.status not in REDIRECTS:
                return self._judged(answer, fine)
            self._follow(way, answer.headers.get("Location", ""))
        raise words.not_understood(self.host)

    def ask(self, path: str, question: Any) -> Any:
        """GraphQL: one question, the whole answer."""
        answer = self._persistent("POST", self._origin + path, quick=False, json=question)
        return self._judged(answer, ()).json()

    def pages(
        self,
        way: str,
        params: Mapping[str, str],
        *,
        most: int,
        gone: tuple[int, ...] = (),
        quick: bool = False,
    ) -> Iterator[list[Any]]:
        """A list, page by page, to its end; `most` rows are too many. `gone`: how the host says
        that the commit in the question is none of this project."""
        asked: Mapping[str, str] = {"per_page": str(PER_PAGE), **params}
        seen: set[tuple[tuple[str, str], ...]] = set()
        count = 0
        while asked:
            # A page that leads to itself, or in a circle, would never end.
            key = tuple(sorted(asked.items()))
            if key in seen or len(seen) > most // FEWEST_A_PAGE:
                raise NotUnderstood
            seen.add(key)
            answer = self.get(way, asked, fine=gone, quick=quick)
            if answer.status != 200:
                raise words.commit_gone(self.host)
            found = rows(answer.json())
            count += len(found)
            if count > most:
                raise words.too_many(self.host, most)
            yield found
            asked = following(answer.headers, asked, len(found))

    # How it is asked

    def _judged(self, answer: Answer, fine: tuple[int, ...]) -> Answer:
        status = answer.status
        if status == 200 or status in fine:
            return answer
        token = bool(self._token)
        match status:
            case 401:
                raise words.unauthorized(self.host, token=token)
            case 403:
                raise words.forbidden(self.host, self._right, token=token)
            case 404 | 410:
                raise words.not_found(self.host, self._project, token=token)
            case 451:
                raise words.legally_blocked(self.host)
        raise words.unexpected(self.host, status)

    def _follow(self, way: str, location: str) -> None:
        """To the same thing of the same host under another name; nowhere else. Only the path is
        taken: a GitLab behind a proxy sends from https to http and does not mean it."""
        here = self._origin + self.base + way
        try:
            target = parse_url(urljoin(here, location), schemes=("https", "http"))
        except (UrlRefused, ValueError):
            raise words.not_understood(self.host) from None
        if target.host != parse_url(self._origin, schemes=("https", "http")).host:
            raise words.moved_away(self.host, target.origin)
        base = target.path.removesuffix(way)
        if base + way != target.path or base == self.base or not self._bases.fullmatch(base):
            raise words.moved_away(self.host, target.origin + target.path)
        self.base = base
        self.moved = True

    def _persistent(self, method: str, url: str, *, quick: bool, **what: Any) -> Answer:
        """Waits where the host asks for it, and tries once more where there was trouble."""
        patience = QUICK_PATIENCE if quick else PATIENCE
        tries = waits = 0
        while True:
            self._wait(self._not_before - time.monotonic(), patience)
            tries += 1
            try:
                answer = self._once(method, url, quick=quick, **what)
            except OriginProblem as problem:
                if tries > 1 or not problem.again:
                    raise
                self._wait(BACKOFF, patience)
                continue
            if refused_for_now(answer.status, answer.headers, answer.body):
                waits += 1
                seconds = asked_to_wait(answer.headers)
                if waits > MOST_WAITS:
                    raise words.busy(self.host, seconds)
                self._not_before = time.monotonic() + seconds
                tries = 0
                continue
            self.quota, self.allowance = allowed(answer.headers)
            self._not_before = time.monotonic() + exhausted_for(answer.headers)
            if answer.status < 500:
                return answer
            if tries > 1:
                raise words.broken(self.host, answer.status)
            self._wait(BACKOFF, patience)

    def _once(self, method: str, url: str, *, quick: bool, **what: Any) -> Answer:
        self.requests += 1
        timeout = QUICK_TIMEOUT if quick else TIMEOUT
        seconds = QUICK_SECONDS if quick else SECONDS
        try:
            return self._performed(self._exchange(method, url, timeout=timeout, **what), seconds)
        except UrlRefused as refused:
            raise OriginProblem(State.REFUSED, str(refused)) from None
        except _TooLarge:
            raise words.too_large(self.host) from None
        except (TimeoutError, httpx2.TimeoutException):
            raise words.too_slow(self.host) from None
        except (httpx2.RequestError, httpx2.InvalidURL, OSError) as error:
            # Without the cause: it holds the request, and that holds the token.
            raise self._trouble(error) from None

    def _trouble(self, error: Exception) -> OriginProblem:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, UrlRefused):  # the name is not known
                return OriginProblem(State.UNREACHABLE, str(cause), again=True)
            if isinstance(cause, ssl.SSLCertVerificationError):
                return words.bad_certificate(self.host)
            cause = cause.__cause__ or cause.__context__
        odd = (httpx2.RemoteProtocolError, httpx2.DecodingError, httpx2.InvalidURL)
        # A server that hangs up, as with a connection that was not used for a while, is none that
        # speaks another language.
        if isinstance(error, odd) and "without sending" not in str(error):
            return words.not_understood(self.host)
        return words.unreachable(self.host)

    def _performed(self, work: Coroutine[Any, Any, Answer], seconds: float) -> Answer:
        """Runs it in slices. Between them there is no event loop: `stopped` may do what it likes,
        look into the database for one."""
        task = self._runner.get_loop().create_task(work)
        end = time.monotonic() + seconds
        try:
            while not task.done():
                self._check_stop()
                left = end - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                self._runner.run(asyncio.wait({task}, timeout=min(SLICE, left)))
            return task.result()
        finally:
            if not task.done():
                task.cancel()
                self._runner.run(asyncio.wait({task}, timeout=1))

    async def _exchange(
        self,
        method: str,
        url: str,
        *,
        timeout: httpx2.Timeout,
        headers: Mapping[str, str] | None = None,
        limit: int = MAX_JSON,
        cut: bool = False,
        **what: Any,
    ) -> Answer:
        dressed = {**self._headers, **(headers or {})}
        async with self._client.stream(
            method, url, headers=dressed, timeout=timeout, **what
        ) as response:
            if response.status_code != 200:
                limit, cut = MAX_ERROR, True
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > limit:
                    if not cut:
                        raise _TooLarge
                    del body[limit:]
                    break
            return Answer(response.status_code, response.headers, bytes(body))

    # When it is asked

    def _wait(self, seconds: float, patience: float) -> None:
        if seconds > patience:
            raise words.busy(self.host, seconds)
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._check_stop()
            time.sleep(min(left, SLICE))

    def _check_stop(self) -> None:
        if self._stopped():
            raise Stopped
