"""Collect what is new in repositories, from where each of their branches was left."""

import time
from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from collection.access import may_collect_all
from collection.choices import RunStatus
from collection.management.arguments import moment, repositories_named, run_named
from collection.management.showing import Display
from collection.management.summing import as_json, as_text
from collection.models import BulkCollectionRun
from collection.services.ending import COLLECT, cancel
from collection.services.performing import Performer
from collection.services.starting import resume, retry_failed, start
from glossary_site.errors import Refusal
from glossary_site.jobs.overview import overview
from glossary_site.jobs.performing import LOOK_SECONDS
from glossary_site.jobs.registry import kind_of
from glossary_site.management.acting import add_actor_argument
from glossary_site.management.base import FAILED, USAGE, SiteCommand
from projects.access import Action, Actor, can
from projects.management.acting import actor_named
from projects.management.preparing import prepare_database
from projects.management.stopping import Interrupt, stoppable
from projects.management.targets import project_named
from projects.management.terminal import quieter

TRIGGERED_BY = "command"
INTERRUPTED = 130


class Command(SiteCommand):
    help = (
        "Collect the new commits of repositories, and the documents that changed with them: of a "
        "project, or of the whole site. Where a worker runs, it does the work and this shows how "
        "far it is; else the work is done here. Ctrl-C stops it; what is left can be resumed. "
        "Exit codes: 0 all collected, 1 some failed or refused, 2 wrong usage, 130 stopped."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "project", nargs="?", metavar="PROJECT", help="its name or id; without it, everything"
        )
        parser.add_argument(
            "--all", action="store_true", help="all repositories of the site, as without PROJECT"
        )
        parser.add_argument(
            "--repository",
            action="append",
            default=[],
            metavar="R",
            help="only this one, by its name, number or address; several times for more",
        )
        parser.add_argument(
            "--branch",
            action="append",
            default=[],
            metavar="B",
            help="only this branch, whether it is followed or not; several times for more",
        )
        parser.add_argument(
            "--since",
            type=moment,
            metavar="DATE",
            help="where the first collection of a branch begins",
        )
        parser.add_argument(
            "--retry", metavar="RUN", help="what failed in this collection (“last”: the newest)"
        )
        parser.add_argument(
            "--resume", metavar="RUN", help="what was left when this collection was stopped"
        )
        parser.add_argument(
            "--format", choices=["text", "json"], default="text", help="of the summary (text)"
        )
        parser.add_argument(
            "--here", action="store_true", help="do the work in this process in any case"
        )
        parser.add_argument(
            "--no-wait", action="store_true", help="leave it to a worker, and do not wait for it"
        )
        add_actor_argument(parser)

    def handle(self, *args: Any, username: str | None, **options: Any) -> None:
        check(options)
        prepare_database()
        actor = actor_named(username)
        try:
            begin = beginning(options, actor)
        except Refusal as refusal:
            raise CommandError(str(refusal), returncode=USAGE) from refusal
        display = Display(self.stderr, quiet=options["verbosity"] == 0)
        with (
            stoppable() as interrupt,
            quieter(verbosity=options["verbosity"], traceback=options["traceback"]),
        ):
            try:
                run = self._collect(begin, options, actor, display, interrupt)
            except Refusal as refusal:
                raise CommandError(str(refusal)) from refusal
            except KeyboardInterrupt:
                raise CommandError(_("Stopped."), returncode=INTERRUPTED) from None
            finally:
                display.close()
        self._tell(run, options["format"])

    def _collect(
        self,
        begin: Callable[[], BulkCollectionRun],
        options: dict[str, Any],
        actor: Actor,
        display: Display,
        interrupt: Interrupt,
    ) -> BulkCollectionRun:
        if options["no_wait"]:
            return begin()
        if options["here"] or not worker_is_there():
            performer = Performer(begin)
            run = performer.begun()
            try:
                return watch(run, actor, display, interrupt, working=performer)
            finally:
                performer.finish()
        return watch(begin(), actor, display, interrupt)

    def _tell(self, run: BulkCollectionRun, format: str) -> None:
        """What came of it: the summary and the exit code."""
        if format == "json":
            self.stdout.write(as_json(run))
        elif run.is_running:
            self.stdout.write(_("Started collection %(id)s.") % {"id": run.pk})
        else:
            for line in as_text(run):
                self.stdout.write(line)
        if run.status == RunStatus.CANCELLED:
            raise CommandError(_("Stopped."), returncode=INTERRUPTED)
        if run.failed_count:
            raise CommandError(
                ngettext(
                    "%(n)d branch could not be collected.",
                    "%(n)d branches could not be collected.",
                    run.failed_count,
                )
                % {"n": run.failed_count},
                returncode=FAILED,
            )


