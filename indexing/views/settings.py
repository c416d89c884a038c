"""An owner's choices for the search of a project: who makes vectors, and which folders on the
machine are followed."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from glossary_site.errors import Refusal
from indexing.folders.services import remove_folder, set_folder
from indexing.forms import EmbedderForm, FolderForm
from indexing.models import FolderSource, ProjectIndex
from indexing.services.settings import choose_embedder
from indexing.services.status import index_status
from projects.access import Action, project_for
from projects.models import Project
from projects.views.pages import project_context


@require_http_methods(["GET", "HEAD", "POST"])
def search_settings(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.MANAGE)
    if request.method != "POST":
        return _page(request, project)
    form = EmbedderForm(request.POST)
    if form.is_valid():
        try:
            choose_embedder(
                project=project, choice=form.cleaned_data["embedder"], actor=request.user
            )
        except Refusal as refusal:
            form.add_error("embedder", str(refusal))
        else:
            messages.success(request, _("The choice is saved."))
            return redirect("project-search-settings", project.pk)
    return _page(request, project, form=form)


@require_POST
def folder(request: HttpRequest, project_id: int) -> HttpResponse:
    """Follow a folder, or change how one is followed."""
    project = project_for(request.user, project_id, Action.MANAGE)
    form = FolderForm(request.POST)
    if form.is_valid():
        values = form.cleaned_data
        try:
            set_folder(
                project=project,
                directory=values["directory"],
                # Browsers send the line ends of DOS.
                include=values["include"].replace("\r\n", "\n"),
                exclude=values["exclude"].replace("\r\n", "\n"),
                enabled=values["enabled"],
                actor=request.user,
            )
        except Refusal as refusal:
            about_patterns = "pattern" in refusal.code
            form.add_error(None if about_patterns else "directory", str(refusal))
        else:
            messages.success(request, _("The folder is saved."))
            return redirect("project-search-settings", project.pk)
    return _page(request, project, folder_form=form)


@require_POST
def remove(request: HttpRequest, project_id: int, folder_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.MANAGE)
    source = get_object_or_404(FolderSource, project=project, pk=folder_id)
    keep = "delete_documents" not in request.POST
    deleted = remove_folder(source=source, actor=request.user, keep_documents=keep)
    if keep:
        said = _("The folder is not followed any more. Its documents stay in the project.")
    else:
        said = ngettext(
            "The folder is not followed any more. %(n)d document was deleted with it.",
            "The folder is not followed any more. %(n)d documents were deleted with it.",
            deleted,
        ) % {"n": deleted}
    messages.success(request, said)
    return redirect("project-search-settings", project.pk)


def _page(
    request: HttpRequest,
    project: Project,
    *,
    form: EmbedderForm | None = None,
    folder_form: FolderForm | None = None,
) -> HttpResponse:
    context: dict[str, Any] = project_context(request, project, "settings")
    index = ProjectIndex.objects.filter(pk=project.pk).first()
    chosen = index.chosen_embedder if index else ""
    folders = list(project.folder_sources.all())
    context |= {
        "form": form or EmbedderForm(initial={"embedder": chosen}),
        "site_embedder": settings.EMBEDDER,
        "embedding_model": settings.EMBEDDING_MODEL,
        "overview": index_status(project),
        "roots": [str(root) for root in settings.FOLDER_ROOTS],
        "folders": [(source, _form_of(source)) for source in folders],
        "folder_form": folder_form or FolderForm(),
        "settings_tab": "search",
    }
    wrong = bool((form and form.errors) or (folder_form and folder_form.errors))
    return render(request, "indexing/settings.html", context, status=422 if wrong else 200)


def _form_of(source: FolderSource) -> FolderForm:
    initial = {
        "directory": source.directory,
        "include": source.include,
        "exclude": source.exclude,
        "enabled": source.enabled,
    }
    return FolderForm(initial=initial, auto_id=f"id_{source.pk}_%s")
