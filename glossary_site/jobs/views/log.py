"""A run's log on its page: its end, which grows as lines come, or pages from the beginning."""

from collections import deque
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from glossary_site.jobs.logs import PAGE, LogLine, Unreadable, log_lines, read_file
from glossary_site.jobs.models import JobLog, JobRun
from glossary_site.jobs.views.frame import for_watchers
from glossary_site.numbers import number_in


@dataclass(frozen=True)
class LogPage:
    run: JobRun
    lines: list[LogLine]
    after: int
    # Whether it follows the log, as opposed to a page that somebody turned to.
    follows: bool

    @property
    def last(self) -> int:
        return self.lines[-1].id if self.lines else self.after

    @property
    def is_full(self) -> bool:
        return len(self.lines) == PAGE


def log_page(request: HttpRequest, run: JobRun) -> LogPage:
    """`?after=0` turns to the beginning, `?after=41` goes on from there; without it, the end."""
    wanted = number_in(request.GET.get("after", ""))
    after = tail_of(run) if wanted is None else wanted
    return LogPage(run, log_lines(run, after=after), after, follows=wanted is None)


def tail_of(run: JobRun) -> int:
    """The line before the last page of them; 0 when they all fit."""
    newest = JobLog.objects.filter(run=run).order_by("-pk").values_list("pk", flat=True)
    last = deque(sorted(newest[: PAGE + 1]), maxlen=PAGE + 1)
    if run.log_ref and len(last) <= PAGE:
        try:
            filed = deque((line.id for line in read_file(run.log_ref, run_id=run.pk)), PAGE + 1)
        except (FileNotFoundError, Unreadable):
            # Whoever reads the lines is told.
            return 0
        last = deque(sorted({*filed, *last}), PAGE + 1)
    return last[0] if len(last) > PAGE else 0


@require_safe
@for_watchers
def more_lines(request: HttpRequest, run_id: int) -> HttpResponse:
    """For the end of a log that is followed: what has come since."""
    run = get_object_or_404(JobRun, pk=run_id)
    after = number_in(request.GET.get("after", "")) or 0
    log = LogPage(run, log_lines(run, after=after), after, follows=True)
    return render(request, "jobs/_log_lines.html", {"log": log, "run": run})
