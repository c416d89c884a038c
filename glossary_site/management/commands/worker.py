"""Run the background workers, watched: they come back when they die and when they hang."""

import socket
from argparse import SUPPRESS, ArgumentParser
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from glossary_site.jobs.keeper import main as keeper_main
from glossary_site.jobs.pulse import watch_spawns
from glossary_site.jobs.registry import discover
from glossary_site.jobs.services.built_in import ensure_definitions
from glossary_site.llm.providers import models_are_asked
from glossary_site.management.base import SiteCommand
from glossary_site.processes.broker import BrokerUnreachable, reachable_broker
from glossary_site.processes.cluster import run_cluster
from glossary_site.processes.companions import run_companion
from glossary_site.processes.heartbeat import Marks
from glossary_site.processes.keeping import KEEPER, run_keeper
from glossary_site.processes.lanes import lanes
from glossary_site.processes.locks import own_directory
from glossary_site.processes.preparation import (
    prepare_data_directory,
    prepare_secret_key,
    require_migrated,
    start_over,
)
from glossary_site.processes.stopping import StopSignals
from glossary_site.processes.watchdog import StartFailed, Ward, Watchdog

ROLE = "worker"


class Command(SiteCommand):
    help = "Run the background workers until stopped, and start them again when they die or hang."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--lane",
            choices=sorted(settings.LANES),
            help="work of this kind only, so that a host can be given to long work; default: all",
        )
        # How `serve` learns that the workers are up.
        parser.add_argument("--ready-file", type=Path, help=SUPPRESS)

    def handle(self, *args: Any, lane: str | None, ready_file: Path | None, **options: Any) -> None:
        directory = prepare_data_directory()
        prepare_secret_key(directory)
        if settings.ROLE != ROLE:
            start_over(GLOSSARY_ROLE=ROLE)
        stop = StopSignals()
        require_migrated()
        ensure_definitions()
        try:
            reachable_broker()
        except BrokerUnreachable as error:
            raise CommandError(str(error)) from error

        def tell_ready() -> None:
            if ready_file:
                ready_file.touch()

        load_before_forking()
        with own_directory(directory / "run", "worker-") as own:
            watchdog = Watchdog(wards(own, lane), stop=stop, on_ready=tell_ready)
            try:
                watchdog.run()
            except StartFailed as error:
                raise CommandError(str(error)) from error


def load_before_forking() -> None:
    """What is loaded once is shared by all processes of the worker."""
    discover()
    import_module("jsonschema")
    if models_are_asked():
        import_module("openai")


def wards(directory: Path, only: str | None) -> list[Ward]:
    """The processes of one worker: a cluster for each lane, or for the chosen one, the keeper, and
    its companions. Their marks are in the worker's own directory, after which it is named."""
    node = f"{socket.gethostname()}/{directory.name}"
    chosen = [lane for lane in lanes() if only in (None, lane.name)]
    marks = {lane.name: Marks(directory / lane.name) for lane in chosen}
    clusters = [
        Ward(
            f"{lane.name} cluster",
            main=partial(
                run_cluster, node=node, lane=lane, marks=marks[lane.name], prepare=[watch_spawns]
            ),
            marks=marks[lane.name],
            hang_seconds=settings.WORKER_HANG_SECONDS,
            workers=lane.workers,
        )
        for lane in chosen
    ]
    own = Marks(directory / KEEPER)
    keeper = Ward(
        KEEPER,
        main=partial(run_keeper, main=keeper_main, node=node, marks=own, lanes=marks),
        marks=own,
        hang_seconds=settings.WORKER_HANG_SECONDS,
    )
    return [*clusters, keeper, *(companion(name, directory, node) for name in settings.COMPANIONS)]


def companion(name: str, directory: Path, node: str) -> Ward:
    marks = Marks(directory / name)
    return Ward(
        name,
        main=partial(
            run_companion, name=name, main=settings.COMPANIONS[name], node=node, marks=marks
        ),
        marks=marks,
        hang_seconds=settings.WORKER_HANG_SECONDS,
    )
