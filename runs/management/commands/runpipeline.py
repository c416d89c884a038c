"""The pipeline in one line: documents in, a glossary out. No server is needed for it."""

import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from glossary_site.errors import Refusal
from glossary_site.jobs import clock
from glossary_site.jobs.overview import overview
from glossary_site.llm.choices import ProviderKind
from glossary_site.llm.providers import overriding
from glossary_site.management.acting import add_actor_argument
from glossary_site.management.arguments import how_many, path_named
from glossary_site.management.base import USAGE, SiteCommand
from projects.access import OPERATOR, Action, Actor
from projects.exports.published import FORMATS
from projects.management.acting import actor_named
from projects.management.languages import take_language
from projects.management.output import write_result
from projects.management.preparing import prepare_database
from projects.management.stopping import Interrupt, stoppable
from projects.management.targets import project_named
from projects.management.terminal import quieter
from projects.models import Project
from runs.choices import Scope, Status
from runs.management.performing import LOOK_SECONDS, Performer
from runs.management.providers import chosen_provider
from runs.management.reading import read_folder
from runs.management.showing import Display
from runs.management.temporary import temporary_project
from runs.management.writing import check_writable, format_of, result_of
from runs.models import Run
from runs.services.ending import cancel, jobs_of
from runs.services.options import RunOptions
from runs.services.starting import active_run, start

TRIGGERED_BY = "command"
WITH_FAILURES, INTERRUPTED = 3, 130


@dataclass(frozen=True)
class Wish:
    """What was typed."""

    project: str | None
    scope: str
    doc_root: Path | None
    output: Path | None
    format: str
    limit: int | None
    follow: bool


