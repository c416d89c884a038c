"""A throw-away copy of the site to measure: its own data directory, database and web process."""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parent.parent
# As `manage.py serve` starts it.
WEB = {"GLOSSARY_ROLE": "web", "MALLOC_ARENA_MAX": "2"}
SETUP = """
from glossary_site.people.models import User
from glossary_site.people.services import create_token
from projects.services.projects import create_project
user = User.objects.create_superuser("bench", password="bench")
project = create_project(actor=user, name="Bench")
print(project.pk, create_token(user=user, name="bench")[1])
"""


@dataclass
class Site:
    name: str
    environment: dict[str, str]
    port: int
    project_id: int
    token: str
    application: str = "glossary_site.asgi:application"
    web: subprocess.Popen | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start_web(self) -> None:
        command = [sys.executable, "-m", "daphne", "-v", "0", "-p", str(self.port)]
        self.web = subprocess.Popen(
            [*command, self.application], env={**self.environment, **WEB}, cwd=ROOT
        )
        wait_for(f"{self.url}/healthz")

    def stop_web(self, *, kill: bool = False) -> None:
        if self.web is not None:
            self.web.kill() if kill else self.web.terminate()
            self.web.wait()
            self.web = None

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            env=self.environment,
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        )


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def wait_for(url: str, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(url, timeout=2)
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


@contextmanager
def scratch_database(url: str) -> Iterator[str]:
    name = f"bench_{os.getpid()}_{time.monotonic_ns()}"
    base, _, _ = url.rpartition("/")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    try:
        yield f"{base}/{name}"
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def a_site(mode: str, **options: str) -> Iterator[Site]:
    """`embedded`, or `scaled` on the servers that DATABASE_URL and REDIS_URL name."""
    with tempfile.TemporaryDirectory(prefix="glossary-bench-") as directory:
        environment = {**os.environ, "GLOSSARY_DATA_DIR": directory}
        if mode == "embedded":
            for name in ("DATABASE_URL", "REDIS_URL"):
                environment.pop(name, None)
            with _prepared(mode, environment, options) as site:
                yield site
        else:
            with scratch_database(environment["DATABASE_URL"]) as url:
                environment["DATABASE_URL"] = url
                with _prepared(mode, environment, options) as site:
                    yield site


@contextmanager
def _prepared(mode: str, environment: dict[str, str], options: dict[str, str]) -> Iterator[Site]:
    site = Site(mode, environment, free_port(), 0, "", **options)
    site.manage("migrate", "--verbosity", "0")
    pk, site.token = site.manage("shell", "--verbosity", "0", "-c", SETUP).stdout.split()
    site.project_id = int(pk)
    try:
        yield site
    finally:
        site.stop_web()
