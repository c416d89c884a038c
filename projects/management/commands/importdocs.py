"""Import a folder of documents into a project."""

import time
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from glossary_site.management.acting import add_actor_argument
from glossary_site.management.arguments import path_named
from glossary_site.management.base import USAGE, SiteCommand
from projects.access import Action, Actor
from projects.choices import Outcome
from projects.intake.files import Rejected
from projects.management.acting import actor_named
from projects.management.languages import take_language
from projects.management.targets import project_or_new
from projects.models import Project
from projects.services.imports import import_folder

EVERYTHING_REFUSED = 2
PROGRESS_SECONDS = 0.2


class Command(SiteCommand):
    help = (
        "Import the documents below a folder into a project. Files that are there already become "
        "new versions where their text differs. Links are not followed; hidden folders and what "
        "a .gitignore names are left out."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="name or id of the project")
        parser.add_argument("folder", metavar="DIR", type=path_named, help="folder to import")
        parser.add_argument(
            "--create",
            action="store_true",
            help="make the project if there is none of that name, in the language of the documents",
        )
        add_actor_argument(parser)

    def handle(
        self,
        *args: Any,
        project: str,
        folder: Path,
        create: bool,
        username: str | None,
        **options: Any,
    ) -> None:
        if not folder.is_dir():
            raise CommandError(_("%(path)s is not a folder.") % {"path": folder}, returncode=USAGE)
        actor = actor_named(username)
        target, is_new = project_or_new(project, actor, Action.EDIT, create=create)
        outcomes = self._import(target, folder, actor)
        if is_new:
            take_language(target, actor)
        self.stdout.write(
            _(
                "%(created)s created, %(updated)s updated, %(unchanged)s unchanged, "
                "%(refused)s refused"
            )
            % {outcome: outcomes[outcome] for outcome in Outcome}
        )
        if outcomes[Outcome.REFUSED] and outcomes[Outcome.REFUSED] == outcomes.total():
            raise CommandError(_("Every file was refused."), returncode=EVERYTHING_REFUSED)

    def _import(self, project: Project, folder: Path, actor: Actor) -> Counter[str]:
        outcomes: Counter[str] = Counter()
        shown = 0.0
        for result in import_folder(project=project, folder=folder, actor=actor):
            outcomes[result.outcome] += 1
            if isinstance(result, Rejected):
                self._show_progress("")
                self.stdout.write(f"refused  {result.path}: {result.message}")
            if time.monotonic() - shown > PROGRESS_SECONDS:
                shown = time.monotonic()
                self._show_progress(_("%(count)s files…") % {"count": outcomes.total()})
        self._show_progress("")
        return outcomes

    def _show_progress(self, text: str) -> None:
        """One line that is written over again and again, for people only; empty to clear it."""
        if self.stderr.isatty():
            self.stderr.write(f"\r\x1b[K{text}", style_func=str, ending="")
            self.stderr.flush()
