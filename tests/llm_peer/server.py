"""The server: its parts put together, and the loop that answers connections."""

import asyncio
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.llm_peer.answers import Model, Script
from tests.llm_peer.api import Api
from tests.llm_peer.batch import Plan
from tests.llm_peer.batches import Batches
from tests.llm_peer.control import Control
from tests.llm_peer.faults import Fault, Faults, error
from tests.llm_peer.files import Files
from tests.llm_peer.ledger import ABANDONED, MODEL_PATHS, Entry, Ledger, LedgerReader, plain
from tests.llm_peer.wire import Request, Response, encode, json_response, read_request

# Bodies of uploads are large and are in the ledger line by line once they are executed.
KEPT_OF_AN_UPLOAD = 200

BATCH_SETTINGS = {
    "batch_seconds": "seconds",
    "most_requests_in_a_batch": "most_requests",
    "batch_bodies_as_strings": "bodies_as_strings",
    "empty_error_files": "empty_error_files",
}


class Server:
    """The peer within this process. Everything but `serve` may be called from any thread."""

    def __init__(
        self,
        *,
        ledger: Path,
        delay: float = 0.0,
        answers: Script | None = None,
        api_key: str | None = None,
        batch_seconds: float | None = None,
    ) -> None:
        self.delay = delay
        self.faults = Faults()
        self.model = Model(answers)
        self.files = Files()
        self.batches = Batches(faults=self.faults, files=self.files, seconds=batch_seconds)
        self.api = Api(model=self.model, files=self.files, batches=self.batches, api_key=api_key)
        self.ledger = LedgerReader(ledger)
        self.address = ""
        self._book = Ledger(ledger)
        self.batches.connect(perform=self.api.perform, ledger=self._book)
        self._control = Control(self)
        self._now = self._most = 0
        # How many there were so far.
        self.connections = 0
        self._started = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    @property
    def base_url(self) -> str:
        """What a client is configured with."""
        return f"{self.address}/v1"

    @property
    def requests(self) -> list[Entry]:
        """Every request to a model so far, in order of arrival, batched ones included."""
        return [entry for entry in self.ledger.entries() if entry.path in MODEL_PATHS]

    @property
    def most_at_once(self) -> int:
        """How many requests to a model were being answered at the same time, at most."""
        return self._most

    def status(self) -> dict[str, Any]:
        """What another process may want to know at a glance."""
        return {
            "address": self.address,
            "ledger": str(self.ledger.path),
            "delay": self.delay,
            "most_at_once": self.most_at_once,
            "outcomes": dict(self.ledger.outcomes()),
            "faults": self.faults.listed(),
        }

    def configure(self, **settings: Any) -> None:
        """The same by name, for what comes over HTTP."""
        for name, value in settings.items():
            if name == "answers":
                self.script(value)
            elif name == "delay":
                self.delay = value
            elif name in {"api_key", "models", "most_inputs", "dimensions"}:
                setattr(self.api, name, value)
            elif name in BATCH_SETTINGS:
                setattr(self.batches, BATCH_SETTINGS[name], value)
            elif name == "most_bytes_in_a_file":
                self.files.most_bytes = value
            else:
                raise ValueError(f"There is no setting {name!r}.")

    def script(self, answers: Script | None) -> None:
        """What to say from now on; see `Model`."""
        self.model.script(answers)

    def plan_batch(self, ending: str, *, after: int = 0, message: str = "") -> None:
        """The next batch created will be completed, expired (after so many lines) or failed."""
        self.batches.plan(Plan(ending, after, message or Plan.message))

    def advance_batches(self) -> None:
        """One step for each: validating, in_progress, finalizing, completed."""
        self.batches.advance()

    def work_on_batches(self, lines: int) -> None:
        self.batches.work(lines)

    def finish_batches(self) -> None:
        self.batches.finish()

    def expire_batches(self, *, after: int = 0) -> None:
        self.batches.expire(after=after)

    def fail_batches(self, message: str = Plan.message) -> None:
        self.batches.fail(message)

    async def serve(self, port: int = 0) -> None:
        """Answer until `stop` is called."""
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        connections: set[asyncio.Task[None]] = set()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            task = asyncio.ensure_future(self._connection(reader, writer))
            connections.add(task)
            task.add_done_callback(connections.discard)

        listener = await asyncio.start_server(accept, "127.0.0.1", port, backlog=1024)
        self.address = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        clock = asyncio.ensure_future(self.batches.tick())
        self._started.set()
        try:
            await self._stop.wait()
        finally:
            listener.close()
            for task in (clock, *connections):
                task.cancel()
            await asyncio.gather(clock, *connections, return_exceptions=True)
            await listener.wait_closed()
            self._book.close()

    def wait_until_started(self) -> None:
        assert self._started.wait(10), "The test peer did not start."

    def stop(self) -> None:
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await read_request(reader):
                if not await self._exchange(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, ValueError):
            pass  # gone in the middle of a request, or not speaking HTTP
        finally:
            # Closing alone would leave it open in any process forked from this one meanwhile.
            with suppress(OSError):
                writer.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _exchange(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request; False when the connection must not be used again."""
        if request.path.startswith("/control/"):
            return await _send(writer, self._control.handle(request))
        # Some providers serve the same API below a prefix.
        path = request.path[max(0, request.path.find("/v1/")) :]
        kept = KEPT_OF_AN_UPLOAD if path == "/v1/files" else None
        entry = self._book.open_entry(request.method, path, plain(request.body[:kept]))
        if path not in MODEL_PATHS:
            return await self._answer(request, path, entry, reader, writer)
        self._now += 1
        self._most = max(self._most, self._now)
        try:
            return await self._answer(request, path, entry, reader, writer)
        finally:
            self._now -= 1

    async def _answer(
        self,
        request: Request,
        path: str,
        entry: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        fault = self.faults.pick(path, plain(request.body))
        pause = self.delay if path in MODEL_PATHS else 0.0
        if fault:
            pause += fault.delay
        if pause:
            await asyncio.sleep(pause)
        if fault and fault.kind == "hold":
            while fault in self.faults and not _gone(reader, writer):
                await asyncio.sleep(0.01)
        response, charged = self._work(request, path, fault)
        gone = _gone(reader, writer)
        lost = fault.kind if fault and fault.loses else ""
        outcome = ABANDONED if gone else lost or str(response.status)
        self._book.close_entry(entry, outcome, charged=charged)
        if lost:
            return await _lose(lost, reader, writer, response)
        return await _send(writer, response)

    def _work(self, request: Request, path: str, fault: Fault | None) -> tuple[Response, bool]:
        """The answer, and whether a provider would want money for it."""
        refusal = fault.response() if fault and fault.refuses else None
        if refusal and fault and not fault.worked:
            return refusal, False
        try:
            response = self.api.handle(request, path, fault)
        except Exception as problem:
            # A script that raises, or a request nobody thought of: said aloud, not swallowed.
            response = json_response(500, error("peer_broke", repr(problem)))
        charged = path in MODEL_PATHS and response.status == 200
        return refusal or response, charged


def _gone(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Whether the client has closed the connection; a killed one has, too."""
    return reader.at_eof() or writer.is_closing()


async def _send(writer: asyncio.StreamWriter, response: Response) -> bool:
    head, body = encode(response)
    writer.write(head + body)
    await writer.drain()
    return True


async def _lose(
    kind: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, response: Response
) -> bool:
    head, body = encode(response)
    if kind == "hang":
        # Until the client loses its patience and closes the connection.
        await reader.read()
    elif kind == "cut_midway":
        writer.write(head + body[: len(body) // 2])
        await writer.drain()
    elif kind != "cut_before":
        spoilt = b"" if kind == "empty_body" else b'{"id": "chatcmpl-1", "choices": [{'
        return await _send(writer, Response(response.status, spoilt, response.headers))
    return False
