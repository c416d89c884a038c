"""The background work of a project: members look, editors cancel and retry."""

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from glossary_site.errors import Refusal
from glossary_site.jobs.services.runs import cancel_run, retry_run
from glossary_site.llm.services import processes
from glossary_site.pages import render_page
from projects.access import Action, project_for
from projects.models import Project
from projects.views.pages import project_context
from projects.work import process_of, run_of, work_of


@require_safe
def work(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "work")
    context |= {"work": work_of(project), "now": timezone.now()}
    return render_page(request, "projects/work.html", "projects/_work.html", context)


@require_POST
def cancel_job(request: HttpRequest, project_id: int, run_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    run = run_of(project, run_id)
    return _do(
        request,
        project,
        lambda: cancel_run(run, actor=request.user),
        _("Job %(id)d is cancelled.") % {"id": run.pk},
    )


@require_POST
def retry_job(request: HttpRequest, project_id: int, run_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    run = run_of(project, run_id)
    return _do(
        request,
        project,
        lambda: retry_run(run, actor=request.user),
        _("Job %(id)d is tried again now.") % {"id": run.pk},
    )


@require_POST
def cancel_process(request: HttpRequest, project_id: int, process_id: UUID) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    process = process_of(project, process_id)
    return _do(
        request,
        project,
        lambda: processes.cancel(process.pk, actor=request.user),
        _("The LLM process is being cancelled."),
    )


@require_POST
def retry_process(request: HttpRequest, project_id: int, process_id: UUID) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    process = process_of(project, process_id)
    return _do(
        request,
        project,
        lambda: processes.retry(process.pk, actor=request.user),
        _("The failed requests are sent again."),
    )


def _do(
    request: HttpRequest, project: Project, deed: Callable[[], object], done: str
) -> HttpResponse:
    try:
        deed()
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, done)
    return redirect("project-work", project.pk)
