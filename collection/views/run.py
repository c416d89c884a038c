"""One collection: how far it is, what it is at, and what became of each target."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from collection.choices import ResultStatus
from collection.models import BulkCollectionRun
from collection.services.summaries import standing
from collection.services.tallies import Tally, tallies
from collection.views.finding import may_steer, run_of, seen_in, seen_of_all
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.reasons import Reason
from glossary_site.pages import Column, Listing, query_of, wants_part
from projects.access import Action, project_for
from projects.models import Project
from projects.views.pages import project_context
from projects.work import reason_of

# The parts of the page that are asked for alone, by the id of what they replace.
PARTS = {
    "collection-head": "collection/_run_head.html",
    "results": "collection/_results.html",
}
COLUMNS = [
    Column("target", _("Target"), order_by=Lower("repository__name")),
    Column("status", _("Status"), order_by="status"),
    Column("commits", _("New commits"), order_by="commits_so_far", kind="number"),
    Column("attempts", _("Tries"), order_by="attempts", kind="number"),
    Column("ended", _("Ended"), order_by="processed_at", kind="time"),
]
# Failures as they happen; the table below has all of them.
MOST_FAILURES = 5


@dataclass(frozen=True)
class Tab:
    key: str
    label: Any
    count: int
    is_current: bool


@require_safe
def run_page(request: HttpRequest, project_id: int, run_id: UUID) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "repositories")
    run = run_of(request.user, project, run_id)
    part = _part(request)
    tally = tallies([run], only=seen_of_all(request.user, project))[run.pk]
    status = _status(request)
    context |= {
        "part": "runs",
        "run": run,
        "tally": tally,
        "status": status,
        "now": timezone.now(),
    }
    if part != "results":
        context |= _head(request, project, run, tally)
    if part != "collection-head":
        context |= {
            "tabs": _tabs(tally, status),
            "listing": _listing(request, project, run, status),
        }
    response = render(request, PARTS.get(part, "collection/run.html"), context)
    # Several bodies at one address: a browser must not show one from its cache for the other.
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def _part(request: HttpRequest) -> str:
    target: str | None = request.htmx.target if wants_part(request) else None  # type: ignore[attr-defined]
    return target if target in PARTS else ""


def _status(request: HttpRequest) -> str:
    wanted = request.GET.get("status", "")
    return wanted if wanted in ResultStatus.values else ""


def _head(
    request: HttpRequest, project: Project, run: BulkCollectionRun, tally: Tally
) -> dict[str, Any]:
    stands = standing(run, only=seen_in(request.user, project, run))
    return {
        "standing": stands,
        "failures": stands.failures[:MOST_FAILURES],
        "more_failures": max(0, tally.failed - MOST_FAILURES),
        "may_steer": may_steer(request.user, project, run),
        "reason": _reason(run) if run.is_running else None,
        "followers": list(run.continued_by.order_by("started_at")),
    }


def _reason(run: BulkCollectionRun) -> Reason | None:
    """Why nobody works on it; None while somebody does, or soon will."""
    return reason_of(JobRun.objects.filter(pk=run.job_id)) if run.job_id else None


def _tabs(tally: Tally, current: str) -> list[Tab]:
    labels = [
        ("", _("All"), tally.total),
        (ResultStatus.FAILED.value, ResultStatus.FAILED.label, tally.failed),
        (ResultStatus.PENDING.value, ResultStatus.PENDING.label, tally.pending),
        (ResultStatus.SUCCESS.value, ResultStatus.SUCCESS.label, tally.succeeded),
    ]
    return [Tab(key, label, count, key == current) for key, label, count in labels]


def _listing(
    request: HttpRequest, project: Project, run: BulkCollectionRun, status: str
) -> Listing:
    results = run.results.select_related("repository")
    if (only := seen_in(request.user, project, run)) is not None:
        results = results.filter(only)
    if status:
        results = results.filter(status=status)
    if query := query_of(request):
        results = results.filter(
            Q(repository__name__icontains=query)
            | Q(branch_name__icontains=query)
            | Q(error_message__icontains=query)
        )
    return Listing(request, results, COLUMNS, default="target")
