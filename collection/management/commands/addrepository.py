"""Add a repository to a project, and say what was found there."""

import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from collection.access import may_collect_all
from collection.choices import Kind, State
from collection.management.arguments import moment
from collection.models import Repository
from collection.services.keys import KEY_LENGTH
from collection.services.repositories import Checked, add_repository, check_repository
from glossary_site.errors import Refusal
from glossary_site.jobs.management.tables import harmless
from glossary_site.management.acting import add_actor_argument
from glossary_site.management.base import USAGE, SiteCommand
from projects.access import Action, Actor
from projects.management.acting import actor_named
from projects.management.preparing import prepare_database
from projects.management.targets import project_or_new
from projects.models import Project

NO_ANSWER = 3
STDIN = "-"
SHOWN_BRANCHES = 20


class Command(SiteCommand):
    help = (
        "Add a repository to a project, and ask it what is there. Its commits come with the next "
        "collection (manage.py collect). A folder of this machine must be below one of "
        "GLOSSARY_GIT_ROOTS. Exit codes: 0 added, 1 refused, 2 wrong usage, 3 added, but it does "
        "not answer."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "project", metavar="PROJECT", nargs="?", help="its name or id; none with --for-all"
        )
        parser.add_argument(
            "address",
            metavar="URL_OR_PATH",
            help="https://host/path, git@host:path, or the folder of a repository",
        )
        parser.add_argument(
            "--branch",
            action="append",
            default=[],
            metavar="B",
            help="a branch to follow, by its name or a pattern: * stands for any characters, also "
            "for “/”. May be given several times; without it, the default branch is followed",
        )
        parser.add_argument(
            "--create", action="store_true", help="make the project if there is none of that name"
        )
        parser.add_argument(
            "--for-all", action="store_true", help="for all projects, which see its commits"
        )
        parser.add_argument("--name", default="", help="what to call it (the end of the address)")
        parser.add_argument(
            "--kind", choices=Kind.values, help="how it is reached (as the address looks)"
        )
        parser.add_argument(
            "--since", type=moment, metavar="DATE", help="leave out commits from before this day"
        )
        parser.add_argument(
            "--documents",
            action="append",
            default=[],
            metavar="GLOB",
            help="files that become documents, such as “docs/**/*.md”; several times for more",
        )
        parser.add_argument(
            "--folder", default="", help="folder of the project that the documents come into"
        )
        parser.add_argument(
            "--document-branch",
            default="",
            metavar="B",
            help="the branch that documents are read from (the default one)",
        )
        parser.add_argument(
            "--username",
            dest="login",
            default="",
            metavar="NAME",
            help="the name that goes with a token, where the host wants one",
        )
        parser.add_argument(
            "--secret-file",
            metavar="FILE",
            help="a file with a token or a private key; “-” to read it from standard input",
        )
        parser.add_argument(
            "--no-test", action="store_true", help="add it without asking what is there"
        )
        add_actor_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if (options["project"] is None) is not options["for_all"]:
            raise CommandError(_("Name a project, or say --for-all."), returncode=USAGE)
        prepare_database()
        actor = actor_named(options["username"])
        secret = self._secret(options["secret_file"])
        project = self._project(options, actor)
        try:
            repository = self._add(project, secret, actor, options)
            self._say_added(repository)
            if not options["no_test"]:
                self._say_found(check_repository(repository, actor=actor))
        except Refusal as refusal:
            raise CommandError(_sentence(refusal, options["address"])) from refusal
        self._say_next(repository)

    def _secret(self, file: str | None) -> str:
        """Never as an argument: those can be read by everybody on the machine."""
        if file is None:
            return ""
        try:
            if file == STDIN:
                return sys.stdin.read(KEY_LENGTH + 1)
            with open(file, encoding="utf-8") as opened:
                return opened.read(KEY_LENGTH + 1)
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(
                _("%(path)s cannot be read.") % {"path": file}, returncode=USAGE
            ) from error

    def _project(self, options: dict[str, Any], actor: Actor) -> Project | None:
        name: str | None = options["project"]
        if name is None:
            if not may_collect_all(actor):
                raise PermissionDenied(_("Repositories for all projects are the operators’."))
            return None
        project, is_new = project_or_new(name, actor, Action.MANAGE, create=options["create"])
        if is_new:
            self.stdout.write(_("Made the project “%(name)s”.") % {"name": project.name})
        return project

    def _add(
        self, project: Project | None, secret: str, actor: Actor, options: dict[str, Any]
    ) -> Repository:
        return add_repository(
            project=project,
            address=absolute(options["address"]),
            actor=actor,
            kind=options["kind"],
            name=options["name"],
            username=options["login"],
            secret=secret,
            branch_patterns=options["branch"],
            since=options["since"],
            document_patterns=options["documents"],
            document_folder=options["folder"],
            document_branch=options["document_branch"],
        )

    def _say_added(self, repository: Repository) -> None:
        values = {
            "name": repository.name,
            "project": repository.project,
            "address": repository.address,
            "kind": repository.get_kind_display(),
        }
        if repository.project is None:
            text = _("Added “%(name)s” for all projects: %(address)s (%(kind)s).")
        else:
            text = _("Added “%(name)s” to “%(project)s”: %(address)s (%(kind)s).")
        self.stdout.write(harmless(text % values))

    def _say_found(self, checked: Checked) -> None:
        if not checked.is_usable:
            raise CommandError(
                harmless(
                    _("It was added, but it does not answer as it should: %(message)s")
                    % {"message": checked.message}
                ),
                returncode=NO_ANSWER,
            )
        lines = []
        if checked.state != State.READY:
            lines.append(f"{checked.state.label}.")
        if checked.message:
            lines.append(checked.message)
        if checked.branches:
            lines.append(_branches(checked))
        self.stdout.write(harmless("\n".join(lines)))

    def _say_next(self, repository: Repository) -> None:
        whose = f" {repository.project_id}" if repository.project_id else ""
        self.stdout.write(
            _("Collect its commits with: %(command)s")
            % {"command": f"manage.py collect{whose} --repository {repository.pk}"}
        )


def absolute(address: str) -> str:
    """At a terminal, people name folders from where they are."""
    return os.path.abspath(address) if Path(address).is_dir() else address


def _branches(checked: Checked) -> str:
    count = len(checked.branches)
    there = ngettext("%(n)d branch", "%(n)d branches", count) % {"n": count}
    shown = ", ".join(checked.matching[:SHOWN_BRANCHES])
    if len(checked.matching) > SHOWN_BRANCHES:
        shown += ", …"
    return _("It has %(there)s; followed: %(count)d (%(names)s).") % {
        "there": there,
        "count": len(checked.matching),
        "names": shown or "–",
    }


def _sentence(refusal: Refusal, address: str) -> str:
    """Whoever types this may be the operator that the sentence speaks of."""
    if refusal.code != "repository_not_allowed":
        return str(refusal)
    folder = os.path.realpath(absolute(address.removeprefix("file://")))
    advice = _(
        "Where the site and its workers are started, set GLOSSARY_GIT_ROOTS=%(folder)s, or to a "
        "folder above it (several are separated by commas)."
    )
    return f"{refusal} {advice % {'folder': folder}}"
