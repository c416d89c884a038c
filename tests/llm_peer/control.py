"""Control over HTTP, for a test or benchmark that runs in another process than the peer."""

import json
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tests.llm_peer.batch import Plan
from tests.llm_peer.ledger import MODEL_PATHS, Entry, LedgerReader
from tests.llm_peer.wire import Request, Response, json_response

if TYPE_CHECKING:
    from tests.llm_peer.server import Server


class Control:
    """The server's end.

    GET    /control/status     counts, faults, settings
    POST   /control/settings   delay, api_key, models, answers, and how batches behave
    POST   /control/faults     arm one: {"kind": "rate_limit", "times": 3, "retry_after": 1}
    DELETE /control/faults     disarm all
    POST   /control/batches    {"do": "advance" | "finish" | "expire" | "fail" | …}
    """

    def __init__(self, server: "Server") -> None:
        self._server = server

    def handle(self, request: Request) -> Response:
        body = request.json() if request.body else {}
        try:
            content = self._do(request.method, request.path.removeprefix("/control/"), body)
        except (TypeError, ValueError, LookupError) as error:
            return json_response(400, {"error": str(error)})
        return json_response(200, content)

    def _do(self, method: str, name: str, body: dict[str, Any]) -> Any:
        server = self._server
        if (method, name) == ("GET", "status"):
            return server.status()
        if (method, name) == ("POST", "settings"):
            server.configure(**body)
        elif (method, name) == ("POST", "faults"):
            server.faults.add(**body)
        elif (method, name) == ("DELETE", "faults"):
            server.faults.clear()
        elif (method, name) == ("POST", "batches"):
            self._move_batches(**body)
        else:
            raise LookupError(f"There is no {method} /control/{name}.")
        return {}

    def _move_batches(self, do: str, **options: Any) -> None:
        moves: dict[str, Callable[..., None]] = {
            "plan": self._server.plan_batch,
            "advance": self._server.advance_batches,
            "work": self._server.work_on_batches,
            "finish": self._server.finish_batches,
            "expire": self._server.expire_batches,
            "fail": self._server.fail_batches,
        }
        moves[do](**options)


class RemoteFaults:
    def __init__(self, server: "RemoteServer") -> None:
        self._server = server

    def add(self, kind: str, **conditions: Any) -> None:
        self._server.call("POST", "faults", {"kind": kind, **conditions})

    def clear(self) -> None:
        self._server.call("DELETE", "faults")

    def listed(self) -> list[dict[str, Any]]:
        return self._server.status()["faults"]


class RemoteServer:
    """The same server seen from another process, with the same names."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self.faults = RemoteFaults(self)
        self.ledger = LedgerReader(str(self.status()["ledger"]))

    @property
    def base_url(self) -> str:
        return f"{self.address}/v1"

    @property
    def requests(self) -> list[Entry]:
        return [entry for entry in self.ledger.entries() if entry.path in MODEL_PATHS]

    @property
    def most_at_once(self) -> int:
        return self.status()["most_at_once"]

    def status(self) -> dict[str, Any]:
        return self.call("GET", "status")

    def configure(self, **settings: Any) -> None:
        self.call("POST", "settings", settings)

    def script(self, answers: Mapping[str, Any] | Sequence[Any] | None) -> None:
        self.configure(answers=answers)

    def plan_batch(self, ending: str, *, after: int = 0, message: str = "") -> None:
        self._move("plan", ending=ending, after=after, message=message)

    def advance_batches(self) -> None:
        self._move("advance")

    def work_on_batches(self, lines: int) -> None:
        self._move("work", lines=lines)

    def finish_batches(self) -> None:
        self._move("finish")

    def expire_batches(self, *, after: int = 0) -> None:
        self._move("expire", after=after)

    def fail_batches(self, message: str = Plan.message) -> None:
        self._move("fail", message=message)

    def _move(self, do: str, **options: Any) -> None:
        self.call("POST", "batches", {"do": do, **options})

    def call(self, method: str, name: str, body: dict[str, Any] | None = None) -> Any:
        # A connection of its own each time: this must work whatever faults are in force, and
        # from any thread.
        connection = HTTPConnection(urlsplit(self.address).netloc, timeout=30)
        try:
            payload = None if body is None else json.dumps(body)
            connection.request(method, f"/control/{name}", body=payload)
            answer = connection.getresponse()
            content = json.loads(answer.read())
        finally:
            connection.close()
        if answer.status != 200:
            raise ValueError(content["error"])
        return content
