"""Run the whole site, web and workers, with one command."""

import gc
import sys
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connections, transaction
from django.utils.translation import gettext as _

from glossary_site.management.base import SiteCommand
from glossary_site.people.services import create_first_administrator
from glossary_site.processes.locks import try_lock
from glossary_site.processes.preparation import (
    migrate,
    prepare_data_directory,
    prepare_secret_key,
)
from glossary_site.processes.stopping import StopSignals
from glossary_site.processes.supervisor import ChildFailed, Program, Supervisor
from glossary_site.processes.web import Address, HealthCheck
from projects.models import Project
from projects.sample.load import load_sample

START_SECONDS = 60.0
LOCK_NAME = "serve.lock"
WORKER_IS_UP = "worker.up"


def port_number(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise ArgumentTypeError(f"{text} is not a port number (1 to 65535)")
    return int(text)


class Command(SiteCommand):
    help = "Run the site: web and background workers, started again when they die."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", type=port_number, default=8000, help="port to listen on")
        parser.add_argument(
            "--no-setup",
            action="store_true",
            help="leave the database as it is: no migration, no first administrator, no sample",
        )

    def handle(self, *args: Any, host: str, port: int, no_setup: bool, **options: Any) -> None:
        address = Address(host, port)
        directory = prepare_data_directory()
        with self._only_one(directory):
            prepare_secret_key(directory)
            stop = StopSignals()
            if not no_setup:
                migrate()
            address.require_free()
            # What is loaded stays to the end; looking through it once more would delay the exit.
            gc.freeze()
            try:
                self._run(address, stop, set_up=not no_setup)
            except ChildFailed as error:
                raise CommandError(str(error)) from error

    def _only_one(self, directory: Path) -> IO[str]:
        lock = try_lock(directory / LOCK_NAME)
        if lock is None:
            raise CommandError(
                _("The site is already running on the data directory %(directory)s.")
                % {"directory": directory}
            )
        return lock

    def _run(self, address: Address, stop: StopSignals, *, set_up: bool) -> None:
        worker_is_up = Path(settings.DATA_DIR) / WORKER_IS_UP
        worker_is_up.unlink(missing_ok=True)
        supervisor = Supervisor(_programs(address, worker_is_up), stop)

        health = HealthCheck(address)

        def is_ready() -> bool:
            return worker_is_up.exists() and health.passed()

        try:
            supervisor.start(is_ready, seconds=START_SECONDS)
            if not stop.asked:
                self._welcome(address, set_up=set_up)
                supervisor.watch()
        finally:
            supervisor.end()
            worker_is_up.unlink(missing_ok=True)

    def _welcome(self, address: Address, *, set_up: bool) -> None:
        # All or nothing, the line included: a start that is interrupted here has made nobody
        # whose password was never shown. The next one begins again.
        with transaction.atomic():
            administrator = _first_start() if set_up else None
            if administrator is None:
                sentence = _("Glossary Site is running at %(url)s — press Ctrl-C to stop")
                values = {"url": address.url}
            else:
                sentence = _(
                    "Glossary Site is running at %(url)s — sign in as %(user)s "
                    "with the password %(password)s (shown only once)"
                )
                user, password = administrator
                values = {"url": address.url, "user": user, "password": password}
            self.stdout.write(sentence % values)
            self.stdout.flush()
        connections.close_all()


def _first_start() -> tuple[str, str] | None:
    """On a site without people, make the first administrator and give them something to look at;
    returns the name and the password."""
    created = create_first_administrator()
    if created is None:
        return None
    user, password = created
    if not Project.objects.exists():
        load_sample(actor=user)
    return user.username, password


def _programs(address: Address, worker_is_up: Path) -> tuple[Program, Program]:
    root = Path(settings.BASE_DIR)
    listen = ["-b", address.host, "-p", str(address.port), "-v", "0"]
    web = Program(
        name="web process",
        command=[sys.executable, "-m", "daphne", *listen, "glossary_site.asgi:application"],
        # Under ASGI requests come and go on many threads. Left alone, the C library keeps memory
        # for each of them; with two pools the process stays a fifth smaller under uploads.
        environment={"GLOSSARY_ROLE": "web", "MALLOC_ARENA_MAX": "2"},
        directory=root,
    )
    manage = [sys.executable, str(root / "manage.py")]
    worker = Program(
        name="worker process",
        command=[*manage, "worker", "--ready-file", str(worker_is_up)],
        environment={"GLOSSARY_ROLE": "worker"},
        directory=root,
    )
    return web, worker
