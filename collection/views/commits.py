"""The commits that were collected: a list with filters, and each of them."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from collection.choices import Kind
from collection.identities import Identity, People
from collection.models import Author, Commit, CommitPath, Repository, RepositoryFile
from collection.querysets import CommitQuerySet
from collection.statistics.asking import BadFilter, Filter
from collection.statistics.counting import commits_of, each_once
from collection.views.choosing import choices_of
from collection.views.lists import FirstOfMany
from glossary_site.pages import query_of, render_page, wants_part
from projects.access import Action, project_for
from projects.models import Document, Project
from projects.views.pages import project_context

# As much of a sha as tells commits apart, and as little as people type.
LEAST_SHA = 4
# Where a host shows a commit.
WEB = {Kind.GITHUB: "{}/commit/{}", Kind.GITLAB: "{}/-/commit/{}"}


@dataclass(frozen=True)
class Line:
    commit: Commit
    person: Identity
    # The branches that have it, and whether none of them has it any more.
    branches: list[str]
    is_unreachable: bool


@require_safe
def commit_list(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "repositories")
    people = People.of(project)
    path = request.GET.get("path", "").replace("\0", "").strip()
    errors: dict[str, str] = {}
    try:
        asked = Filter.from_query(request.GET)
        rows = each_once(commits_of(project, asked, people=people), asked)
    except BadFilter as bad:
        asked, errors = Filter(), bad.errors
        rows = Commit.objects.none()
    if query := query_of(request):
        rows = rows.filter(_matching(query))
    if path:
        rows = rows.filter(_touching(path))
    listing = FirstOfMany(request, _newest_first(rows))
    seen = Repository.objects.seen_by(project)
    context |= {
        "part": "commits",
        "asked": asked,
        "errors": errors,
        "typed": {key: request.GET.get(key, "") for key in ("since", "until")},
        "path": path,
        "listing": listing,
        "lines": _lines(list(listing.page), people),
        "choices": choices_of(project, request.GET, _authors(project)),
        "is_narrowed": bool(query or path or asked.is_narrowed or errors),
        "has_repositories": seen.exists(),
        "many_repositories": seen.count() > 1,
    }
    status = 400 if errors and not wants_part(request) else 200
    return render_page(
        request, "collection/commits.html", "collection/_commits.html", context, status=status
    )


def _newest_first(rows: CommitQuerySet) -> CommitQuerySet:
    return rows.select_related("repository").order_by("-committed_date", "-pk")


def _matching(query: str) -> Q:
    found = (
        Q(subject__icontains=query)
        | Q(author_name__icontains=query)
        | Q(author_email__icontains=query)
    )
    return found | Q(sha__startswith=query.lower()) if len(query) >= LEAST_SHA else found


def _touching(path: str) -> Exists:
    """A file, or everything in a folder."""
    touched = CommitPath.objects.filter(
        repository_id=OuterRef("repository_id"), sha=OuterRef("sha")
    )
    folder = path.rstrip("/") + "/"
    return Exists(touched.filter(Q(path=path) | Q(path__startswith=folder)))


def _authors(project: Project) -> list[tuple[str, str]]:
    """Those whom people or a mail map have put together; the others are found by their names."""
    rows = Author.objects.filter(project=project).order_by("name", "email")
    return [(str(Identity(*row)), row[0]) for row in rows.values_list("name", "email")]


def _lines(commits: list[Commit], people: People) -> list[Line]:
    branches: dict[tuple[int, str], list[tuple[str, bool]]] = defaultdict(list)
    rows = Commit.objects.filter(
        repository__in={commit.repository_id for commit in commits},
        sha__in={commit.sha for commit in commits},
    )
    found = rows.order_by("branch__name").values_list(
        "repository_id", "sha", "branch__name", "unreachable"
    )
    for repository_id, sha, name, unreachable in found:
        branches[repository_id, sha].append((name, unreachable))
    lines = []
    for commit in commits:
        known = branches[commit.repository_id, commit.sha]
        here = [name for name, unreachable in known if not unreachable]
        person = people.person(Identity(commit.author_name, commit.author_email))
        lines.append(Line(commit, person, here or [name for name, _gone in known], not here))
    return lines


# ---- One of them --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parent:
    sha: str
    # None where it was not collected: older than was asked for, or beyond a shallow history.
    commit: Commit | None

    @property
    def short_sha(self) -> str:
        return self.sha[:10]


@dataclass(frozen=True)
class Touched:
    path: str
    document: Document | None


@require_safe
def commit_page(request: HttpRequest, project_id: int, commit_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "repositories")
    seen = Commit.objects.seen_by(project).select_related("repository", "branch")
    commit: Commit | None = seen.filter(pk=commit_id).first()
    if commit is None:
        raise Http404(_("This project has no such commit."))
    rows = Commit.objects.filter(repository=commit.repository_id, sha=commit.sha)
    branches = list(rows.select_related("branch").order_by("unreachable", "branch__name"))
    identity = Identity(commit.author_name, commit.author_email)
    person = People.of(project).person(identity)
    context |= {
        "part": "commits",
        "commit": commit,
        "identity": identity,
        "person": person,
        "is_merged": person != identity,
        "branches": branches,
        "is_unreachable": all(row.unreachable for row in branches),
        "parents": _parents(commit),
        "touched": _touched(project, commit),
        "web_address": _web_address(commit),
    }
    return render(request, "collection/commit.html", context)


def _parents(commit: Commit) -> list[Parent]:
    shas = commit.parents.split()
    rows = Commit.objects.filter(repository=commit.repository_id, sha__in=shas).order_by("-pk")
    known: dict[str, Any] = {row.sha: row for row in rows}
    return [Parent(sha, known.get(sha)) for sha in shas]


def _touched(project: Project, commit: Commit) -> list[Touched]:
    touched = CommitPath.objects.filter(repository=commit.repository_id, sha=commit.sha)
    paths = list(touched.order_by("path").values_list("path", flat=True))
    files = RepositoryFile.objects.select_related("document").filter(
        repository=commit.repository_id, path__in=paths, document__project=project
    )
    documents = {file.path: file.document for file in files}
    return [Touched(path, documents.get(path)) for path in paths]


def _web_address(commit: Commit) -> str:
    form = WEB.get(Kind(commit.repository.kind))
    return form.format(commit.repository.address, commit.sha) if form else ""
