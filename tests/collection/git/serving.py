"""A small real git server on loopback, by git's own http-backend."""

import base64
import os
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.collection.git.building import ENVIRONMENT, text


@dataclass
class Server:
    root: Path
    port: int = 0
    # "name:token" that is asked for; empty: everybody may read.
    account: str = ""
    # Answers of its own, by the beginning of the path: status and headers.
    answers: dict[str, tuple[int, dict[str, str]]] = field(default_factory=dict)
    # To all but git, answers go on until this is set.
    endless_until: threading.Event | None = None
    # (path, account) of each request.
    seen: list[tuple[str, str]] = field(default_factory=list)
    # Called in the middle of a request that may go on.
    meanwhile: Callable[[], None] = lambda: None

    def url(self, path: str = "one.git", *, host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}/{path}"


@contextmanager
def serving(root: Path, *, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    served = Server(root)
    backend = Path(text(root, "--exec-path"), "git-http-backend")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            account = self.headers.get("Authorization", "").removeprefix("Basic ")
            account = base64.b64decode(account).decode()
            path, _mark, query = self.path.partition("?")
            served.seen.append((path, account))
            for beginning, (status, headers) in served.answers.items():
                if path.startswith(beginning):
                    return self.say(status, headers, b"<html>\n<body>Elsewhere</body>\n")
            if served.account and account != served.account:
                return self.say(401, {"WWW-Authenticate": 'Basic realm="git"'})
            served.meanwhile()
            done = subprocess.run(
                [str(backend)],
                input=body,
                capture_output=True,
                env={
                    **ENVIRONMENT,
                    "GIT_PROJECT_ROOT": str(served.root),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "REQUEST_METHOD": self.command,
                    "PATH_INFO": path,
                    "QUERY_STRING": query,
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "CONTENT_LENGTH": str(len(body)),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                },
            )
            head, _blank, rest = done.stdout.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            status = int(headers.pop("Status", "200 OK").split()[0])
            return self.say(status, headers, rest)

        def say(self, status, headers, body=b""):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            until = served.endless_until
            if until is not None and not self.headers["User-Agent"].startswith("git/"):
                self.end_headers()
                while not until.wait(0.01):
                    self.wfile.write(b"more")
                self.close_connection = True
                return
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer

        def log_message(self, *args):
            pass

    class Listening(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request, client_address):
            """A client that leaves early is no news here."""

    server = Listening(("127.0.0.1", 0), Handler)
    served.port = server.server_port
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def silence() -> Iterator[int]:
    """A port where somebody takes the call and says nothing."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(8)
        yield listening.getsockname()[1]


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def leading_to(monkeypatch, **addresses: str) -> None:
    """Names that only this process can look up, and what they lead to."""
    real = socket.getaddrinfo
    names = {name.replace("_", "."): address for name, address in addresses.items()}

    def getaddrinfo(host, port, *arguments, **options):
        return real(names.get(host, host), port, *arguments, **options)

    monkeypatch.setattr("glossary_site.outbound.guard.socket.getaddrinfo", getaddrinfo)


def environment_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes() + Path(f"/proc/{pid}/cmdline").read_bytes()


def processes_below(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            state, parent = stat.rpartition(")")[2].split()[:2]
            if int(parent) == pid and state != "Z":
                found += [int(entry.name), *processes_below(int(entry.name))]
    return found


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z" and os.path.exists(f"/proc/{pid}")
