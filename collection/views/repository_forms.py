"""Adding a repository and changing one. Both forms can ask it first, with what is typed."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from collection.access import may_collect_all
from collection.forms import SECRETS, RepositoryForm, day_of, initial_of, uses_key
from collection.models import Repository
from collection.services.documents import Loss
from collection.services.repositories import (
    Checked,
    DocumentsWouldGo,
    add_repository,
    change_repository,
    try_connection,
)
from collection.views.finding import repository_for
from collection.views.repository import key_state, repository_context
from glossary_site.errors import Refusal
from glossary_site.pages import wants_part
from projects.access import Action, project_for
from projects.models import Project
from projects.views.pages import project_context

# The button that asks the repository and saves nothing.
TEST = "test"


@require_http_methods(["GET", "HEAD", "POST"])
def add(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.MANAGE)
    if request.method != "POST":
        return _page(request, project, RepositoryForm())
    form = RepositoryForm(request.POST)
    if TEST in request.POST:
        return _tested(request, project, form)
    if form.is_valid() and (added := _added(request, project, form)):
        return redirect("repository", project.pk, added.pk)
    return _page(request, project, _without_secret(form), status=422)


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, project_id: int, repository_id: int) -> HttpResponse:
    project, repository = repository_for(request.user, project_id, repository_id, Action.MANAGE)
    if request.method != "POST":
        form = RepositoryForm(initial=initial_of(repository))
        return _page(request, project, form, repository=repository)
    form = RepositoryForm(request.POST)
    if TEST in request.POST:
        return _tested(request, project, form, repository=repository)
    loss: Loss | None = None
    if form.is_valid():
        try:
            _change(request, repository, form)
            return redirect("repository", project.pk, repository.pk)
        except Refusal as refusal:
            _put(form, refusal, repository.project)
            loss = refusal.loss if isinstance(refusal, DocumentsWouldGo) else None
    # A refused wish is in the row that was tried; the page is about the one that is.
    repository.refresh_from_db()
    form = _without_secret(form)
    return _page(request, project, form, repository=repository, loss=loss, status=422)


def _added(request: HttpRequest, project: Project, form: RepositoryForm) -> Repository | None:
    for_all = form.cleaned_data["for_all"] and may_collect_all(request.user)
    try:
        repository = add_repository(
            project=None if for_all else project, actor=request.user, **form.wishes()
        )
    except Refusal as refusal:
        _put(form, refusal, project)
        return None
    messages.success(
        request,
        _("“%(name)s” is added. Its first collection can begin.") % {"name": repository.name},
    )
    return repository


def _change(request: HttpRequest, repository: Repository, form: RepositoryForm) -> None:
    values = form.cleaned_data
    wishes = form.wishes()
    if values["since"] == day_of(repository.since):
        # The form knows the day alone; the hour that a program may have said stays.
        wishes["since"] = repository.since
    had_key = bool(repository.secret)
    change_repository(
        repository=repository,
        actor=request.user,
        clear_secret=values["clear_secret"],
        forget_host_keys=values["forget_host_keys"],
        confirm=request.POST.get("confirm", ""),
        **wishes,
    )
    messages.success(request, _("The changes are saved."))
    if had_key and not repository.secret and not values["clear_secret"]:
        messages.warning(request, _("The stored key was forgotten: it was for another address."))


def _tested(
    request: HttpRequest,
    project: Project,
    form: RepositoryForm,
    *,
    repository: Repository | None = None,
) -> HttpResponse:
    """Of what is typed only the way to it counts here: the rest may be unfinished. With script the
    form stays as it is, the key in it too; without, the page comes back with all but the key."""
    checked: Checked | None = None
    form.is_valid()
    if not any(name in form.errors for name in ("address", "kind", "username", *SECRETS)):
        try:
            checked = try_connection(of=repository, **form.fields_of_connection())
        except Refusal as refusal:
            _put(form, refusal, project)
    if not wants_part(request):
        form = _without_secret(form)
    status = 200 if checked is not None or wants_part(request) else 422
    return _page(
        request,
        project,
        form,
        repository=repository,
        checked=checked,
        is_test=True,
        status=status,
    )


def _put(form: RepositoryForm, refusal: Refusal, project: Project | None) -> None:
    """Beside the field that it is about."""
    if refusal.code == "repository_exists":
        form.add_error("address", _exists(refusal, project))
        return
    if isinstance(refusal, DocumentsWouldGo):
        # Which ones is told where they are confirmed.
        words = _("Nothing was saved yet: documents would be deleted.")
        form.add_error(None, format_html('{} <a href="#loss">{}</a>', words, _("Look at them")))
        return
    found: dict[str, list[str]] = refusal.details.get("fields", {})
    for name, sentences in found.items() or [("", [str(refusal)])]:
        for sentence in sentences:
            form.add_error(_field_for(form, name), sentence)


def _field_for(form: RepositoryForm, name: str) -> str | None:
    if name == "secret":
        filled = [field for field in SECRETS if form.data.get(field, "").strip()]
        if len(filled) == 1:
            return filled[0]
        return "deploy_key" if uses_key(form.data.get("address", "")) else "token"
    return name if name in form.fields else None


def _exists(refusal: Refusal, project: Project | None) -> str:
    present = refusal.details.get("repository_id")
    if present is None or project is None:
        return str(refusal)
    url = reverse("repository", args=[project.pk, present])
    return format_html('{} <a href="{}">{}</a>', str(refusal), url, _("Look at it"))


def _without_secret(form: RepositoryForm) -> RepositoryForm:
    """No page ever carries a key, so whoever typed one is told that it is gone."""
    for name in SECRETS:
        if form.data.get(name, "").strip() and name not in form.errors:
            form.add_error(name, _("Type the key in again: nothing was saved yet."))
    return form


def _page(
    request: HttpRequest,
    project: Project,
    form: RepositoryForm,
    *,
    repository: Repository | None = None,
    checked: Checked | None = None,
    is_test: bool = False,
    loss: Loss | None = None,
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = project_context(request, project, "repositories")
    context |= {
        "part": "repositories",
        "form": form,
        "checked": checked,
        "loss": loss,
        "was_not_asked": is_test and checked is None,
        "roots": [str(root) for root in settings.GIT_ROOTS],
        "may_collect_all": may_collect_all(request.user),
        "key": key_state(repository) if repository else "none",
    }
    if repository is not None:
        context |= repository_context(request.user, project, repository)
    part = "collection/_checked.html"
    template = part if wants_part(request) else "collection/repository_form.html"
    response = render(request, template, context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response
