"""Projects for the length of one command, and what is left of them when the command was killed."""

import re
import secrets
from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone

from glossary_site.jobs.models import JobRun
from glossary_site.live.models import Event
from projects.access import OPERATOR
from projects.models import NAME_LENGTH, Project
from projects.services.projects import delete_project
from projects.services.terms.lists import touched_terms

# So long nothing has happened in one that nobody waits for any more.
IDLE = timedelta(days=1)

_MARK = "(runpipeline "
_NAMED = re.compile(r".* \(runpipeline [0-9a-f]{8}\)")


def temporary_name(folder: str) -> str:
    """Two commands at once have two projects."""
    return f"{folder[: NAME_LENGTH - 30]} {_MARK}{secrets.token_hex(4)})"


def remove_left_over(*, check: Callable[[], object] = bool) -> int:
    """Temporary projects whose command was killed; how many. `check` may raise, to stop."""
    old = Project.objects.filter(name__contains=_MARK, created_at__lt=timezone.now() - IDLE)
    left = [project for project in old if _NAMED.fullmatch(project.name)]
    removed = 0
    for project in left:
        check()
        if not _is_in_use(project) and not _is_somebodys(project):
            delete_project(project=project, actor=OPERATOR)
            removed += 1
    return removed


def _is_in_use(project: Project) -> bool:
    """Everything that happens in a project is told to its feed; and whoever works for it holds a
    lease, however long a step takes."""
    now = timezone.now()
    lately = Event.objects.filter(stream__name=project.stream, created_at__gt=now - IDLE)
    work = JobRun.objects.for_scope(project.stream).filter(lease_until__gt=now)
    return lately.exists() or work.exists()


def _is_somebodys(project: Project) -> bool:
    """People have found it on the site and made something of it."""
    return project.entry_revisions.exists() or touched_terms(project).exists()
