"""The index at a terminal: `manage.py index status|rebuild|retry --project P`."""

import json
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from rest_framework.utils.encoders import JSONEncoder

from glossary_site.durations import in_words
from glossary_site.jobs.errors import Stopped
from glossary_site.jobs.management.tables import NOTHING, relative, shortened, table
from glossary_site.management.acting import add_actor_argument
from glossary_site.management.base import SiteCommand
from indexing.api.serializers import IndexOverviewSerializer, IndexRequestSerializer
from indexing.choices import RequestStatus
from indexing.embedders.base import EmbedderUnavailable
from indexing.management.waiting import Meter, interruptible, wait_until_indexed
from indexing.models import IndexRequest
from indexing.services.drain import waiting_documents
from indexing.services.requests import rebuild, retry_requests
from indexing.services.status import IndexOverview, index_status
from projects.access import Action, Actor
from projects.management.acting import actor_named
from projects.management.targets import project_named, projects_meant
from projects.models import Project

TEXT, JSON = "text", "json"
NEWEST_FAILURES = 10
ERROR_LENGTH = 80
INTERRUPTED = 130


class Command(SiteCommand):
    help = "Show how far the index of a project is, have it made anew, or try failures again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        deeds = parser.add_subparsers(dest="deed", required=True, metavar="status|rebuild|retry")
        status = deeds.add_parser("status", help="how far the index is, and what has failed")
        status.add_argument("--project", help="name or id; without it, all that you may see")
        again = deeds.add_parser("rebuild", help="have documents indexed anew")
        again.add_argument("--project", required=True, help="name or id of a project")
        again.add_argument(
            "--path",
            action="append",
            dest="paths",
            help="only documents whose path matches, as in .gitignore; may be repeated",
        )
        again.add_argument(
            "--force",
            action="store_true",
            help="make sections and vectors anew even where the text is the same",
        )
        retry = deeds.add_parser("retry", help="try what has failed again now")
        retry.add_argument("--project", required=True, help="name or id of a project")
        for deed in (status, again, retry):
            deed.add_argument(
                "--wait",
                action="store_true",
                help="until nothing waits any more; does the work itself when no worker runs",
            )
            deed.add_argument("--format", choices=(TEXT, JSON), default=TEXT, help="how to answer")
            add_actor_argument(deed)

    def handle(
        self,
        *args: Any,
        deed: str,
        username: str | None,
        project: str | None,
        wait: bool,
        format: str,
        **options: Any,
    ) -> None:
        actor = actor_named(username)
        if deed == "status":
            projects = projects_meant(project, actor)
            self._finish(projects, wait=wait, format=format)
            return
        assert project is not None  # required
        target = project_named(project, actor, Action.EDIT)
        count = self._ask(deed, target, actor, options)
        if format == TEXT:
            self.stdout.write(
                ngettext("%(n)d document is queued.", "%(n)d documents are queued.", count)
                % {"n": count}
            )
        self._finish([target], wait=wait, format=format, requests=count)

    def _ask(self, deed: str, project: Project, actor: Actor, options: dict[str, Any]) -> int:
        if deed == "retry":
            return retry_requests(project=project, actor=actor)
        return rebuild(project=project, actor=actor, paths=options["paths"], force=options["force"])

    def _finish(self, projects: list[Project], *, wait: bool, format: str, **answer: int) -> None:
        """Wait, if that was asked for; then say how things are."""
        trouble = self._wait(projects) if wait else ""
        overviews = [(project, index_status(project)) for project in projects]
        if format == JSON:
            rows = [as_data(project, overview) for project, overview in overviews]
            self.stdout.write(
                json.dumps(
                    {**answer, "projects": rows}, cls=JSONEncoder, ensure_ascii=False, indent=2
                )
            )
        elif wait or not answer:
            self.stdout.write(as_table(overviews))
            failures = [failure for project in projects for failure in newest_failures(project)]
            if failures:
                self.stdout.write(f"\n{as_failures(failures)}")
        failed = sum(overview.failed for _project, overview in overviews)
        if wait and failed:
            trouble = ngettext(
                "%(n)d document could not be indexed.",
                "%(n)d documents could not be indexed.",
                failed,
            ) % {"n": failed}
        if trouble:
            raise CommandError(trouble)

    def _wait(self, projects: list[Project]) -> str:
        """What is wrong in the end, apart from documents that failed."""
        meter = Meter(self.stderr)
        with interruptible() as interrupt:
            try:
                for project in projects:
                    wait_until_indexed(project, meter=meter, interrupt=interrupt)
            except EmbedderUnavailable as error:
                return str(error)
            except (Stopped, KeyboardInterrupt):
                meter.close()
                left = sum(waiting_documents(project.pk) for project in projects)
                raise CommandError(
                    ngettext(
                        "Stopped. %(n)d document still waits.",
                        "Stopped. %(n)d documents still wait.",
                        left,
                    )
                    % {"n": left},
                    returncode=INTERRUPTED,
                ) from None
        meter.close()
        return ""


def newest_failures(project: Project) -> list[IndexRequest]:
    failed = IndexRequest.objects.for_project(project).filter(status=RequestStatus.FAILED)
    return list(failed.listed().select_related("project").order_by("-pk")[:NEWEST_FAILURES])


def as_data(project: Project, overview: IndexOverview) -> dict[str, Any]:
    return {
        "id": project.pk,
        "name": project.name,
        **IndexOverviewSerializer(overview).data,
        "failures": IndexRequestSerializer(newest_failures(project), many=True).data,
    }


def as_table(overviews: list[tuple[Project, IndexOverview]]) -> str:
    now = timezone.now()
    return table(
        [
            _("Project"),
            _("Documents"),
            _("Up to date"),
            _("Sections"),
            _("Pending"),
            _("Processing"),
            _("Failed"),
            _("Oldest"),
            _("A minute"),
            _("Left"),
            _("Embedder"),
        ],
        [
            [
                project.name,
                overview.documents,
                overview.up_to_date,
                overview.sections,
                overview.pending,
                overview.processing,
                overview.failed,
                relative(overview.oldest_pending_at, now),
                round(overview.rate_per_minute) or NOTHING,
                time_left(overview),
                embedder(overview),
            ]
            for project, overview in overviews
        ],
    )


def time_left(overview: IndexOverview) -> str:
    if overview.eta_seconds is None:
        return NOTHING
    return in_words(timedelta(seconds=overview.eta_seconds))


def embedder(overview: IndexOverview) -> str:
    """Whose vectors serve, and whose are being made."""
    if overview.switching:
        return f"{overview.embedder_serving or NOTHING} → {overview.embedder_wanted}"
    return overview.embedder_serving or NOTHING


def as_failures(failures: list[IndexRequest]) -> str:
    return table(
        [_("Project"), _("Document"), _("Attempts"), _("Error")],
        [
            [
                failure.project.name,
                failure.document.path,
                failure.attempts,
                shortened(failure.error, ERROR_LENGTH),
            ]
            for failure in failures
        ],
    )
