"""What editors do with collections: start and stop them, try again what failed, do the rest."""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.dateparse import parse_date
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from collection.access import may_collect_all
from collection.forms import start_of
from collection.models import BulkCollectionRun, Repository
from collection.services import ending, starting
from collection.views.finding import run_for, run_of
from glossary_site.errors import Refusal
from glossary_site.numbers import number_in
from projects.access import Action, project_for
from projects.models import Project

WEB = "web"
# Instead of all: those that are ticked.
CHOSEN = "chosen"


@require_POST
def start_collection(request: HttpRequest, project_id: int) -> HttpResponse:
    """Everything of the project that is collected, or the repositories that are named. Those for
    all projects belong to no project's collection, so one with them is the site's."""
    project = project_for(request.user, project_id)
    try:
        chosen = _chosen(request, project)
        shared = chosen is not None and any(each.project_id is None for each in chosen)
        if not shared:
            project_for(request.user, project_id, Action.EDIT)
        elif not may_collect_all(request.user):
            raise PermissionDenied(_("This needs the permission to collect all repositories."))
        run = starting.start(
            actor=request.user,
            project=None if shared else project,
            repositories=chosen,
            since=_since(request),
            triggered_by=WEB,
        )
    except Refusal as refusal:
        _refused(request, project, refusal)
        return redirect(_back(request, project))
    return redirect("collection-run", project.pk, run.pk)


def _chosen(request: HttpRequest, project: Project) -> list[Repository] | None:
    """None: nobody chose, so all."""
    wanted = request.POST.getlist("repository")
    if not wanted:
        if request.POST.get("which") == CHOSEN:
            raise Refusal("nothing_chosen", _("Choose at least one repository."), status=400)
        return None
    ids = [number for text in wanted if (number := number_in(text)) is not None]
    found = list(Repository.objects.seen_by(project).filter(pk__in=ids))
    if not found:
        raise Refusal("nothing_to_collect", _("These repositories are not there any more."))
    return found


def _since(request: HttpRequest) -> datetime | None:
    text = request.POST.get("since", "").strip()
    if not text:
        return None
    try:
        day = parse_date(text)
    except ValueError:
        day = None
    if day is None:
        raise Refusal("bad_since", _("“%(text)s” is no date.") % {"text": text[:40]}, status=400)
    return start_of(day)


@require_POST
def cancel_collection(request: HttpRequest, project_id: int, run_id: UUID) -> HttpResponse:
    project, run = run_for(request.user, project_id, run_id)
    try:
        ending.cancel(run, actor=request.user)
    except Refusal as refusal:
        messages.info(request, str(refusal))
    else:
        messages.success(request, _("The collection is stopped. What it has collected is kept."))
    return redirect("collection-run", project.pk, run.pk)


@require_POST
def retry_collection(request: HttpRequest, project_id: int, run_id: UUID) -> HttpResponse:
    return _go_on(request, project_id, run_id, starting.retry_failed)


@require_POST
def resume_collection(request: HttpRequest, project_id: int, run_id: UUID) -> HttpResponse:
    return _go_on(request, project_id, run_id, starting.resume)


def _go_on(
    request: HttpRequest, project_id: int, run_id: UUID, begin: Callable[..., BulkCollectionRun]
) -> HttpResponse:
    project, run = run_for(request.user, project_id, run_id)
    try:
        following = begin(run, actor=request.user, triggered_by=WEB)
    except Refusal as refusal:
        _refused(request, project, refusal)
        following = run
    return redirect("collection-run", project.pk, following.pk)


def _refused(request: HttpRequest, project: Project, refusal: Refusal) -> None:
    """The sentence, and a link to the collection that is in the way, where there is a page of it
    for this person."""
    sentence = str(refusal)
    if url := _url_of(request, project, refusal.details.get("run_id")):
        sentence = format_html('{} <a href="{}">{}</a>', sentence, url, _("Look at it"))
    messages.error(request, sentence)


def _url_of(request: HttpRequest, project: Project, run_id: str | None) -> str:
    runs = BulkCollectionRun.objects.select_related("project")
    running = runs.filter(pk=run_id).first() if run_id else None
    if running is None:
        return ""
    home = running.project or project
    try:
        run_of(request.user, home, running.pk)
    except Http404:
        return ""
    return reverse("collection-run", args=[home.pk, running.pk])


def _back(request: HttpRequest, project: Project) -> str:
    """To the page that the button was on."""
    wanted = request.POST.get("next", "")
    # With a stroke: anything else could be taken for the name of a page.
    if wanted.startswith("/") and url_has_allowed_host_and_scheme(wanted, allowed_hosts=None):
        return wanted
    return reverse("collection-runs", args=[project.pk])
