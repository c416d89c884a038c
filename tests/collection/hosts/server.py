"""A real HTTP server on loopback that speaks like GitLab's or GitHub's API about a real git
repository:

    with gitlab_server(path) as url:      # the address of the project, as a person would type it
        ...
        url.server.seen                   # what it was asked
        url.server.faults.append(Fault(503, times=1))

Loopback has to be open for the site:

    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["127.0.0.1"])
"""

import json
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.collection.hosts import github_api, gitlab_api
from tests.collection.hosts.answers import Asked, Reply
from tests.collection.hosts.git import GitRepository


@dataclass
class Fault:
    """What is answered instead, so many times, to the requests whose path contains `where`."""

    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"{}"
    times: int = 1
    where: str = ""
    seconds: float = 0


@dataclass
class HostServer:
    repository: GitRepository
    project: str
    # Who does not show it is told that there is nothing.
    token: str = ""
    # Names that the project had before: they lead to its number.
    former: tuple[str, ...] = ()
    # How many requests there may be; None: as many as one likes.
    limit: int | None = None
    reset_seconds: int = 3600
    # Commits that are no longer there, although git still has them.
    forgotten: set[str] = field(default_factory=set)
    # Trees of more entries are cut (GitHub).
    tree_limit: int = 100_000
    faults: list[Fault] = field(default_factory=list)
    seen: list[Asked] = field(default_factory=list)
    # What went wrong in here, and not in what is tested.
    mistakes: list[str] = field(default_factory=list)
    origin: str = ""
    number: int = 4711

    def knows(self, *shas: str) -> bool:
        return all(sha not in self.forgotten and self.repository.knows(sha) for sha in shas)

    def paths(self) -> list[str]:
        return [asked.path for asked in self.seen]

    def fault(self, asked: Asked) -> Fault | None:
        for fault in self.faults:
            if fault.times > 0 and fault.where in asked.path:
                fault.times -= 1
                return fault
        return None


class ServedUrl(str):
    """The address, and the server behind it."""

    server: HostServer


Api = Callable[[HostServer, Asked], Reply]


@contextmanager
def gitlab_server(
    path: Path | GitRepository, *, project: str = "docs/handbook", **options: Any
) -> Iterator[ServedUrl]:
    with serving(gitlab_api.answer, path, project=project, **options) as url:
        yield url


@contextmanager
def github_server(
    path: Path | GitRepository, *, project: str = "docs/handbook", **options: Any
) -> Iterator[ServedUrl]:
    with serving(github_api.answer, path, project=project, **options) as url:
        yield url


@contextmanager
def serving(
    api: Api, path: Path | GitRepository, *, project: str, **options: Any
) -> Iterator[ServedUrl]:
    repository = path if isinstance(path, GitRepository) else GitRepository(path)
    host = HostServer(repository, project, **options)
    web = _Web(("127.0.0.1", 0), _handler(api, host))
    host.origin = f"http://127.0.0.1:{web.server_address[1]}"
    thread = threading.Thread(target=web.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    url = ServedUrl(f"{host.origin}/{project}")
    url.server = host
    try:
        yield url
    finally:
        web.shutdown()
        web.server_close()
        thread.join(5)
        assert not host.mistakes, host.mistakes[0]


class _Web(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who asked may go away in the middle of an answer."""


def _handler(api: Api, host: HostServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # An answer in one piece: in two, the second would wait for the first to be acknowledged.
        wbufsize = 2**20

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            parts = urlsplit(self.path)
            asked = Asked(
                self.command,
                parts.path,
                parse_qsl(parts.query, keep_blank_values=True),
                dict(self.headers),
                body,
            )
            host.seen.append(asked)
            fault = host.fault(asked)
            if fault is not None:
                time.sleep(fault.seconds)
                self._send(Reply(fault.status, fault.body, fault.headers))
            elif host.limit is not None and len(host.seen) > host.limit:
                refused = {"message": "API rate limit exceeded for 127.0.0.1."}
                self._send(Reply(403, json.dumps(refused).encode()))
            else:
                self._send(self._from_api(asked))

        def _from_api(self, asked: Asked) -> Reply:
            try:
                return api(host, asked)
            except Exception:
                host.mistakes.append(traceback.format_exc())
                return Reply(500, b"{}")

        def _send(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in {**self._limits(), **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def _limits(self) -> dict[str, str]:
            if host.limit is None:
                return {}
            return {
                "X-RateLimit-Limit": str(host.limit),
                "X-RateLimit-Remaining": str(max(0, host.limit - len(host.seen))),
                "X-RateLimit-Reset": str(int(time.time()) + host.reset_seconds),
            }

        do_GET = do_POST = _answer

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
