"""The collections of a project, newest first, and the form that starts one."""

from dataclasses import dataclass
from typing import Any

from django.db.models import F
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from collection.access import runs_of
from collection.models import BulkCollectionRun, Repository
from collection.services.tallies import Tally, tallies
from collection.views.finding import seen_of_all
from glossary_site.pages import Column, Listing, render_page, wants_part
from projects.access import Action, project_for
from projects.models import Project
from projects.views.pages import project_context

PAGE_SIZE = 25
COLUMNS = [
    Column("started", _("Started"), order_by="started_at", kind="time"),
    Column("status", _("Status"), order_by="status"),
    Column("targets", _("Targets"), order_by="total_targets", kind="number"),
    Column("succeeded", _("Succeeded"), order_by="success_count", kind="number"),
    Column("failed", _("Failed"), order_by="failed_count", kind="number"),
    Column("pending", _("Pending"), kind="number"),
    Column("commits", _("New commits"), order_by="new_commits", kind="number"),
    Column("took", _("Took"), order_by=F("completed_at") - F("started_at"), kind="number"),
    Column("by", _("By")),
]


@dataclass(frozen=True)
class Row:
    run: BulkCollectionRun
    tally: Tally


@require_safe
def collection_list(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "repositories")
    runs = runs_of(project).select_related("actor")
    listing = Listing(request, runs, COLUMNS, default="-started", page_size=PAGE_SIZE)
    page = list(listing.page)
    counts = tallies(page, only=seen_of_all(request.user, project))
    context |= {
        "part": "runs",
        "listing": listing,
        "rows": [Row(run, counts[run.pk]) for run in page],
        "now": timezone.now(),
    }
    if not wants_part(request):
        context |= start_context(project)
    return render_page(request, "collection/runs.html", "collection/_runs.html", context)


def start_context(project: Project) -> dict[str, Any]:
    """What the form for a new collection needs."""
    own = Repository.objects.filter(project=project).order_by(Lower("name"), "pk")
    choices = list(own.only("pk", "name", "enabled", "state", "project"))
    return {
        "choices": choices,
        "collectable": sum(repository.enabled for repository in choices),
    }
