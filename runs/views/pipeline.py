"""The line from documents to glossary, with the button that sets it going: a part of the project's
page and of the list of its runs, which keeps itself up to date."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from glossary_site.llm.choices import ProviderKind
from glossary_site.llm.providers import provider_for
from projects.access import Action, allows, project_for, role_of
from projects.models import Project
from projects.work import reason_of, runs_of
from runs.choices import STEPS, Scope, Step
from runs.services.estimates import estimate
from runs.services.starting import active_run, base_for, what_is_missing
from runs.views.progress import progress_of
from runs.views.standing import Stage, standing_of

# What the form offers; the single steps have buttons of their own.
CHOICES = (Scope.FULL, Scope.FROM_TERMS, Scope.PROVISIONAL_TO_REFINED)
SINGLE_STEPS = (Scope.EXTRACT, Scope.GENERATE, Scope.REVIEW, Scope.REFINE)


@dataclass(frozen=True)
class Choice:
    """A scope that can be started, or why it cannot."""

    scope: Scope
    missing: str


@dataclass(frozen=True)
class StageLine:
    stage: Stage
    # Why its single step cannot be started; empty where it can.
    missing: str


def pipeline_context(request: HttpRequest, project: Project) -> dict[str, Any]:
    standing = standing_of(project)
    active = active_run(project)
    now = timezone.now()
    wanted = request.GET.get("scope", "")
    can_edit = allows(role_of(request.user, project), Action.EDIT)
    # Asked only where there are buttons: the part is made again with each progress of a run.
    missing = _what_is_missing(project) if can_edit and active is None else {}
    choices = [Choice(scope, missing.get(scope, "")) for scope in CHOICES]
    # The wanted one even where it is not possible: its reason is then what to show.
    chosen = next((each for each in choices if each.scope == wanted), choices[0])
    config = provider_for(project.stream)
    context: dict[str, Any] = {
        "project": project,
        "can_edit": can_edit,
        "stages": [
            StageLine(stage, missing.get(stage.scope, "") if stage.scope else "")
            for stage in standing.stages
        ],
        "unpublished": standing.unpublished,
        "active": active,
        "choices": choices,
        "chosen": chosen,
        "builtin": config.kind == ProviderKind.BUILTIN,
        "model": config.model,
        "now": now,
    }
    if active is not None:
        context["progress"] = progress_of(active, now)
        context["reason"] = reason_of(runs_of(project))
    elif can_edit and not chosen.missing:
        context["estimate"] = estimate(project, chosen.scope)
    return context


def _what_is_missing(project: Project) -> dict[Scope, str]:
    """Why each scope cannot be started, in words; empty where it can. After the documents are read,
    it is the next step that needs something: scopes that share it need not be asked twice."""
    reasons: dict[Step, str] = {}
    for scope in SINGLE_STEPS:
        refusal = what_is_missing(project, scope, base=base_for(project, scope))
        reasons[STEPS[scope][1]] = "" if refusal is None else str(refusal)
    return {scope: reasons[STEPS[scope][1]] for scope in Scope}


def panel(request: HttpRequest, project: Project) -> SafeString:
    """For pages that cannot know this app: see `projects/panels.py`."""
    return render_to_string("runs/_pipeline.html", pipeline_context(request, project), request)


@require_safe
def pipeline(request: HttpRequest, project_id: int) -> HttpResponse:
    """The part alone, for pages that are open while it changes."""
    project = project_for(request.user, project_id, Action.VIEW)
    return render(request, "runs/_pipeline.html", pipeline_context(request, project))