def check(options: dict[str, Any]) -> None:
    """What can be seen to be wrong before anything is done."""
    again = [name for name in ("retry", "resume") if options[name]]
    chosen = [name for name in ("project", "all", "repository", "branch", "since") if options[name]]
    if len(again) > 1 or (again and chosen):
        message = _("--retry and --resume know what to collect: say one of them, and nothing else.")
    elif options["all"] and options["project"]:
        message = _("Say a project or --all, not both.")
    elif options["branch"] and not (options["repository"] or options["project"]):
        message = _("Say whose branch it is, with --repository or a project.")
    elif options["here"] and options["no_wait"]:
        message = _("Say --here or --no-wait, not both.")
    else:
        return
    raise CommandError(message, returncode=USAGE)


def beginning(options: dict[str, Any], actor: Actor) -> Callable[[], BulkCollectionRun]:
    """How it will begin. Whatever was named is there, and the actor may."""
    for name, again in (("retry", retry_failed), ("resume", resume)):
        if options[name]:
            before = run_named(options[name], actor)
            if before.project is None:
                must_be_operator(actor)
            return partial(again, before, actor=actor, triggered_by=TRIGGERED_BY)
    project = project_named(options["project"], actor, Action.EDIT) if options["project"] else None
    repositories = None
    if options["repository"]:
        repositories = repositories_named(options["repository"], project=project, actor=actor)
        for each in repositories:
            if each.project is None or not can(actor, Action.EDIT, each.project):
                must_be_operator(actor)
        projects = {each.project for each in repositories}
        if project is None and len(projects) == 1:
            (project,) = projects
    elif project is None:
        must_be_operator(actor)
    return lambda: start(
        actor=actor,
        project=project,
        repositories=repositories,
        branch_names=options["branch"],
        since=options["since"],
        triggered_by=TRIGGERED_BY,
    )


def must_be_operator(actor: Actor) -> None:
    if not may_collect_all(actor):
        raise PermissionDenied(_("Only operators collect for all projects. Name one of yours."))


def worker_is_there() -> bool:
    lane = kind_of(COLLECT).lane
    return any(line.workers for line in overview().lanes if line.lane == lane)


def watch(
    run: BulkCollectionRun,
    actor: Actor,
    display: Display,
    interrupt: Interrupt,
    *,
    working: Performer | None = None,
) -> BulkCollectionRun:
    """Show it until it has ended. Ctrl-C stops it; and so does whatever goes wrong here, because
    nobody would wait for it any more."""
    with ExitStack() as stack:
        stack.callback(stop, run, actor)
        while True:
            try:
                run = display.show(run)
            except BulkCollectionRun.DoesNotExist as error:
                raise CommandError(_("The project was deleted meanwhile.")) from error
            if not run.is_running:
                return run
            if working is not None and not working.is_alive():
                # It raises what went wrong; or the collection has ended in this moment.
                working.finish()
            if interrupt.asked:
                stop(run, actor)
            else:
                time.sleep(LOOK_SECONDS)


def stop(run: BulkCollectionRun, actor: Actor) -> None:
    # One that has ended by itself, or that is gone, is as good.
    with suppress(Refusal, BulkCollectionRun.DoesNotExist):
        cancel(run, actor=actor)
