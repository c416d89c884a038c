"""What owners do with a repository: test it, pause it, let it go on, remove it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import trigger_client_event

from collection.models import Repository
from collection.services.repositories import (
    Checked,
    check_repository,
    remove_repository,
    set_enabled,
)
from collection.views.finding import repository_for
from collection.views.repositories import commit_counts
from collection.views.repository import repository_context
from glossary_site.errors import Refusal
from glossary_site.pages import wants_part
from projects.access import Action
from projects.models import Project
from projects.views.pages import project_context


@require_POST
def test_repository(request: HttpRequest, project_id: int, repository_id: int) -> HttpResponse:
    """Ask it as it is saved."""
    project, repository = repository_for(request.user, project_id, repository_id, Action.MANAGE)
    try:
        checked = check_repository(repository, actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return redirect("repositories", project.pk)
    if wants_part(request):
        answer = render(request, "collection/_checked.html", {"checked": checked, "saved": True})
        # The feed of a project does not tell of those for all.
        return trigger_client_event(answer, "live:repositories", after="settle")
    _tell(request, checked)
    return redirect("repository", project.pk, repository.pk)


def _tell(request: HttpRequest, checked: Checked) -> None:
    sentence = f"{checked.state.label}. {checked.message}".strip()
    if checked.is_usable:
        count = len(checked.matching)
        words = ngettext("%(n)d branch is followed.", "%(n)d branches are followed.", count)
        messages.success(request, f"{sentence} {words % {'n': count}}")
    else:
        messages.error(request, sentence)


@require_POST
def enable_repository(request: HttpRequest, project_id: int, repository_id: int) -> HttpResponse:
    project, repository = repository_for(request.user, project_id, repository_id, Action.MANAGE)
    enabled = request.POST.get("enabled") == "yes"
    try:
        set_enabled(repository=repository, enabled=enabled, actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return redirect("repositories", project.pk)
    if enabled:
        messages.success(request, _("It is collected again, with the others."))
    else:
        messages.success(request, _("It is paused. What was collected stays."))
    return redirect("repository", project.pk, repository.pk)


@require_http_methods(["GET", "HEAD", "POST"])
def remove(request: HttpRequest, project_id: int, repository_id: int) -> HttpResponse:
    """Says first what goes and what stays."""
    project, repository = repository_for(request.user, project_id, repository_id, Action.MANAGE)
    if request.method != "POST":
        return render(
            request, "collection/repository_remove.html", _impact(request, project, repository)
        )
    with_documents = "delete_documents" in request.POST
    name = repository.name
    try:
        deleted = remove_repository(
            repository=repository, actor=request.user, delete_documents=with_documents
        )
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return redirect("repositories", project.pk)
    sentence = _("“%(name)s” is removed, with its commits.") % {"name": name}
    if with_documents:
        words = ngettext(
            "%(n)d document was deleted with it.", "%(n)d documents were deleted with it.", deleted
        )
        sentence = f"{sentence} {words % {'n': deleted}}"
    messages.success(request, sentence)
    return redirect("repositories", project.pk)


def _impact(request: HttpRequest, project: Project, repository: Repository) -> dict[str, Any]:
    context = project_context(request, project, "repositories")
    return (
        context
        | repository_context(request.user, project, repository)
        | {
            "branches": repository.branches.count(),
            "commits": commit_counts([repository.pk]).get(repository.pk, 0),
            "documents": repository.files.filter(document__isnull=False).count(),
        }
    )
