"""Follow a folder of documents into a project."""

import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, OutputWrapper
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.management.acting import add_actor_argument
from glossary_site.management.arguments import path_named
from glossary_site.management.base import SiteCommand
from glossary_site.processes.stopping import StopSignals
from indexing.folders.follower import Follower
from indexing.folders.lease import Lease, LeaseLost, new_holder
from indexing.folders.opening import FolderProblem
from indexing.folders.overseer import PAUSE_SECONDS, Overseer
from indexing.folders.services import set_folder_of_command
from indexing.folders.telling import Change, Tally
from indexing.models import FolderSource
from projects.access import Action, Actor
from projects.management.acting import actor_named
from projects.management.targets import project_named

GLANCE_SECONDS = 0.1


class TerminalTeller:
    def __init__(self, out: OutputWrapper, errors: OutputWrapper) -> None:
        self._out = out
        self._errors = errors

    def change(self, change: Change) -> None:
        self._write(str(change))

    def compared(self, tally: Tally) -> None:
        self._write(str(tally))

    def notice(self, sentence: str) -> None:
        self._errors.write(sentence)
        self._errors.flush()

    def standing_by(self) -> None:
        self.notice(_("Another process follows this folder; standing by."))

    def _write(self, line: str) -> None:
        self._out.write(line)
        # Whoever reads along through a pipe wants it now.
        self._out.flush()


class Asked:
    """Set by Ctrl-C and its like. A signal may arrive in the middle of anything, and in any thread:
    it leaves a note, and nothing else."""

    def __init__(self) -> None:
        self._signals = StopSignals()
        self._enough = False

    def set(self) -> None:
        self._enough = True

    def is_set(self) -> bool:
        return self._enough or self._signals.asked

    def wait(self, timeout: float) -> bool:
        until = time.monotonic() + timeout
        while not self.is_set() and time.monotonic() < until:
            time.sleep(GLANCE_SECONDS)
        return self.is_set()


class Command(SiteCommand):
    help = (
        "Follow the documents below a folder: first what changed since last time, then every "
        "change as it happens, deletions and renames too, until Ctrl-C. Links are not followed; "
        "hidden files and folders and what a .gitignore names are left out. Set "
        "WATCHFILES_FORCE_POLLING=true for disks that do not report changes."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="name or id of the project")
        parser.add_argument("folder", metavar="DIR", type=path_named, help="folder to follow")
        parser.add_argument(
            "--include",
            metavar="PATTERN",
            action="append",
            default=[],
            help="only files that match, as in .gitignore; can be given several times",
        )
        parser.add_argument(
            "--exclude",
            metavar="PATTERN",
            action="append",
            default=[],
            help="no files or folders that match, as in .gitignore; can be given several times",
        )
        parser.add_argument(
            "--once", action="store_true", help="take over what changed since last time, and end"
        )
        parser.add_argument(
            "--allow-empty",
            action="store_true",
            help="with --once: delete the documents of a folder that is empty now, as after the "
            "loss of a disk",
        )
        add_actor_argument(parser)

    def handle(
        self,
        *args: Any,
        project: str,
        folder: Path,
        include: list[str],
        exclude: list[str],
        once: bool,
        allow_empty: bool,
        username: str | None,
        **options: Any,
    ) -> None:
        if allow_empty and not once:
            raise CommandError(_("--allow-empty goes with --once."))
        actor = actor_named(username)
        source = set_folder_of_command(
            project=project_named(project, actor, Action.EDIT),
            directory=str(folder),
            include="\n".join(include),
            exclude="\n".join(exclude),
            actor=actor,
        )
        if source.enabled and (include or exclude):
            raise CommandError(
                _("The workers follow this folder, with patterns of its own; change them there.")
            )
        teller = TerminalTeller(self.stdout, self.stderr)
        if once:
            self._compare(source, actor, teller, allow_empty=allow_empty)
        else:
            self._follow(source, actor, teller)

    def _compare(
        self, source: FolderSource, actor: Actor, teller: TerminalTeller, *, allow_empty: bool
    ) -> None:
        lease = Lease(source.pk, new_holder())
        # Workers that cannot follow it try again and again, for a moment each time.
        if not _within(PAUSE_SECONDS, lease.take):
            raise CommandError(
                _("Another process follows %(path)s already: nothing is left to do.")
                % {"path": source}
            )
        follower = Follower(
            source,
            lease=lease,
            actor=actor,
            teller=teller,
            stop=threading.Event(),
            restricted=False,
            allow_empty=allow_empty,
        )
        try:
            teller.compared(follower.compare())
        except (FolderProblem, Refusal) as problem:
            lease.note(error=str(problem))
            raise CommandError(str(problem)) from problem
        except LeaseLost as error:
            raise CommandError(_("Another process has taken over meanwhile.")) from error
        finally:
            lease.release()

    def _follow(self, source: FolderSource, actor: Actor, teller: TerminalTeller) -> None:
        stop = Asked()

        def wanted() -> list[FolderSource]:
            found = list(FolderSource.objects.filter(pk=source.pk).select_related("project"))
            if not found:
                teller.notice(_("The project follows this folder no more."))
                stop.set()
            return found

        Overseer(wanted, actor=actor, teller_for=lambda source: teller, restricted=False).run(stop)


def _within(seconds: float, attempt: Callable[[], bool]) -> bool:
    until = time.monotonic() + seconds
    while not attempt():
        if time.monotonic() > until:
            return False
        time.sleep(GLANCE_SECONDS)
    return True
