"""LLM processes for operators: what is asked, what it has cost so far, and what went wrong."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from glossary_site.errors import Refusal
from glossary_site.jobs.views.frame import for_operators, for_watchers, operations_context
from glossary_site.jobs.views.trail import trail_of
from glossary_site.llm.choices import ProcessStatus
from glossary_site.llm.lists import STATUS_GROUPS, failures_of, lines_of, matching
from glossary_site.llm.models import LLMProcess
from glossary_site.llm.models.process import SITE
from glossary_site.llm.services import budgets, processes
from glossary_site.pages import Column, Listing, query_of, render_page

COLUMNS = [
    Column("process", gettext_lazy("Process")),
    Column("status", gettext_lazy("Status"), order_by="status"),
    Column("requests", gettext_lazy("Requests"), order_by="total", kind="number"),
    Column("failed", gettext_lazy("Failed"), order_by="failed", kind="number"),
    Column("tokens", gettext_lazy("Tokens"), kind="number"),
    Column("cost", gettext_lazy("Cost"), order_by="cost_nano", kind="number"),
    Column("scope", gettext_lazy("Scope"), order_by="scope"),
    Column("created", gettext_lazy("Created"), order_by="created_at", kind="time"),
]


@require_safe
@for_watchers
def process_list(request: HttpRequest) -> HttpResponse:
    context = operations_context(request, "llm")
    chosen = {key: request.GET.get(key, "").replace("\0", "") for key in ("status", "scope")}
    rows = LLMProcess.objects.listed()
    if chosen["status"] in STATUS_GROUPS:
        rows = rows.filter(status__in=STATUS_GROUPS[chosen["status"]][1])
    if chosen["scope"]:
        rows = rows.for_scope(chosen["scope"])
    if query := query_of(request):
        rows = matching(rows, query)
    listing = Listing(request, rows, COLUMNS, default="-created")
    context |= {
        "listing": listing,
        "lines": lines_of(listing.page),
        "chosen": chosen,
        "narrowed": bool(query or any(chosen.values())),
        "statuses": [(key, label) for key, (label, _statuses) in STATUS_GROUPS.items()],
        "month": budgets.glance(chosen["scope"] or SITE),
    }
    return render_page(request, "llm/list.html", "llm/_list.html", context)


@require_safe
@for_watchers
def process_page(request: HttpRequest, process_id: UUID) -> HttpResponse:
    context = operations_context(request, "llm")
    process = get_object_or_404(LLMProcess.objects.select_related("run"), pk=process_id)
    context |= process_context(process)
    return render_page(request, "llm/process.html", "llm/_process.html", context)


def process_context(process: LLMProcess) -> dict[str, Any]:
    (line,) = lines_of([process])
    reasons = failures_of(process)
    return {
        "process": process,
        "line": line,
        "reasons": reasons,
        "batches": list(process.batches.order_by("number")),
        "trail": trail_of(process),
        "now": timezone.now(),
        "can_cancel": not process.ended and process.status != ProcessStatus.CANCELLING,
        # The failed requests are there until whoever asked takes the answers away.
        "can_retry": process.ended and bool(reasons),
    }


@require_POST
@for_operators
def cancel(request: HttpRequest, process_id: UUID) -> HttpResponse:
    process = get_object_or_404(LLMProcess, pk=process_id)
    try:
        process = processes.cancel(process.pk, actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        sentence = (
            _("The process is cancelled.")
            if process.ended
            else _("The process is being cancelled at its provider.")
        )
        messages.success(request, sentence)
    return redirect("llm-process", process_id)


@require_POST
@for_operators
def retry(request: HttpRequest, process_id: UUID) -> HttpResponse:
    process = get_object_or_404(LLMProcess, pk=process_id)
    try:
        processes.retry(process.pk, actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("The failed requests are sent again."))
    return redirect("llm-process", process_id)
