"""Load the sample project, on a site that was started without it or has deleted it."""

from argparse import ArgumentParser
from typing import Any

from django.utils.translation import gettext as _

from glossary_site.management.acting import add_actor_argument
from glossary_site.management.base import SiteCommand
from projects.management.acting import actor_named
from projects.sample.load import load_sample


class Command(SiteCommand):
    help = "Load the sample project."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_actor_argument(parser)

    def handle(self, *args: Any, username: str | None, **options: Any) -> None:
        project = load_sample(actor=actor_named(username))
        self.stdout.write(
            _("Loaded “%(name)s” with %(count)s documents.")
            % {"name": project.name, "count": project.documents.count()}
        )
