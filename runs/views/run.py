"""One run: how far it is, what it has made, and what can be done with that."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from glossary_site.pages import Listing, wants_part
from projects.access import Action, project_for
from projects.choices import Category
from projects.models import Document, Project
from projects.views.pages import project_context
from projects.work import reason_of, runs_of
from runs.choices import Status
from runs.models import Run
from runs.services.comparing import preview
from runs.services.publishing import defined, entries_of
from runs.views.finding import run_of
from runs.views.log import log_context
from runs.views.progress import count_what_is_asked, progress_of
from runs.views.publications import counterpart_of, publication_of
from runs.views.tables import DOCUMENTS, ISSUES, PROVISIONAL, REFINED, TABLES, TERMS

LOG = "log"
# What people come for, the most finished first.
RESULTS = (REFINED, PROVISIONAL, TERMS)
# The parts of the page that are asked for alone, by the id of what they replace.
PARTS = {"run-head": "runs/_head.html", "results": "runs/_table.html"}


@dataclass(frozen=True)
class Tab:
    key: str
    label: Any
    count: int
    is_current: bool


@require_safe
def run_page(request: HttpRequest, project_id: int, run_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "runs")
    run = run_of(project, run_id)
    part = _part(request)
    counts = {key: table.count(run) for key, table in TABLES.items()}
    result = _result(run, counts)
    current = _current(request, result)
    context |= {
        "run": run,
        "tabs": _tabs(current, counts, run),
        "current_tab": current,
        # Elsewhere other words stand beside the boxes than those that would be published.
        "can_choose": context["can_edit"] and run.has_ended and current == result,
        "now": timezone.now(),
        "page_shortcuts": "runs/_shortcuts.html",
    }
    if part != "results":
        count_what_is_asked(run)
        context |= _head(run, counts)
    if part != "run-head":
        context |= _results(request, project, run, current)
    response = render(request, PARTS.get(part, "runs/run.html"), context)
    # Several bodies at one address: a browser must not show one from its cache for the other.
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def _part(request: HttpRequest) -> str:
    target: str | None = request.htmx.target if wants_part(request) else None  # type: ignore[attr-defined]
    return target if target in PARTS else ""


def _result(run: Run, counts: Mapping[str, int]) -> str:
    """The log of a run that goes on, and what came of one that has ended."""
    if run.is_active:
        return LOG
    return next((table.key for table in RESULTS if counts[table.key]), LOG)


def _current(request: HttpRequest, result: str) -> str:
    wanted = request.GET.get("tab", "")
    return wanted if wanted in TABLES or wanted == LOG else result


def _tabs(current: str, counts: Mapping[str, int], run: Run) -> list[Tab]:
    tables = [Tab(key, TABLES[key].label, counts[key], key == current) for key in TABLES]
    return [*tables, Tab(LOG, _("Log"), run.log_count, current == LOG)]


def _head(run: Run, counts: Mapping[str, int]) -> dict[str, Any]:
    now = timezone.now()
    context: dict[str, Any] = {
        "progress": progress_of(run, now),
        "can_resume": run.status in (Status.CANCELLED, Status.FAILED),
    }
    if run.is_active:
        context["reason"] = reason_of(runs_of(run.project))
    elif counts[REFINED.key] or counts[PROVISIONAL.key]:
        context["preview"] = preview(run)
        context["counterpart"] = counterpart_of(run)
        context["publication"] = publication_of(run)
        entries = entries_of(run)
        count = defined(entries).count()
        # Where there is a choice.
        context["defined_count"] = count if count < entries.count() else 0
    return context


def _results(request: HttpRequest, project: Project, run: Run, current: str) -> dict[str, Any]:
    if current == LOG:
        return log_context(request, run)
    table = TABLES[current]
    listing = table.listing(request, run)
    own = project.term_categories.values_list("key", "name")
    context: dict[str, Any] = {
        "table": table,
        "listing": listing,
        "categories": {**dict(Category.choices), **dict(own)},
    }
    if table is DOCUMENTS:
        context["present"] = _present(project, listing)
    elif table in (TERMS, ISSUES):
        keys = {row.key for row in listing.page}
        known = project.terms.filter(key__in=keys).only("key", "status", "project")
        context["known"] = {term.key: term for term in known}
    return context


def _present(project: Project, listing: Listing) -> dict[int, Document]:
    """The documents of this page as they are now, those that are still there."""
    ids = [row.document_id for row in listing.page]
    return Document.objects.filter(project=project).listed().in_bulk(ids)
