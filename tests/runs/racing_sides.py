"""The two sides of the race: each reads the number of a run and when to act, and says what came of
it."""

import sys
import time
from contextlib import suppress

import django

if __name__ == "__main__":
    django.setup()

from django.db import transaction
from django.utils import timezone

from glossary_site.errors import Refusal
from projects.access import OPERATOR
from projects.models import Project
from projects.services.projects import create_project
from runs.choices import Scope, Status
from runs.models import Run
from runs.services.ending import cancel, complete_if_not_cancelled


def make_race_project() -> Project:
    return create_project(actor=OPERATOR, name="Race")


def begin_run(project: Project) -> int:
    """Without a job: nobody but the two sides touches it."""
    run = Run.objects.create(
        project=project, scope=Scope.FULL, status=Status.RUNNING, started_at=timezone.now()
    )
    return run.pk


def status_of(run_id: int) -> str:
    return Run.objects.values_list("status", flat=True).get(pk=run_id)


def complete(run: Run) -> bool:
    with transaction.atomic():
        return complete_if_not_cancelled(run)


def stop(run: Run) -> bool:
    with suppress(Refusal):
        cancel(run, actor=OPERATOR)
        return True
    return False


def main(act) -> None:
    print("ready", flush=True)  # noqa: T201
    for line in sys.stdin:
        number, delay = line.split()
        run = Run.objects.select_related("project").get(pk=int(number))
        time.sleep(float(delay))
        print("yes" if act(run) else "no", flush=True)  # noqa: T201


if __name__ == "__main__":
    main({"complete": complete, "cancel": stop}[sys.argv[1]])
