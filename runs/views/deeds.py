"""What editors do with runs: start and stop them, try again what failed, publish and take back."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from glossary_site.errors import Refusal
from glossary_site.numbers import number_in
from projects.access import Action, project_for
from projects.choices import TermStatus
from projects.services.glossary import Published, undo_batch
from projects.views.term_undo import change_status, take_back
from runs.models import Run
from runs.services import ending, failures, publishing, starting
from runs.views.finding import run_of
from runs.views.publications import publication_of

WEB = "web"
# As much of an issue as a term's reason holds.
REASON_LENGTH = 300


@require_POST
def start_run(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    scope = request.POST.get("scope", "")
    try:
        run = starting.start(project=project, scope=scope, actor=request.user, triggered_by=WEB)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        active = refusal.details.get("run_id")
        return (
            redirect("run", project.pk, active) if active else redirect("project-runs", project.pk)
        )
    return redirect(run)


@require_POST
def cancel_run(request: HttpRequest, project_id: int, run_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    run = run_of(project, run_id)
    try:
        ending.cancel(run, actor=request.user)
    except Refusal as refusal:
        messages.info(request, str(refusal))
    # Its page says the rest.
    return redirect(run)


@require_POST
def retry(request: HttpRequest, project_id: int, run_id: int) -> HttpResponse:
    return _go_on(request, project_id, run_id, failures.retry_failures)


@require_POST
def resume(request: HttpRequest, project_id: int, run_id: int) -> HttpResponse:
    return _go_on(request, project_id, run_id, failures.resume)


def _go_on(
    request: HttpRequest, project_id: int, run_id: int, begin: Callable[..., Run]
) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    run = run_of(project, run_id)
    try:
        following = begin(run, actor=request.user, triggered_by=WEB)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return redirect(run)
    return redirect(following)


@require_POST
def exclude(request: HttpRequest, project_id: int, run_id: int) -> HttpResponse:
    """Follow the review’s advice to leave a term out; what it said is kept as the reason. Or take
    that back."""
    project = project_for(request.user, project_id, Action.EDIT)
    run = run_of(project, run_id)
    back = redirect(f"{run.get_absolute_url()}?tab=issues")
    if token := request.POST.get("undo"):
        take_back(request, project, token)
        return back
    issue = run.issues.filter(pk=number_in(request.POST.get("issue", "")) or 0).first()
    term = project.terms.filter(key=issue.key).first() if issue else None
    if issue is None or term is None:
        messages.error(request, _("This is not among the project’s terms any more."))
    else:
        reason = issue.description[:REASON_LENGTH]
        change_status(request, project, [term.pk], TermStatus.EXCLUDED, reason=reason)
    return back


@require_POST
def publish(request: HttpRequest, project_id: int, run_id: int) -> HttpResponse:
    """All entries of the run, or those with a definition; those whose keys are sent, where the form
    has boxes to tick."""
    project = project_for(request.user, project_id, Action.EDIT)
    run = run_of(project, run_id)
    chosen = request.POST.getlist("key") if "choose" in request.POST else None
    is_whole = chosen is None and "defined" not in request.POST
    try:
        published = publishing.publish(
            run, actor=request.user, terms=chosen, defined_only="defined" in request.POST
        )
    except Refusal as refusal:
        nothing = chosen is not None and not chosen
        messages.error(request, _("Choose some entries first.") if nothing else str(refusal))
    else:
        messages.success(request, _told(published, whole=is_whole))
    return redirect(run)


def _told(published: Published, *, whole: bool) -> str:
    sentence = _("Published: %(new)d new, %(changed)d changed, %(same)d as before.") % {
        "new": published.created,
        "changed": published.updated,
        "same": published.unchanged,
    }
    if published.locked:
        words = ngettext(
            "In %(n)d entry what people have edited stayed as it was.",
            "In %(n)d entries what people have edited stayed as it was.",
            published.locked,
        )
        sentence += " " + words % {"n": published.locked}
    if published.excluded:
        words = ngettext(
            "%(n)d left out, because its term is excluded.",
            "%(n)d left out, because their terms are excluded.",
            published.excluded,
        )
        sentence += " " + words % {"n": published.excluded}
    # Of what was not chosen nobody asks.
    if whole and published.absent:
        words = ngettext(
            "%(n)d entry of earlier runs is not in this one, and stays.",
            "%(n)d entries of earlier runs are not in this one, and stay.",
            published.absent,
        )
        sentence += " " + words % {"n": published.absent}
    return sentence


@require_POST
def undo(request: HttpRequest, project_id: int, run_id: int) -> HttpResponse:
    """Take the run's newest publication back."""
    project = project_for(request.user, project_id, Action.EDIT)
    run = run_of(project, run_id)
    publication = publication_of(run)
    try:
        if publication is None:
            raise Refusal("nothing_to_undo", _("Nothing of this run is published."))
        count = undo_batch(project=project, batch=publication.batch, actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        words = ngettext(
            "%(n)d entry of the glossary is as it was before.",
            "%(n)d entries of the glossary are as they were before.",
            count,
        )
        messages.success(request, words % {"n": count})
    return redirect(run)
