"""Let an assistant search and read documents, over standard input and output."""

import signal
from argparse import ArgumentParser
from functools import partial
from typing import Any

from glossary_site.management.acting import add_actor_argument
from glossary_site.management.base import SiteCommand
from indexing.mcp.server import make_server
from projects.management.acting import actor_named


class Command(SiteCommand):
    help = (
        "Speak the Model Context Protocol over standard input and output, so that an assistant can "
        "search and read the documents. It is started by the assistant; docs/mcp.md tells how."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_actor_argument(parser)

    def handle(self, *args: Any, username: str | None, **options: Any) -> None:
        # Said now, and not with the first question.
        actor_named(username)
        # It only reads, so it may end anywhere; Python's own way would wait for the next line.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        make_server(partial(actor_named, username)).run("stdio")
