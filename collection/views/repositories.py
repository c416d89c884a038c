"""The repositories of a project, and those that an operator has added for all."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import Count, Max, OuterRef, Q, Subquery
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from collection.access import may_collect_all, runs_of
from collection.choices import BranchState
from collection.models import Branch, BulkCollectionRun, Commit, Repository, RepositoryFile
from collection.querysets import RepositoryQuerySet
from collection.services.tallies import tallies
from collection.views.finding import seen_of_all
from glossary_site.pages import Column, Listing, query_of, render_page
from projects.access import Action, Actor, project_for
from projects.models import Project
from projects.views.pages import project_context

COLUMNS = [
    Column("name", _("Repository"), order_by=Lower("name")),
    Column("state", _("State"), order_by="state"),
    Column("branches", _("Branches")),
    Column("commits", _("Commits"), kind="number"),
    Column("documents", _("Documents"), kind="number"),
    Column("collected", _("Last collected"), order_by="collected", kind="time"),
]
# As many names of branches as a row has room for.
MOST_NAMED = 2


@dataclass(frozen=True)
class Row:
    repository: Repository
    branches: list[str]
    commits: int
    documents: int

    @property
    def named(self) -> list[str]:
        return self.branches[:MOST_NAMED]

    @property
    def unnamed(self) -> int:
        return len(self.branches) - len(self.named)


@require_safe
def repository_list(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "repositories")
    own = with_collected(Repository.objects.filter(project=project))
    if query := query_of(request):
        own = own.filter(Q(name__icontains=query) | Q(address__icontains=query))
    listing = Listing(request, own, COLUMNS, default="name")
    shared = list(
        with_collected(Repository.objects.filter(project=None)).order_by(Lower("name"), "pk")
    )
    rows = rows_of([*listing.page, *shared])
    context |= {
        "part": "repositories",
        "listing": listing,
        "rows": rows[: len(listing.page)],
        "shared": rows[len(listing.page) :],
        "may_collect_all": may_collect_all(request.user),
        "roots": settings.GIT_ROOTS,
        **running_context(request.user, project),
    }
    template = "collection/repositories.html"
    return render_page(request, template, "collection/_repositories.html", context)


def with_collected(repositories: RepositoryQuerySet) -> RepositoryQuerySet:
    last = Branch.objects.filter(repository=OuterRef("pk")).order_by().values("repository")
    return repositories.annotate(
        collected=Subquery(last.annotate(at=Max("collected_at")).values("at"))
    )


def rows_of(repositories: list[Repository]) -> list[Row]:
    ids = [repository.pk for repository in repositories]
    branches: dict[int, list[str]] = {}
    followed = Branch.objects.filter(repository__in=ids, state=BranchState.FOLLOWED)
    for pk, name in followed.order_by("name").values_list("repository", "name"):
        branches.setdefault(pk, []).append(name)
    commits, documents = commit_counts(ids), document_counts(ids)
    return [
        Row(
            each,
            branches.get(each.pk, []),
            commits.get(each.pk, 0),
            documents.get(each.pk, 0),
        )
        for each in repositories
    ]


def commit_counts(ids: list[int]) -> dict[int, int]:
    """What is stored of each repository. A commit that several branches have is one: where there
    is one branch, its rows are counted, which takes a third of the time."""
    rows = Commit.objects.filter(branch__repository__in=ids).order_by()
    by_branch = rows.values("branch__repository", "branch").annotate(n=Count("*"))
    counts: dict[int, int] = {}
    several: set[int] = set()
    for pk, n in by_branch.values_list("branch__repository", "n"):
        if pk in counts:
            several.add(pk)
        counts[pk] = n
    if several:
        shared = Commit.objects.filter(repository__in=several).order_by().values("repository")
        once = shared.annotate(n=Count("sha", distinct=True))
        counts |= dict(once.values_list("repository", "n"))
    return counts


def document_counts(ids: list[int]) -> dict[int, int]:
    files = RepositoryFile.objects.filter(repository__in=ids, document__isnull=False)
    counted = files.order_by().values("repository").annotate(n=Count("pk"))
    return dict(counted.values_list("repository", "n"))


def running_context(actor: Actor, project: Project) -> dict[str, Any]:
    """The collection that goes on, if this project has to do with it."""
    run: BulkCollectionRun | None = runs_of(project).running().first()
    if run is None:
        return {"running": None}
    return {
        "running": run,
        "running_tally": tallies([run], only=seen_of_all(actor, project))[run.pk],
        "now": timezone.now(),
    }
