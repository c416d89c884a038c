"""One repository: how it stands, its branches, its documents, and what the last collections of it
came to."""

from typing import Any

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from collection.access import may_collect_all, runs_of
from collection.models import Branch, BulkCollectionResult, Commit, Repository
from collection.views.finding import may, repository_of
from collection.views.repositories import commit_counts
from glossary_site.pages import Column, Listing, query_of, wants_part
from glossary_site.secrets import SecretUnreadable, decrypt
from projects.access import Action, Actor, project_for
from projects.models import Project
from projects.views.pages import project_context

# The parts of the page that are asked for alone, by the id of what they replace.
PARTS = {
    "repository-head": "collection/_repository.html",
    "results": "collection/_branches.html",
    "repository-recent": "collection/_recent.html",
}
COLUMNS = [
    Column("name", _("Branch"), order_by="name"),
    Column("state", _("State"), order_by="state"),
    Column("head", _("Collected up to")),
    Column("commits", _("Commits"), kind="number"),
    Column("collected", _("Last collected"), order_by="collected_at", kind="time"),
]
MOST_RESULTS = 10
MOST_REFUSED = 50


@require_safe
def repository_page(request: HttpRequest, project_id: int, repository_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "repositories")
    repository = repository_of(project, repository_id)
    part = _part(request)
    context |= repository_context(request.user, project, repository)
    if part in ("", "repository-head"):
        context |= _head(project, repository)
    if part in ("", "results"):
        context |= _branches(request, repository)
    if part in ("", "repository-recent"):
        context["results"] = _results(request.user, project, repository)
    response = render(request, PARTS.get(part, "collection/repository.html"), context)
    # Several bodies at one address: a browser must not show one from its cache for the other.
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def repository_context(actor: Actor, project: Project, repository: Repository) -> dict[str, Any]:
    """What every page about one repository needs, beside the frame of its project."""
    return {
        "part": "repositories",
        "repository": repository,
        "may_manage": may(actor, Action.MANAGE, project, repository),
        "may_collect": may(actor, Action.EDIT, project, repository),
    }


def key_state(repository: Repository) -> str:
    """All that is ever told of what it is reached with: none, stored, or unreadable."""
    if not repository.secret:
        return "none"
    try:
        decrypt(repository.secret)
    except SecretUnreadable:
        return "unreadable"
    return "stored"


def _part(request: HttpRequest) -> str:
    target: str | None = request.htmx.target if wants_part(request) else None  # type: ignore[attr-defined]
    return target if target in PARTS else ""


def _head(project: Project, repository: Repository) -> dict[str, Any]:
    files = repository.files.aggregate(
        documents=Count("pk", filter=Q(document__isnull=False)),
        refused=Count("pk", filter=~Q(error="")),
    )
    refused = repository.files.exclude(error="").order_by("path")[:MOST_REFUSED]
    return {
        "commits": commit_counts([repository.pk]).get(repository.pk, 0),
        "key": key_state(repository),
        "documents": files["documents"],
        "refused": list(refused),
        "more_refused": max(0, files["refused"] - MOST_REFUSED),
        "running": runs_of(project).running().filter(results__repository=repository).first(),
    }


def _results(actor: Actor, project: Project, repository: Repository) -> list[BulkCollectionResult]:
    """Of the last collections; each has a page only in the collections that the project sees."""
    results = repository.results.select_related("run").order_by("-run__started_at", "branch_name")
    if not may_collect_all(actor):
        results = results.filter(run__in=runs_of(project))
    return list(results[:MOST_RESULTS])


def _branches(request: HttpRequest, repository: Repository) -> dict[str, Any]:
    branches = Branch.objects.filter(repository=repository)
    if query := query_of(request):
        branches = branches.filter(name__icontains=query)
    listing = Listing(request, branches, COLUMNS, default="name")
    ids = [branch.pk for branch in listing.page]
    found = Commit.objects.filter(branch__in=ids).order_by().values("branch")
    counts = dict(found.annotate(n=Count("pk")).values_list("branch", "n"))
    return {
        "listing": listing,
        "rows": [(branch, counts.get(branch.pk, 0)) for branch in listing.page],
    }
