"""The state of a project's index: members look, editors have requests tried again and the index
made anew."""

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST, require_safe

from glossary_site.errors import Refusal
from glossary_site.pages import Column, Listing, render_page
from indexing.choices import RequestStatus
from indexing.models import IndexRequest
from indexing.querysets import IndexRequestQuerySet
from indexing.services.requests import rebuild, retry_requests
from indexing.services.status import IndexOverview, index_status
from projects.access import Action, project_for
from projects.models import Project
from projects.views.pages import project_context
from projects.work import reason_of, runs_of

PAGE_SIZE = 20
# More are counted, and are in the list below.
MOST_FAILURES = 10
COLUMNS = [
    Column("document", gettext_lazy("Document"), order_by="document__path"),
    Column("status", gettext_lazy("Status"), order_by="status"),
    Column("text", gettext_lazy("Text"), order_by="document_version", kind="number"),
    Column("attempts", gettext_lazy("Attempts"), order_by="attempts", kind="number"),
    Column("took", gettext_lazy("Took"), kind="number"),
    Column("asked", gettext_lazy("Asked"), order_by="pk", kind="time"),
]


@require_safe
def index(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "search")
    requests = IndexRequest.objects.for_project(project).listed()
    failures = requests.filter(status=RequestStatus.FAILED).order_by("-pk")
    status = request.GET.get("status", "")
    chosen = status if status in RequestStatus.values else ""
    listing = Listing(
        request, _with(requests, chosen), COLUMNS, default="-asked", page_size=PAGE_SIZE
    )
    overview = index_status(project)
    context |= {
        "overview": overview,
        "with_vector": overview.sections_with_text - overview.sections_without_vector,
        "eta": _eta(overview),
        "reason": reason_of(runs_of(project)) if overview.open else None,
        "failures": list(failures[:MOST_FAILURES]),
        "listing": listing,
        "statuses": RequestStatus.choices,
        "chosen": chosen,
        "now": timezone.now(),
    }
    return render_page(request, "indexing/status.html", "indexing/_status.html", context)


def _with(requests: IndexRequestQuerySet, status: str) -> IndexRequestQuerySet:
    return requests.filter(status=status) if status else requests


def _eta(overview: IndexOverview) -> timedelta | None:
    seconds = overview.eta_seconds
    return None if seconds is None else timedelta(seconds=seconds)


@require_POST
def retry_all(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    return _retry(request, project, None)


@require_POST
def retry(request: HttpRequest, project_id: int, request_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    return _retry(request, project, [request_id])


def _retry(request: HttpRequest, project: Project, ids: list[int] | None) -> HttpResponse:
    count = retry_requests(project=project, actor=request.user, request_ids=ids)
    if count:
        words = ngettext(
            "%(n)d request is tried again now.", "%(n)d requests are tried again now.", count
        )
        messages.success(request, words % {"n": count})
    else:
        messages.info(
            request, _("There was nothing to try again: these texts are indexed, or replaced.")
        )
    return redirect("project-index", project.pk)


@require_POST
def rebuild_all(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    force = "force" in request.POST
    paths = [line.strip() for line in request.POST.get("paths", "").split("\n") if line.strip()]
    wish: dict[str, Any] = {"paths": paths or None, "force": force}
    try:
        count = rebuild(project=project, actor=request.user, **wish)
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        words = ngettext(
            "%(n)d document waits to be indexed anew.",
            "%(n)d documents wait to be indexed anew.",
            count,
        )
        messages.success(request, words % {"n": count})
    return redirect("project-index", project.pk)
