"""The background work of a project, as its members see it: what goes on, and what went on lately.

A run that only serves what is shown elsewhere (an LLM process, the index) is told of there, not a
second time.
"""

from dataclasses import dataclass
from uuid import UUID

from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _

from glossary_site.jobs.choices import TERMINAL
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.overview import overview
from glossary_site.jobs.querysets import JobRunQuerySet
from glossary_site.jobs.reasons import Level, Reason, why
from glossary_site.llm.lists import Line, lines_of
from glossary_site.llm.models import LLMProcess
from glossary_site.llm.services import budgets
from glossary_site.llm.services.processes import KIND as LLM_KIND
from projects.models import Project

# As much as a page shows of each; the operators' lists have pages.
MOST_ACTIVE = 50
MOST_ENDED = 20
# Apps above this one add theirs.
TOLD_ELSEWHERE = {LLM_KIND}


@dataclass(frozen=True)
class ProjectWork:
    active: list[JobRun]
    # There may be more than are shown.
    active_count: int
    ended: list[JobRun]
    active_processes: list[Line]
    ended_processes: list[Line]
    month: budgets.Glance
    # Why the first of what waits does not begin; None when nothing waits that should not.
    reason: Reason | None

    @property
    def jobs(self) -> list[JobRun]:
        return [*self.active, *self.ended]

    @property
    def processes(self) -> list[LLMProcess]:
        return [line.process for line in (*self.active_processes, *self.ended_processes)]


def runs_of(project: Project) -> JobRunQuerySet:
    return JobRun.objects.for_scope(project.stream).defer("payload", "result")


def work_of(project: Project) -> ProjectWork:
    runs = runs_of(project).exclude(kind__in=TOLD_ELSEWHERE)
    active = list(runs.active().order_by("pk")[:MOST_ACTIVE])
    processes = LLMProcess.objects.listed().for_scope(project.stream)
    return ProjectWork(
        active=active,
        active_count=len(active) if len(active) < MOST_ACTIVE else runs.active().count(),
        ended=list(
            runs.filter(state__in=TERMINAL)
            .select_related("next_attempt")
            .defer("next_attempt__payload", "next_attempt__result")
            .order_by("-finished_at", "-pk")[:MOST_ENDED]
        ),
        active_processes=lines_of(processes.active().order_by("-created_at")[:MOST_ACTIVE]),
        ended_processes=lines_of(processes.ended().order_by("-finished_at")[:MOST_ENDED]),
        month=budgets.glance(project.stream),
        reason=reason_of(runs_of(project)),
    )


def reason_of(runs: JobRunQuerySet) -> Reason | None:
    """Why the first of those that wait does not begin."""
    first = runs.due(timezone.now()).order_by("due_at", "pk").first()
    reason = why(first, overview()) if first is not None else None
    # That the next free worker takes it goes without saying.
    return None if reason is None or reason.level is Level.INFO else reason


def run_of(project: Project, run_id: int) -> JobRun:
    run = runs_of(project).filter(pk=run_id).first()
    if run is None:
        raise Http404(_("This project has no such job."))
    return run


def process_of(project: Project, process_id: UUID) -> LLMProcess:
    process = LLMProcess.objects.for_scope(project.stream).filter(pk=process_id).first()
    if process is None:
        raise Http404(_("This project has no such LLM process."))
    return process
