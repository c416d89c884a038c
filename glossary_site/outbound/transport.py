"""Speaking HTTP with one origin, and only at addresses that were checked.

A name is looked up once, the answer is checked, and the connection goes to that very address: a
name server that answers differently the second time has nobody to tell it to. The name stays in
the Host header and in TLS, so certificates are checked as always. A client speaks with the origin
it was made for: a redirect cannot carry a key to another host.
"""

import ssl
import threading
import time
from collections.abc import AsyncIterator, Iterator
from functools import lru_cache
from typing import Any

import anyio
import anyio.to_thread
import httpx2
from django.utils.translation import gettext as _

from glossary_site.outbound.errors import UrlRefused
from glossary_site.outbound.guard import WEB, Resolver, addresses_of, system_resolver
from glossary_site.outbound.urls import DEFAULT_PORTS, parse_url

# How long a checked answer is used for new connections.
PIN_SECONDS = 60.0
# An answer beyond this is not an answer but an attack on our memory.
MAX_BYTES = 512 * 1024 * 1024
# Compressed, a small answer could grow to anything in our hands.
HEADERS = {"Accept-Encoding": "identity", "User-Agent": "glossary-site"}


class Pin:
    """The checked addresses of one origin."""

    def __init__(self, url: str, *, allow_private: bool, resolver: Resolver) -> None:
        self.url = parse_url(url, schemes=WEB)
        self._allow_private = allow_private
        self._resolver = resolver
        self._lock = threading.Lock()
        self._addresses: tuple[str, ...] = ()
        self._until = 0.0

    def known(self) -> tuple[str, ...]:
        """The addresses of the last answer, while it is fresh; else none."""
        return self._addresses if time.monotonic() < self._until else ()

    def addresses(self) -> tuple[str, ...]:
        with self._lock:  # of many who need the answer at once, one asks
            if not self.known():
                self._addresses = self._ask()
                self._until = time.monotonic() + PIN_SECONDS
            return self._addresses

    def _ask(self) -> tuple[str, ...]:
        try:
            return addresses_of(
                self.url, allow_private=self._allow_private, resolver=self._resolver
            )
        except UrlRefused as refused:
            if refused.code == "host_unknown":
                # Name servers have bad minutes: this one is worth another try, a refusal is not.
                raise httpx2.ConnectError(str(refused)) from refused
            raise

    def prefer(self, address: str) -> None:
        """This one answered: the next connection need not wait for another that does not."""
        self._addresses = tuple(sorted(self._addresses, key=lambda other: other != address))

    def forget(self) -> None:
        """None of them answered: ask again before the next connection."""
        self._until = 0.0

    def check(self, request: httpx2.Request) -> None:
        url = request.url
        port = url.port or DEFAULT_PORTS.get(url.scheme)
        asked = (url.scheme, url.raw_host.decode("ascii").strip("[]"), port)
        if asked != (self.url.scheme, self.url.host, self.url.port):
            raise UrlRefused(
                "url_elsewhere",
                _("The server at %(origin)s sent us to another host. That is not followed.")
                % {"origin": self.url.origin},
            )

    def sent_to(self, request: httpx2.Request, address: str) -> httpx2.Request:
        return httpx2.Request(
            request.method,
            _at(str(request.url), address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": self.url.host},
        )


@lru_cache(maxsize=64)
def _at(url: str, address: str) -> httpx2.URL:
    # Kept: thousands of requests go to one place, and an address is long to take apart.
    return httpx2.URL(url).copy_with(host=address)


def check_answer(response: httpx2.Response) -> httpx2.Response:
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise httpx2.DecodingError("the server compressed an answer that was asked for plain")
    return response


def count(total: int, chunk: bytes) -> int:
    total += len(chunk)
    if total > MAX_BYTES:
        raise UrlRefused("answer_too_large", _("The server’s answer is too large."))
    return total


class CountedStream(httpx2.SyncByteStream):
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __iter__(self) -> Iterator[bytes]:
        total = 0
        for chunk in self._inner:
            total = count(total, chunk)
            yield chunk

    def close(self) -> None:
        self._inner.close()


class AsyncCountedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = 0
        async for chunk in self._inner:
            total = count(total, chunk)
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class GuardedTransport(httpx2.BaseTransport):
    def __init__(self, pin: Pin, inner: httpx2.HTTPTransport) -> None:
        self._pin = pin
        self._inner = inner

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self._pin.check(request)
        failure: Exception | None = None
        for address in self._pin.addresses():
            try:
                answer = self._inner.handle_request(self._pin.sent_to(request, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                # Nothing was sent yet: another address of the same host may be tried.
                failure = error
                continue
            if failure is not None:
                self._pin.prefer(address)
            answer.stream = CountedStream(answer.stream)
            return check_answer(answer)
        self._pin.forget()
        assert failure is not None  # there is at least one address
        raise failure

    def close(self) -> None:
        self._inner.close()


class AsyncGuardedTransport(httpx2.AsyncBaseTransport):
    def __init__(self, pin: Pin, inner: httpx2.AsyncHTTPTransport) -> None:
        self._pin = pin
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._pin.check(request)
        failure: Exception | None = None
        for address in await self._addresses(request):
            try:
                answer = await self._inner.handle_async_request(self._pin.sent_to(request, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
                continue
            if failure is not None:
                self._pin.prefer(address)
            answer.stream = AsyncCountedStream(answer.stream)
            return check_answer(answer)
        self._pin.forget()
        assert failure is not None
        raise failure

    async def _addresses(self, request: httpx2.Request) -> tuple[str, ...]:
        if known := self._pin.known():
            return known
        seconds = request.extensions.get("timeout", {}).get("connect")
        try:
            with anyio.fail_after(seconds):
                return await anyio.to_thread.run_sync(self._pin.addresses, abandon_on_cancel=True)
        except TimeoutError as error:
            raise httpx2.ConnectTimeout("the name server did not answer in time") from error

    async def aclose(self) -> None:
        await self._inner.aclose()


def guarded_client(
    url: str,
    *,
    timeout: httpx2.Timeout,
    allow_private: bool = False,
    connections: int = 10,
    verify: ssl.SSLContext | bool = True,
    resolver: Resolver = system_resolver,
    **options: Any,
) -> httpx2.Client:
    """A client for the origin of this address. Proxies of the environment are not used: behind
    one, the address that is connected to would be somebody else's choice."""
    pin = Pin(url, allow_private=allow_private, resolver=resolver)
    inner = httpx2.HTTPTransport(verify=certificates(pin, verify), limits=limits(connections))
    return httpx2.Client(
        transport=GuardedTransport(pin, inner),
        timeout=timeout,
        headers=HEADERS,
        trust_env=False,
        follow_redirects=False,
        **options,
    )


def guarded_async_client(
    url: str,
    *,
    timeout: httpx2.Timeout,
    allow_private: bool = False,
    connections: int = 10,
    verify: ssl.SSLContext | bool = True,
    resolver: Resolver = system_resolver,
    **options: Any,
) -> httpx2.AsyncClient:
    pin = Pin(url, allow_private=allow_private, resolver=resolver)
    inner = httpx2.AsyncHTTPTransport(verify=certificates(pin, verify), limits=limits(connections))
    return httpx2.AsyncClient(
        transport=AsyncGuardedTransport(pin, inner),
        timeout=timeout,
        headers=HEADERS,
        trust_env=False,
        follow_redirects=False,
        **options,
    )


def certificates(pin: Pin, verify: ssl.SSLContext | bool) -> ssl.SSLContext | bool:
    """Without TLS there is nobody to trust, and the list of who is trusted is long to load."""
    plain = pin.url.scheme == "http"
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else verify


def limits(connections: int) -> httpx2.Limits:
    return httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
