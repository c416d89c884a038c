"""Work that begins by itself: what there is, when it is due next, and its switch."""

from django.contrib import messages
from django.db.models import OuterRef, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from glossary_site.errors import Refusal
from glossary_site.jobs.models import JobDefinition, JobRun
from glossary_site.jobs.services import definitions
from glossary_site.jobs.views.frame import for_operators, for_watchers, operations_context
from glossary_site.pages import Column, Listing, render_page

COLUMNS = [
    Column("name", gettext_lazy("Definition"), order_by="name"),
    Column("when", gettext_lazy("When")),
    Column("next", gettext_lazy("Next"), order_by="schedule__next_run"),
    Column("last", gettext_lazy("Last run"), order_by="last_run_id", kind="time"),
    Column("enabled", gettext_lazy("Switch"), order_by="enabled", kind="time"),
]


@require_safe
@for_watchers
def definition_list(request: HttpRequest) -> HttpResponse:
    context = operations_context(request, "definitions")
    newest = JobRun.objects.filter(definition=OuterRef("pk")).order_by("-pk").values("pk")[:1]
    rows = JobDefinition.objects.select_related("schedule").annotate(last_run_id=Subquery(newest))
    listing = Listing(request, rows, COLUMNS, default="name")
    last_runs = JobRun.objects.defer("payload", "result").in_bulk(
        [row.last_run_id for row in listing.page if row.last_run_id]
    )
    context |= {
        "listing": listing,
        "now": timezone.now(),
        "rows": [(row, last_runs.get(row.last_run_id)) for row in listing.page],
    }
    return render_page(request, "jobs/definitions.html", "jobs/_definitions.html", context)


@require_POST
@for_operators
def switch(request: HttpRequest, definition_id: int) -> HttpResponse:
    definition = get_object_or_404(JobDefinition, pk=definition_id)
    on = request.POST.get("enabled") == "on"
    try:
        (definitions.enable if on else definitions.disable)(definition, actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        sentence = _("“%(name)s” is switched on.") if on else _("“%(name)s” is switched off.")
        messages.success(request, sentence % {"name": definition.name})
    return redirect("definition-list")


@require_POST
@for_operators
def run_now(request: HttpRequest, definition_id: int) -> HttpResponse:
    definition = get_object_or_404(JobDefinition, pk=definition_id)
    try:
        run = definitions.run_now(definition, actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return redirect("definition-list")
    messages.success(
        request,
        _("“%(name)s” is started as job %(id)d.") % {"name": definition.name, "id": run.pk},
    )
    return redirect("job", run.pk)
