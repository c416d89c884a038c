"""The kinds of terms that only this project has: its owners add, rename and delete them."""

from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from glossary_site.errors import Refusal
from projects.access import Action, project_for
from projects.choices import Category
from projects.forms_terms import CategoryForm
from projects.models import Project, TermCategory
from projects.services.categories import add_category, delete_category, update_category
from projects.views.pages import project_context


@require_http_methods(["GET", "HEAD", "POST"])
def category_list(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.MANAGE)
    if request.method != "POST":
        return _page(request, project, CategoryForm())
    form = CategoryForm(request.POST)
    if form.is_valid():
        try:
            category = add_category(project=project, actor=request.user, **form.cleaned_data)
        except Refusal as refusal:
            form.add_error("name", str(refusal))
        else:
            messages.success(request, _("“%(name)s” was added.") % {"name": category.name})
            return redirect("project-categories", project.pk)
    return _page(request, project, form, status=422)


def _page(
    request: HttpRequest, project: Project, form: CategoryForm, *, status: int = 200
) -> HttpResponse:
    context: dict[str, Any] = project_context(request, project, "settings")
    rows = project.terms.order_by().values_list("category").annotate(n=Count("pk"))
    counts = dict(rows)
    context |= {
        "settings_tab": "categories",
        "form": form,
        "own": [(each, counts.get(each.key, 0)) for each in project.term_categories.all()],
        "common": [(each.label, counts.get(each.value, 0)) for each in Category],
    }
    return render(request, "terms/categories.html", context, status=status)


def _category(project: Project, category_id: int) -> TermCategory:
    return get_object_or_404(project.term_categories, pk=category_id)


@require_POST
def category_change(request: HttpRequest, project_id: int, category_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.MANAGE)
    category = _category(project, category_id)
    form = CategoryForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("A category needs a name, and not a long one."))
        return redirect("project-categories", project.pk)
    try:
        update_category(category=category, actor=request.user, **form.cleaned_data)
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("Saved."))
    return redirect("project-categories", project.pk)


@require_POST
def category_delete(request: HttpRequest, project_id: int, category_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.MANAGE)
    category = _category(project, category_id)
    try:
        delete_category(category=category, actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("“%(name)s” was deleted.") % {"name": category.name})
    return redirect("project-categories", project.pk)
