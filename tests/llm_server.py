"""A small OpenAI-compatible server on loopback, for tests and benchmarks.

In this process, with its own thread:

    with running_server(delay=0.2) as server:
        client = OpenAI(base_url=server.base_url, api_key="any")

In a process of its own, controlled over HTTP:

    with server_process(ledger=path, delay=0.2) as server: ...

    python -m tests.llm_server --port 0 --ledger seen.sqlite3 --delay 0.2

Both give the same names: `base_url`, `faults.add("rate_limit", times=3, retry_after=1)`,
`script({...})`, `advance_batches()`, `requests`, `ledger.charged()`, `most_at_once`.
"""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.llm_peer import glossary
from tests.llm_peer.answers import Answer, Script
from tests.llm_peer.control import RemoteServer
from tests.llm_peer.faults import Fault
from tests.llm_peer.ledger import CHAT, EMBEDDINGS, Entry, LedgerReader, fingerprint
from tests.llm_peer.server import Server

__all__ = [
    "CHAT",
    "EMBEDDINGS",
    "Answer",
    "Entry",
    "Fault",
    "LedgerReader",
    "RemoteServer",
    "Script",
    "Server",
    "fingerprint",
    "running_server",
    "server_process",
]


@contextmanager
def running_server(*, ledger: Path | None = None, **options: Any) -> Iterator[Server]:
    """A server in a thread of this process; the options are those of `Server`."""
    with tempfile.TemporaryDirectory(prefix="llm-peer-") as directory:
        server = Server(ledger=ledger or Path(directory) / "ledger.sqlite3", **options)
        thread = threading.Thread(target=asyncio.run, args=(server.serve(),), daemon=True)
        thread.start()
        server.wait_until_started()
        try:
            yield server
        finally:
            server.stop()
            thread.join(10)


@contextmanager
def server_process(*, ledger: Path, **options: Any) -> Iterator[RemoteServer]:
    """A server in a process of its own; the options are those of the command line."""
    arguments = [
        f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}")
        for name, value in options.items()
    ]
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.llm_server",
            f"--ledger={ledger}",
            "--with-parent",
            *arguments,
        ],
        cwd=Path(__file__).resolve().parent.parent,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, "The test peer did not start."
        yield RemoteServer(address)
    finally:
        process.terminate()
        process.communicate(timeout=10)


async def _stop_with(parent: int, server: Server) -> None:
    """Whoever started it may be killed; it must not stay behind then."""
    while os.getppid() == parent:
        await asyncio.sleep(0.5)
    server.stop()


async def _serve_until_signalled(server: Server, port: int, *, with_parent: bool) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.stop)
    serving = asyncio.ensure_future(server.serve(port))
    await asyncio.to_thread(server.wait_until_started)
    print(server.address, flush=True)  # noqa: T201
    watching = asyncio.ensure_future(_stop_with(os.getppid(), server)) if with_parent else None
    await serving
    if watching:
        watching.cancel()


def main() -> None:
    parser = argparse.ArgumentParser(description="An OpenAI-compatible server for tests.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--ledger", type=Path, required=True, help="a SQLite file, made if missing")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--api-key", help="refuse any other")
    parser.add_argument("--batch-seconds", type=float, help="batches complete by time, in so long")
    parser.add_argument("--glossary", action="store_true", help="answer what the pipeline asks")
    parser.add_argument("--with-parent", action="store_true", help="end when the starter does")
    options = vars(parser.parse_args())
    port, with_parent = options.pop("port"), options.pop("with_parent")
    if options.pop("glossary"):
        options["answers"] = glossary.answer
    asyncio.run(_serve_until_signalled(Server(**options), port, with_parent=with_parent))


if __name__ == "__main__":
    main()
