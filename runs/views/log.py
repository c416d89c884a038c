"""The log of a run: the whole of it for whoever comes late, and each new line for who stays."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from glossary_site.numbers import number_in
from glossary_site.pages import query_of
from projects.access import Action, is_superuser, project_for
from runs.choices import Level, Step
from runs.models import Run, RunLog
from runs.views.finding import run_of

PAGE = 500
# A choice of the filter → the levels it shows.
LEVELS = {"warning": (Level.WARNING, Level.ERROR), "error": (Level.ERROR,)}


@dataclass(frozen=True)
class LogPage:
    lines: list[RunLog]
    # What the filter lets through, as it stands in addresses.
    query: str
    chosen: dict[str, str]
    # The first and the last number of these lines; what comes after the last is asked for later.
    first: int
    last: int
    has_earlier: bool
    # Whether the page grows with the log; False for a page of earlier lines.
    follows: bool
    # There are more lines than fit in one answer: ask at once.
    is_full: bool

    @property
    def is_narrowed(self) -> bool:
        return any(self.chosen.values())


def log_page(request: HttpRequest, run: Run) -> LogPage:
    """The last lines, or those before `?before=`, or those after `?after=`."""
    chosen = {
        "level": _one_of(request, "level", LEVELS),
        "step": _one_of(request, "step", Step.values),
        "q": query_of(request),
    }
    after, before = (number_in(request.GET.get(key, "")) for key in ("after", "before"))
    # The run was read before its lines: one that was written in between comes with the next answer,
    # and not with both.
    last = run.log_count
    lines = _matching(run, chosen).filter(number__lte=last)
    if after is not None:
        rows = list(lines.filter(number__gt=after).order_by("number")[: PAGE + 1])
        found, more = rows[:PAGE], len(rows) > PAGE
        last = found[-1].number if more else max(last, after)
        return _page(found, chosen, last=last, follows=not run.has_ended or more, is_full=more)
    if before is not None:
        lines = lines.filter(number__lt=before)
    rows = list(lines.order_by("-number")[: PAGE + 1])
    return _page(
        rows[:PAGE][::-1],
        chosen,
        last=last,
        has_earlier=len(rows) > PAGE,
        follows=before is None and not run.has_ended,
    )


def _page(
    lines: list[RunLog],
    chosen: dict[str, str],
    *,
    last: int,
    follows: bool,
    has_earlier: bool = False,
    is_full: bool = False,
) -> LogPage:
    return LogPage(
        lines=lines,
        query=urlencode({key: value for key, value in chosen.items() if value}),
        chosen=chosen,
        first=lines[0].number if lines else 0,
        last=last,
        has_earlier=has_earlier,
        follows=follows,
        is_full=is_full,
    )


def _one_of(request: HttpRequest, key: str, known: Any) -> str:
    value = request.GET.get(key, "")
    return value if value in known else ""


def _matching(run: Run, chosen: dict[str, str]) -> QuerySet[RunLog]:
    lines = run.log.all()
    if chosen["level"]:
        lines = lines.filter(level__in=LEVELS[chosen["level"]])
    if chosen["step"]:
        lines = lines.filter(step=chosen["step"])
    if chosen["q"]:
        lines = lines.filter(message__icontains=chosen["q"])
    return lines


def log_context(request: HttpRequest, run: Run) -> dict[str, Any]:
    return {
        "log": log_page(request, run),
        "steps_of_log": Step.choices,
        # It names files of the server.
        "with_tracebacks": is_superuser(request.user),
    }


@require_safe
def run_log(request: HttpRequest, project_id: int, run_id: int) -> HttpResponse:
    """The next lines alone."""
    project = project_for(request.user, project_id, Action.VIEW)
    run = run_of(project, run_id)
    context = {"project": project, "run": run, **log_context(request, run)}
    return render(request, "runs/_log_lines.html", context)
