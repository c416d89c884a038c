"""Real processes for tests: `manage.py` commands on a data directory of their own.

Without DATABASE_URL and REDIS_URL a site is SQLite in its directory. With them it is a database
that is made for the test, and a numbered space of that Redis that nothing else uses.

Tests that start many processes come one after the other, in two groups: `processes` those of the
site, `jobs` what becomes of work that is killed. More at once would only slow each other down; one
group would be what the whole suite waits for.
"""

import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import psycopg
import redis

from glossary_site.env import ROOT
from tests.spaces import redis_space, worker_number

# Long, because it is only reached when something is broken or the machine is very busy.
PATIENCE = 60.0
# From the first numbered space that the suite itself uses (each test process has the next) to the
# one for the processes of the first test process (each has the one before).
REDIS_DISTANCE = 14
QUEUE_KEYS = ("django_q:glossary:q", "django_q:glossary-long:q")


def wait_for(what: str, look: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """The first true answer; fails with `what` when there is none in time."""
    deadline = time.monotonic() + seconds
    while not (answer := look()):
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(0.05)
    return answer


def gone(processes: list[psutil.Process]) -> bool:
    return not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in processes)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Running:
    """A command that was started; everything it writes is collected."""

    def __init__(self, arguments: list[str], environment: dict[str, str]) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by end()
        self.process = subprocess.Popen(
            arguments,
            env=environment,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def output(self) -> str:
        # Reading must not move the place at which the processes write.
        return os.pread(self._log.fileno(), 10_000_000, 0).decode()

    def wait_for_output(self, text: str, times: int = 1) -> None:
        def look() -> bool:
            if self.output.count(text) >= times:
                return True
            assert self.process.poll() is None, f"ended before {text!r}:\n{self.output}"
            return False

        wait_for(f"{text!r} in the output", look)

    def descendants(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait(self, seconds: float = PATIENCE) -> int:
        return self.process.wait(seconds)

    def end(self) -> None:
        left = self.descendants()
        self.process.kill()
        self.process.wait()
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._log.close()


class Shell:
    """A process with a site's settings that runs code for tests: to start one each time would take
    longer than most tests."""

    PROGRAM = """
import contextlib, io, json, sys, traceback
import django
django.setup()
from django.db import connections
for line in sys.stdin:
    output, error = io.StringIO(), ""
    try:
        with contextlib.redirect_stdout(output):
            exec(json.loads(line), {})
    except Exception:
        error = traceback.format_exc()
    connections.close_all()
    print(json.dumps([output.getvalue().strip(), error]), flush=True)
"""

    def __init__(self, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", self.PROGRAM],
            env=environment,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, code: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(code) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the shell of the site has ended"
        output, error = json.loads(answer)
        assert not error, error
        return output

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


class Site:
    """A data directory, the environment that goes with it, and what was started there."""

    def __init__(self, directory: Path, **environment: str) -> None:
        self.directory = directory
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("GLOSSARY_")},
            "DJANGO_SETTINGS_MODULE": "glossary_site.settings",
            "GLOSSARY_DATA_DIR": str(directory),
            "GLOSSARY_LANGUAGE": "en",
            # Empty and not missing: a developer's .env file must not fill the gap.
            "DATABASE_URL": "",
            "REDIS_URL": "",
            # Dozens of processes would each compile the whole site.
            "PYTHONDONTWRITEBYTECODE": "",
            **environment,
        }
        self._started: list[Running] = []
        self._shell: Shell | None = None

    def command(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            env={**self.environment, **environment},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def start(self, *arguments: str, **environment: str) -> Running:
        if arguments[0] == "worker":
            # As `serve` sets it: without, the command starts itself over with it.
            environment = {"GLOSSARY_ROLE": "worker", **environment}
        running = Running(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            {**self.environment, **environment},
        )
        self._started.append(running)
        return running

    def ask(self, code: str) -> str:
        """What Python code prints when it runs with this site's settings."""
        if self._shell is None:
            self._shell = Shell(self.environment)
        return self._shell.ask(code)

    def send_tasks(self, *calls: tuple, cluster: str = "glossary") -> None:
        """Put tasks into a queue, each a function's name and its arguments."""
        self.ask(
            "from django_q.tasks import async_task\n"
            + "\n".join(f"async_task(*{call!r}, cluster={cluster!r})" for call in calls)
        )

    def waiting_tasks(self, cluster: str) -> int:
        """How many are in a queue and in nobody's hand."""
        return int(
            self.ask(
                "from django_q.brokers import get_broker\n"
                f"print(get_broker({cluster!r}).queue_size())"
            )
        )

    def end(self) -> None:
        """Kill what a failed test has left behind."""
        while self._started:
            running = self._started.pop()
            running.end()

    def close(self) -> None:
        self.end()
        if self._shell is not None:
            self._shell.end()


@contextmanager
def empty_site(directory: Path, **environment: str) -> Iterator[Site]:
    """A site that nobody has started yet."""
    with scratch_servers() as servers:
        site = Site(directory, **servers, **environment)
        try:
            yield site
        finally:
            site.close()


@contextmanager
def migrated_site(directory: Path, **environment: str) -> Iterator[Site]:
    """A site with empty tables: a copy, since to migrate takes longer than most tests."""
    model = migrated_model()
    with scratch_servers(template=model.database) as servers:
        shutil.copytree(model.directory, directory)
        site = Site(directory, **servers, **environment)
        try:
            yield site
        finally:
            site.close()


@dataclass(frozen=True)
class Model:
    """What `migrate` leaves behind: a data directory, and the name of a database on a server."""

    directory: Path
    database: str


@cache
def migrated_model() -> Model:
    """One in this test process, gone when it ends."""
    lasting = ExitStack()
    atexit.register(lasting.close)
    directory = Path(lasting.enter_context(tempfile.TemporaryDirectory(prefix="glossary-model-")))
    servers = lasting.enter_context(scratch_servers())
    migrated = Site(directory, **servers).command("migrate", "-v0", "--skip-checks")
    assert migrated.returncode == 0, migrated.stderr
    return Model(directory, urlsplit(servers.get("DATABASE_URL", "")).path.strip("/"))


@contextmanager
def scratch_servers(*, template: str = "") -> Iterator[dict[str, str]]:
    """Addresses for one test of the servers that the suite runs on, if it does."""
    servers = {}
    if shared := os.environ.get("TESTS_REDIS_URL"):
        servers["REDIS_URL"] = redis_space(shared, REDIS_DISTANCE - worker_number())
        with redis.from_url(servers["REDIS_URL"]) as connection:
            connection.delete(*QUEUE_KEYS)
    database = os.environ.get("DATABASE_URL", "")
    if not database.startswith("postgres"):
        yield servers
        return
    name = f"glossary_processes_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template or 'template1'}")
        try:
            yield {**servers, "DATABASE_URL": urlsplit(database)._replace(path=f"/{name}").geturl()}
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
