"""Look at background work, and interfere with it: `manage.py jobs list|show|cancel|retry`."""

import json
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from rest_framework.utils.encoders import JSONEncoder

from glossary_site.errors import Refusal
from glossary_site.jobs import clock
from glossary_site.jobs.access import may_operate, may_watch
from glossary_site.jobs.api.serializers import JobSerializer
from glossary_site.jobs.choices import State
from glossary_site.jobs.lists import STATE_GROUPS
from glossary_site.jobs.logs import log_lines
from glossary_site.jobs.management.acting import actor_named
from glossary_site.jobs.management.tables import NOTHING, harmless, relative, shortened, table
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.overview import overview
from glossary_site.jobs.querysets import JobRunQuerySet
from glossary_site.jobs.reasons import why
from glossary_site.jobs.services.audit import Actor
from glossary_site.jobs.services.runs import cancel_run, retry_run
from glossary_site.management.acting import add_actor_argument
from glossary_site.management.arguments import how_many
from glossary_site.management.base import SiteCommand

NOTE_LENGTH = 60
DEFAULT_LIMIT = 20


class Command(SiteCommand):
    help = "List background jobs, show one with its log, cancel some, or try them again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(
            dest="deed", required=True, metavar="list|show|cancel|retry"
        )
        listing = commands.add_parser("list", help="the newest jobs")
        listing.add_argument(
            "--state",
            help=f"one of {', '.join(State.values)}, or of {', '.join(STATE_GROUPS)}",
        )
        listing.add_argument("--kind", help="jobs of this kind")
        listing.add_argument("--scope", help="jobs of this scope, such as project:7")
        listing.add_argument(
            "--limit", type=how_many, default=DEFAULT_LIMIT, help="how many at most"
        )
        listing.add_argument("--json", action="store_true", help="for programs")
        showing = commands.add_parser("show", help="one job with all its facts")
        showing.add_argument("id", type=int)
        showing.add_argument("--log", action="store_true", help="its log, too")
        cancelling = commands.add_parser("cancel", help="end jobs now")
        cancelling.add_argument("ids", metavar="ID", type=int, nargs="+")
        cancelling.add_argument("--reason", default="", help="why, for their pages")
        retrying = commands.add_parser("retry", help="try jobs again now")
        retrying.add_argument("ids", metavar="ID", type=int, nargs="+")
        for command in (listing, showing, cancelling, retrying):
            add_actor_argument(command)

    def handle(self, *args: Any, deed: str, username: str | None, **options: Any) -> None:
        changes = deed in ("cancel", "retry")
        actor = actor_named(username, may=may_operate if changes else may_watch)
        match deed:
            case "list":
                self.show_list(**options)
            case "show":
                self.show(find(options["id"]), with_log=options["log"])
            case "cancel":
                reason = options["reason"]
                self.each(options["ids"], lambda run: self.cancel(run, actor, reason))
            case "retry":
                self.each(options["ids"], lambda run: self.retry(run, actor))

    def show_list(
        self,
        *,
        state: str | None,
        kind: str | None,
        scope: str | None,
        limit: int,
        json: bool,
        **options: Any,
    ) -> None:
        runs = JobRun.objects.defer("payload", "result").order_by("-pk")
        if state:
            runs = in_state(runs, state)
        if kind:
            runs = runs.filter(kind=kind)
        if scope:
            runs = runs.for_scope(scope)
        found = list(runs[:limit])
        if json:
            self.stdout.write(as_json(JobSerializer(found, many=True).data))
        elif found:
            self.stdout.write(as_table(found))
        else:
            self.stdout.write(_("There is no such job."))

    def show(self, run: JobRun, *, with_log: bool) -> None:
        width = max(len(name) for name, _value in facts(run))
        for name, value in facts(run):
            self.stdout.write(f"{name:<{width}}  {harmless(value)}")
        reason = None if run.ended else why(run, overview())
        if reason is not None:
            self.stdout.write(f"\n{reason.sentence}")
        if with_log:
            self.stdout.write("")
            last = 0
            while lines := log_lines(run, after=last):
                for line in lines:
                    time = localtime(line.time).strftime("%Y-%m-%d %H:%M:%S")
                    self.stdout.write(f"{time}  {line.level:<7}  {harmless(line.message).rstrip()}")
                last = lines[-1].id

    def each(self, ids: list[int], deed: Callable[[JobRun], str]) -> None:
        """One that is refused does not keep the others from their turn."""
        refused = 0
        for run_id in ids:
            try:
                self.stdout.write(deed(find(run_id)))
            except (Refusal, CommandError) as error:
                refused += 1
                self.stderr.write(str(error))
        if refused:
            raise CommandError(
                _("%(refused)d of %(all)d could not be done.")
                % {"refused": refused, "all": len(ids)}
            )

    def cancel(self, run: JobRun, actor: Actor, reason: str) -> str:
        cancel_run(run, actor=actor, reason=reason)
        return _("Job %(id)d is cancelled.") % {"id": run.pk}

    def retry(self, run: JobRun, actor: Actor) -> str:
        attempt = retry_run(run, actor=actor)
        if attempt.pk == run.pk:
            return _("Job %(id)d is sent off now.") % {"id": run.pk}
        return _("Job %(id)d is tried again as job %(next)d.") % {"id": run.pk, "next": attempt.pk}


def find(run_id: int) -> JobRun:
    run = JobRun.objects.filter(pk=run_id).first()
    if run is None:
        raise CommandError(_("There is no job %(id)d.") % {"id": run_id})
    return run


def in_state(runs: JobRunQuerySet, name: str) -> JobRunQuerySet:
    if name.upper() in State.values:
        return runs.filter(state=name.upper())
    if name.lower() in STATE_GROUPS:
        return runs.filter(state__in=STATE_GROUPS[name.lower()][1])
    raise CommandError(_("There is no state “%(name)s”.") % {"name": name})


def as_table(runs: list[JobRun]) -> str:
    now = clock.read()
    return table(
        [
            _("Job"),
            _("Kind"),
            _("State"),
            _("Scope"),
            _("Attempt"),
            _("Due"),
            _("Ended"),
            _("Worker"),
            _("Note"),
        ],
        [
            [
                run.pk,
                run.kind,
                run.state,
                run.scope,
                f"{run.attempt}/{run.max_attempts}",
                relative(run.due_at, now),
                relative(run.finished_at, now),
                run.assigned_worker,
                shortened(run.error or progress(run), NOTE_LENGTH),
            ]
            for run in runs
        ],
    )


def progress(run: JobRun) -> str:
    if run.ended or not run.progress_total:
        return ""
    return f"{run.progress_current}/{run.progress_total} {run.progress_message}"


def facts(run: JobRun) -> list[tuple[str, str]]:
    """The fields by their names in the tables, those without a value left out."""
    found = []
    for field in JobRun._meta.concrete_fields:
        value = getattr(run, field.attname)
        if value in (None, "", 0) and field.name != "result":
            continue
        if hasattr(value, "tzinfo"):
            value = localtime(value).isoformat(sep=" ", timespec="seconds")
        elif isinstance(value, dict | list):
            value = as_json(value)
        if value is not None:
            found.append((field.name, str(value)))
    following = JobRun.objects.filter(retry_of=run).values_list("pk", flat=True).first()
    found.append(("next_attempt", str(following or NOTHING)))
    return found


def as_json(value: Any) -> str:
    return json.dumps(value, cls=JSONEncoder, ensure_ascii=False, indent=2)
