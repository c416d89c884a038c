"""The list of runs, one run with all its facts, and what can be done to it."""

import json
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from glossary_site.errors import Refusal
from glossary_site.jobs import registry
from glossary_site.jobs.choices import ACTIVE, Lane
from glossary_site.jobs.lists import ORIGINS, STATE_GROUPS, matching, may_be_retried
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.overview import overview
from glossary_site.jobs.reasons import Reason, why
from glossary_site.jobs.services.runs import cancel_run, retry_run
from glossary_site.jobs.views.frame import for_operators, for_watchers, operations_context
from glossary_site.jobs.views.log import log_page
from glossary_site.jobs.views.trail import trail_of
from glossary_site.pages import Column, Listing, query_of, render_page, wants_part

COLUMNS = [
    Column("id", gettext_lazy("Job"), order_by="pk", kind="time"),
    Column("state", gettext_lazy("State"), order_by="state"),
    Column("progress", gettext_lazy("Progress")),
    Column("lane", gettext_lazy("Lane"), order_by="lane"),
    Column("scope", gettext_lazy("Scope"), order_by="scope"),
    Column("attempt", gettext_lazy("Attempt"), order_by="attempt", kind="number"),
    Column("took", gettext_lazy("Took"), kind="number"),
    Column("created", gettext_lazy("Created"), order_by="created_at", kind="time"),
]
FILTERS = ("state", "kind", "lane", "scope", "origin")
# A chain longer than this is told from its end.
MOST_ATTEMPTS = 20


@require_safe
@for_watchers
def run_list(request: HttpRequest) -> HttpResponse:
    context = operations_context(request, "jobs")
    chosen = {key: request.GET.get(key, "").replace("\0", "") for key in FILTERS}
    runs = JobRun.objects.defer("payload", "result")
    if chosen["state"] in STATE_GROUPS:
        runs = runs.filter(state__in=STATE_GROUPS[chosen["state"]][1])
    if chosen["origin"] in ORIGINS:
        runs = runs.filter(ORIGINS[chosen["origin"]][1])
    for key in ("kind", "lane", "scope"):
        if chosen[key]:
            runs = runs.filter(**{key: chosen[key]})
    if query := query_of(request):
        runs = matching(runs, query)
    context |= {
        "listing": Listing(request, runs, COLUMNS, default="-id"),
        "chosen": chosen,
        "narrowed": bool(query or any(chosen.values())),
        "states": [(key, label) for key, (label, _states) in STATE_GROUPS.items()],
        "origins": [(key, label) for key, (label, _condition) in ORIGINS.items()],
        "kinds": [kind.name for kind in registry.kinds()],
        "lanes": Lane.choices,
    }
    return render_page(request, "jobs/list.html", "jobs/_list.html", context)


@require_safe
@for_watchers
def run_page(request: HttpRequest, run_id: int) -> HttpResponse:
    context = operations_context(request, "jobs")
    run = get_object_or_404(JobRun.objects.select_related("definition", "next_attempt"), pk=run_id)
    attempts = chain(run)
    context |= {
        "run": run,
        "reason": reason_for(run),
        "attempts": attempts,
        "can_cancel": run.state in ACTIVE,
        "can_retry": may_be_retried(run),
        "payload": pretty(run.payload),
        "result": pretty(run.result),
        "timeout": timedelta(seconds=run.timeout_seconds),
        "now": timezone.now(),
        "trail": trail_of(run),
    }
    if not wants_part(request):
        # The part that is shown again and again has no log in it: that one grows by itself.
        context["log"] = log_page(request, run)
    return render_page(request, "jobs/run.html", "jobs/_run.html", context)


def reason_for(run: JobRun) -> Reason | None:
    return why(run, overview()) if run.state in ACTIVE else None


def chain(run: JobRun) -> list[JobRun]:
    """All attempts at the same work, the first one first."""
    runs = JobRun.objects.defer("payload", "result")
    attempts = [run]
    while len(attempts) < MOST_ATTEMPTS and attempts[0].retry_of_id is not None:
        earlier = runs.filter(pk=attempts[0].retry_of_id).first()
        if earlier is None:
            break
        attempts.insert(0, earlier)
    while len(attempts) < MOST_ATTEMPTS:
        following = runs.filter(retry_of=attempts[-1]).first()
        if following is None:
            break
        attempts.append(following)
    return attempts


def pretty(value: Any) -> str:
    return "" if value in (None, {}) else json.dumps(value, ensure_ascii=False, indent=2)


@require_POST
@for_operators
def cancel(request: HttpRequest, run_id: int) -> HttpResponse:
    run = get_object_or_404(JobRun, pk=run_id)
    try:
        cancel_run(run, actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("Job %(id)d is cancelled.") % {"id": run.pk})
    return redirect("job", run.pk)


@require_POST
@for_operators
def retry(request: HttpRequest, run_id: int) -> HttpResponse:
    run = get_object_or_404(JobRun, pk=run_id)
    try:
        attempt = retry_run(run, actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return redirect("job", run.pk)
    messages.success(request, _("It is tried again now, as job %(id)d.") % {"id": attempt.pk})
    return redirect("job", attempt.pk)