class Command(SiteCommand):
    help = (
        "Run the pipeline on a project's documents and write the glossary that comes of it. Works "
        "in this process, beside a running site or without one. Without PROJECT, a temporary one "
        "is made of the folder and deleted at the end. Exit codes: 0 done, 1 failed, 2 wrong "
        "usage, 3 done with failures, 130 cancelled."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", nargs="?", metavar="PROJECT", help="its name or id")
        parser.add_argument(
            "--scope", choices=Scope.values, default=Scope.FULL, help="which steps (full)"
        )
        parser.add_argument(
            "--doc-root",
            type=path_named,
            metavar="DIR",
            help="the folder to read when the project has no documents",
        )
        parser.add_argument(
            "--output", type=path_named, metavar="FILE", help="where to write (standard output)"
        )
        parser.add_argument(
            "--format", choices=list(FORMATS), help="of the result (as FILE is called, else md)"
        )
        parser.add_argument(
            "--limit", type=how_many, metavar="N", help="at most so many terms, the best ones"
        )
        parser.add_argument(
            "--llm-provider",
            choices=ProviderKind.values,
            help="who answers, instead of whoever is set; a key is read from GLOSSARY_LLM_API_KEY",
        )
        parser.add_argument("--model", help="the name of a model of that provider")
        parser.add_argument("--base-url", metavar="URL", help="the address of that provider")
        parser.add_argument(
            "--follow",
            action="store_true",
            help="leave the work to a worker, and follow it; also a run that is under way already",
        )
        add_actor_argument(parser)

    def handle(self, *args: Any, username: str | None, **options: Any) -> None:
        wish = wish_of(options)
        display = Display(self.stderr, quiet=options["verbosity"] == 0)
        try:
            check(wish, options)
            provider = chosen_provider(
                kind=options["llm_provider"], model=options["model"], base_url=options["base_url"]
            )
        except Refusal as refusal:
            raise CommandError(str(refusal), returncode=USAGE) from refusal
        prepare_database()
        actor = actor_named(username)
        with (
            stoppable() as interrupt,
            overriding(provider) if provider else nullcontext(),
            quieter(verbosity=options["verbosity"], traceback=options["traceback"]),
        ):
            try:
                self._handle(wish, actor, display, interrupt)
            except KeyboardInterrupt:
                raise CommandError(_("Cancelled."), returncode=INTERRUPTED) from None
            finally:
                display.close()

    def _handle(self, wish: Wish, actor: Actor, display: Display, interrupt: Interrupt) -> None:
        with project_for(wish, actor) as project:
            if wish.doc_root is not None:
                if project.documents.exists():
                    display.say(_("The project has documents already: the folder is not read."))
                else:
                    stored = read_folder(
                        project,
                        wish.doc_root,
                        actor=actor,
                        display=display,
                        interrupt=interrupt,
                        output=wish.output,
                    )
                    if wish.project is None and not stored:
                        raise CommandError(
                            _("There is no document in %(path)s.") % {"path": wish.doc_root}
                        )
                    if wish.project is None:
                        take_language(project, actor)
            interrupt.check()
            run = (follow if wish.follow else perform)(
                project, wish, actor=actor, display=display, interrupt=interrupt
            )
            display.close()
            self._tell(run, wish, display)

    def _tell(self, run: Run, wish: Wish, display: Display) -> None:
        """What came of it: the result and the exit code."""
        if run.status == Status.CANCELLED:
            raise CommandError(_("Cancelled."), returncode=INTERRUPTED)
        if run.status == Status.FAILED:
            raise CommandError(run.error_message)
        # A temporary project's name is nobody's title.
        title = "" if wish.project or not wish.doc_root else wish.doc_root.resolve().name
        pieces = result_of(run, format=wish.format, limit=wish.limit, title=title)
        write_result(pieces, output=wish.output, stdout=self.stdout)
        if wish.output is not None:
            display.say(_("The glossary is in %(path)s.") % {"path": wish.output})
        if run.failure_count:
            words = ngettext(
                "Done, with %(n)d failure. Try it again on the page of run %(id)d.",
                "Done, with %(n)d failures. Try them again on the page of run %(id)d.",
                run.failure_count,
            )
            if wish.project is None:
                # That page goes with the project; the answers stay in the ledger.
                words = ngettext(
                    "Done, with %(n)d failure. Start the same command again: no answer is asked "
                    "for twice.",
                    "Done, with %(n)d failures. Start the same command again: no answer is asked "
                    "for twice.",
                    run.failure_count,
                )
            raise CommandError(
                words % {"n": run.failure_count, "id": run.pk}, returncode=WITH_FAILURES
            )


def wish_of(options: dict[str, Any]) -> Wish:
    output: Path | None = options["output"]
    return Wish(
        project=options["project"],
        scope=options["scope"],
        doc_root=options["doc_root"],
        output=output,
        format=options["format"] or format_of(output),
        limit=options["limit"],
        follow=options["follow"],
    )


def check(wish: Wish, options: dict[str, Any]) -> None:
    """What can be seen to be wrong before anything is done."""
    if wish.project is None and wish.doc_root is None:
        raise Refusal("usage", _("Name a project, or a folder with --doc-root."))
    if wish.project is None and wish.scope not in (Scope.FULL, Scope.EXTRACT):
        raise Refusal(
            "usage", _("A folder begins with its documents: --scope full or --scope extract.")
        )
    if wish.doc_root is not None and not wish.doc_root.is_dir():
        raise Refusal("usage", _("%(path)s is not a folder.") % {"path": wish.doc_root})
    if wish.follow and any(options[name] for name in ("llm_provider", "model", "base_url")):
        raise Refusal("usage", _("A worker asks the provider that is set, not one named here."))
    if wish.output is not None:
        check_writable(wish.output)


@contextmanager
def project_for(wish: Wish, actor: Actor) -> Iterator[Project]:
    if wish.project is not None:
        yield project_named(wish.project, actor, Action.EDIT)
        return
    assert wish.doc_root is not None  # checked
    with temporary_project(wish.doc_root, actor) as project:
        yield project


def starting(project: Project, wish: Wish, actor: Actor) -> Callable[[], Run]:
    return lambda: start(
        project=project,
        scope=wish.scope,
        actor=actor,
        triggered_by=TRIGGERED_BY,
        options=RunOptions(limit=wish.limit or 0),
    )


def perform(
    project: Project, wish: Wish, *, actor: Actor, display: Display, interrupt: Interrupt
) -> Run:
    """Do it here. A worker that runs meanwhile cannot take it: it is ours before it is visible."""
    end_left_behind(project, display)
    performer = Performer(starting(project, wish, actor))
    run = performer.begun()
    try:
        with cancelled_unless_ended(run, actor):
            return watch(run, actor=actor, display=display, interrupt=interrupt, working=performer)
    finally:
        performer.finish()


def follow(
    project: Project, wish: Wish, *, actor: Actor, display: Display, interrupt: Interrupt
) -> Run:
    """Look at what a worker does. A run that was under way before is not ours to stop."""
    run = active_run(project)
    if run is not None:
        display.say(_("Run %(id)s is under way.") % {"id": run.pk})
        return watch(run, actor=None, display=display, interrupt=interrupt)
    run = starting(project, wish, actor)()
    if not has_worker(run):
        display.say(_("No worker is there: start one with “manage.py worker”."))
    with cancelled_unless_ended(run, actor):
        return watch(run, actor=actor, display=display, interrupt=interrupt)


def has_worker(run: Run) -> bool:
    """Whether somebody is there who would take it up."""
    return any(line.workers for line in overview().lanes if run.job and line.lane == run.job.lane)


def end_left_behind(project: Project, display: Display) -> None:
    """A run whose command was killed would be in the way for ever where no worker goes on with it.
    What it had read and been answered is not read and asked again."""
    run = active_run(project)
    if run is None or has_worker(run):
        return
    jobs = jobs_of(run).active()
    if not jobs.exists() or jobs.exclude(pk__in=jobs.stuck(clock.read()).values("pk")).exists():
        return
    because = _("Nobody works on run %(id)s any more: it is ended.") % {"id": run.pk}
    with suppress(Refusal):
        cancel(run, actor=OPERATOR, because=because)
        display.say(because)


@contextmanager
def cancelled_unless_ended(run: Run, actor: Actor) -> Iterator[None]:
    """Whatever goes wrong here, nobody would wait for it any more."""
    with ExitStack() as stack:
        stack.callback(stop, run, actor)
        yield


def stop(run: Run, actor: Actor) -> None:
    with suppress(Refusal):
        cancel(run, actor=actor)


def watch(
    run: Run,
    *,
    actor: Actor | None,
    display: Display,
    interrupt: Interrupt,
    working: Performer | None = None,
) -> Run:
    """Show it until it has ended. Ctrl-C cancels it, or only leaves it where `actor` is None."""
    while True:
        refresh(run)
        display.show(run)
        if run.has_ended:
            return run
        if working is not None and not working.is_alive():
            # It raises what went wrong; or the run has ended in this moment.
            working.finish()
        if interrupt.asked:
            if actor is None:
                raise CommandError(
                    _("Run %(id)s goes on.") % {"id": run.pk}, returncode=INTERRUPTED
                )
            stop(run, actor)
            continue
        time.sleep(LOOK_SECONDS)


def refresh(run: Run) -> None:
    try:
        run.refresh_from_db()
    except Run.DoesNotExist as error:
        raise CommandError(_("The project was deleted meanwhile.")) from error
