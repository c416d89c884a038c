"""The runs of a project, newest first."""

from dataclasses import dataclass

from django.db.models import Count, F
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from glossary_site.pages import Column, Listing, render_page, wants_part
from projects.access import Action, project_for
from projects.views.pages import project_context
from runs.models import ProvisionalEntry, Run, RunTerm
from runs.views.pipeline import pipeline_context
from runs.views.progress import count_what_is_asked

PAGE_SIZE = 25
COLUMNS = [
    Column("run", _("Run"), order_by="pk", kind="time"),
    Column("status", _("Status"), order_by="status"),
    Column("started", _("Started"), order_by="created_at", kind="time"),
    Column("took", _("Took"), order_by=F("finished_at") - F("started_at"), kind="number"),
    Column("terms", _("Terms"), kind="number"),
    Column("requests", _("Requests"), order_by="requests", kind="number"),
    Column("cost", _("Cost"), order_by="cost_nano", kind="number"),
    Column("failures", _("Failures"), order_by="failure_count", kind="number"),
    Column("by", _("By")),
]


@dataclass(frozen=True)
class Row:
    run: Run
    terms: int
    # Whether it has entries that can be compared with those of another run.
    has_entries: bool


@require_safe
def run_list(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "runs")
    runs = Run.objects.filter(project=project).with_publication().select_related("actor")
    listing = Listing(request, runs, COLUMNS, default="-run", page_size=PAGE_SIZE)
    shown = list(listing.page)
    for run in shown:
        if run.is_active:
            count_what_is_asked(run)
    rows = rows_of(shown)
    comparable = [row.run.pk for row in rows if row.has_entries]
    context |= {
        "listing": listing,
        "rows": rows,
        "can_compare": len(comparable) > 1,
        "newer": comparable[0] if comparable else None,
        "older": comparable[1] if len(comparable) > 1 else None,
    }
    if not wants_part(request):
        context |= pipeline_context(request, project)
    return render_page(request, "runs/list.html", "runs/_list.html", context)


def rows_of(runs: list[Run]) -> list[Row]:
    ids = [run.pk for run in runs]
    found = RunTerm.objects.filter(run__in=ids, excluded_because="").order_by().values("run")
    counts = dict(found.annotate(n=Count("pk")).values_list("run", "n"))
    written = ProvisionalEntry.objects.filter(run__in=ids).order_by()
    with_entries = set(written.values_list("run", flat=True).distinct())
    return [
        Row(
            run=run,
            terms=counts.get(run.pk, 0),
            has_entries=run.pk in with_entries,
        )
        for run in runs
    ]
