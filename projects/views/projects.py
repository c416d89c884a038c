"""The list of projects, one project's overview, and its settings."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from glossary_site.errors import Refusal
from glossary_site.pages import Column, Listing, query_of, render_page
from projects.access import Action, project_for, visible_projects
from projects.choices import Language
from projects.forms import CloneForm, DeleteForm, ProjectForm
from projects.glance import FACTS, Fact, with_glance
from projects.models import NAME_LENGTH, Project
from projects.panels import PANELS, panels_of
from projects.services.projects import (
    clone_project,
    create_project,
    delete_project,
    update_project,
)
from projects.views.activity import recent_news
from projects.views.pages import project_context

RECENT_DOCUMENTS = 8


@dataclass(frozen=True)
class Cell:
    fact: Fact
    value: Any


@dataclass(frozen=True)
class Row:
    """A project with what the list shows of it."""

    project: Project
    cells: list[Cell]


def row_of(project: Project) -> Row:
    return Row(project, [Cell(fact, getattr(project, fact.sort_key)) for fact in FACTS])


@require_safe
def project_list(request: HttpRequest) -> HttpResponse:
    columns = [
        Column("name", gettext_lazy("Project"), order_by=Lower("name")),
        *(Column(fact.key, fact.label, order_by=fact.sort_key, kind=fact.kind) for fact in FACTS),
    ]
    projects = visible_projects(request.user)
    if query := query_of(request):
        projects = projects.matching(query)
    listing = Listing(request, with_glance(projects), columns, default="name")
    context = {
        "nav": "projects",
        "listing": listing,
        "rows": [row_of(project) for project in listing.page],
    }
    return render_page(request, "projects/list.html", "projects/_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def project_create(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        # Whoever reads the site in Japanese most likely brings Japanese documents.
        spoken = get_language()
        language = spoken if spoken in Language.values else Language.ENGLISH
        form = ProjectForm(initial={"language": language})
        return render(request, "projects/create.html", {"nav": "projects", "form": form})
    form = ProjectForm(request.POST)
    if form.is_valid():
        try:
            project = create_project(actor=request.user, **form.cleaned_data)
        except Refusal as refusal:
            form.add_error("name", str(refusal))
        else:
            messages.success(request, _("The project is ready. Add its documents next."))
            return redirect("project", project.pk)
    return render(request, "projects/create.html", {"nav": "projects", "form": form}, status=422)


@require_safe
def overview(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "overview")
    seen = with_glance(Project.objects.filter(pk=project.pk)).first()
    documents = project.documents.listed().order_by("-updated_at", "-pk")[:RECENT_DOCUMENTS]
    context |= {
        "facts": row_of(seen).cells if seen else [],
        "documents": documents,
        "news": recent_news(project),
        # Each keeps itself up to date: they come with the page, and stay when the rest is replaced.
        "panels": panels_of(request, project, PANELS),
    }
    return render_page(request, "projects/overview.html", "projects/_overview.html", context)


@require_safe
def head(request: HttpRequest, project_id: int) -> HttpResponse:
    """The name and the tabs alone, for pages that are open while they change."""
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, request.GET.get("tab", ""))
    return render(request, "projects/_head.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.MANAGE)
    if request.method != "POST":
        return _settings_page(request, project)
    form = ProjectForm(request.POST)
    if form.is_valid():
        try:
            update_project(project=project, actor=request.user, **form.cleaned_data)
        except Refusal as refusal:
            form.add_error("name", str(refusal))
        else:
            messages.success(request, _("The settings are saved."))
            return redirect("project-settings", project.pk)
    return _settings_page(request, project, form=form)


@require_http_methods(["GET", "HEAD", "POST"])
def clone(request: HttpRequest, project_id: int) -> HttpResponse:
    """Whoever may read everything in a project may start a project of their own from it."""
    project = project_for(request.user, project_id, Action.VIEW)
    if request.method != "POST":
        return _clone_page(request, project, CloneForm(initial={"name": copy_name(project)}))
    form = CloneForm(request.POST)
    if form.is_valid():
        try:
            copy = clone_project(
                project=project, actor=request.user, name=form.cleaned_data["name"]
            )
        except Refusal as refusal:
            form.add_error("name", str(refusal))
        else:
            messages.success(request, _("This is a copy of “%(name)s”.") % {"name": project.name})
            return redirect("project", copy.pk)
    return _clone_page(request, project, form, status=422)


def _clone_page(
    request: HttpRequest, project: Project, form: CloneForm, *, status: int = 200
) -> HttpResponse:
    context = project_context(request, project, "")
    return render(request, "projects/clone.html", context | {"form": form}, status=status)


def copy_name(project: Project) -> str:
    return (_("%(name)s (copy)") % {"name": project.name})[:NAME_LENGTH]


@require_POST
def delete(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.MANAGE)
    form = DeleteForm(request.POST, project=project)
    if not form.is_valid():
        return _settings_page(request, project, delete_form=form)
    name = project.name
    delete_project(project=project, actor=request.user)
    messages.success(request, _("The project “%(name)s” was deleted.") % {"name": name})
    return redirect("project-list")


def _settings_page(
    request: HttpRequest,
    project: Project,
    *,
    form: ProjectForm | None = None,
    delete_form: DeleteForm | None = None,
) -> HttpResponse:
    """The forms of the page; the one that was sent comes back with what was typed."""
    # A refused name must not show above the form as if it were the project's.
    project.refresh_from_db()
    context = project_context(request, project, "settings")
    values = {key: getattr(project, key) for key in ProjectForm.base_fields}
    context |= {
        "form": form or ProjectForm(initial=values),
        "delete_form": delete_form or DeleteForm(project=project),
    }
    sent = form is not None or delete_form is not None
    return render(request, "projects/settings.html", context, status=422 if sent else 200)
