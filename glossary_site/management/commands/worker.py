"""Run the background workers, watched: they come back when they die and when they hang."""

from argparse import SUPPRESS, ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from glossary_site.processes.cluster import BrokerUnreachable, reachable_broker
from glossary_site.processes.heartbeat import Marks
from glossary_site.processes.locks import own_directory
from glossary_site.processes.preparation import (
    prepare_data_directory,
    prepare_secret_key,
    require_migrated,
    start_over,
)
from glossary_site.processes.schedules import ensure_schedules
from glossary_site.processes.stopping import StopSignals
from glossary_site.processes.watchdog import ClusterFailed, Watchdog

ROLE = "worker"


class Command(BaseCommand):
    help = "Run the background workers until stopped, and start them again when they die or hang."
    # The web process finds what is wrong with pages; a worker should be there quickly.
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        # How `serve` learns that the workers are up.
        parser.add_argument("--ready-file", type=Path, help=SUPPRESS)

    def handle(self, *args: Any, ready_file: Path | None, **options: Any) -> None:
        directory = prepare_data_directory()
        prepare_secret_key(directory)
        if settings.ROLE != ROLE:
            start_over(GLOSSARY_ROLE=ROLE)
        stop = StopSignals()
        require_migrated()
        ensure_schedules()
        try:
            reachable_broker()
        except BrokerUnreachable as error:
            raise CommandError(str(error)) from error

        def tell_ready() -> None:
            if ready_file:
                ready_file.touch()

        with own_directory(directory / "run", "worker-") as own:
            watchdog = Watchdog(
                marks=Marks(own / "marks"),
                stop=stop,
                hang_seconds=settings.WORKER_HANG_SECONDS,
                workers=settings.WORKERS,
                on_ready=tell_ready,
            )
            try:
                watchdog.run()
            except ClusterFailed as error:
                raise CommandError(str(error)) from error
