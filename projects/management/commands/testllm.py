"""Ask the language model for an answer, and say in words what is wrong."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from glossary_site.llm.connection import Outcome, test_connection
from glossary_site.llm.providers import SITE, provider_for
from glossary_site.management.base import SiteCommand
from projects.access import OPERATOR
from projects.management.targets import project_named

MARKS = {Outcome.OK: "✓", Outcome.NOTE: "!", Outcome.FAILED: "✗"}


class Command(SiteCommand):
    help = "Test the connection to the language model of the site, or of one project."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--project", type=int, metavar="ID", help="the provider that this project uses"
        )

    def handle(self, *args: Any, project: int | None, **options: Any) -> None:
        config = provider_for(SITE if project is None else scope_of(project))
        self.stdout.write(
            _("%(kind)s %(model)s (chosen by: %(origin)s)")
            % {"kind": config.kind.label, "model": config.model, "origin": config.origin.value}
        )
        report = test_connection(config)
        for step in report.steps:
            self.stdout.write(f"{MARKS[step.outcome]} {step.title}: {step.detail}")
        if not report.ok:
            raise CommandError(_("The connection does not work."))


def scope_of(project_id: int) -> str:
    return project_named(str(project_id), OPERATOR).stream
