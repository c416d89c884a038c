"""What the chaos run of collections does within a site: it runs in a process that has the settings
of that site, and prints JSON."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.collection_chaos_judge import Case, breaches, totals
from benchmarks.collection_chaos_repositories import Made, read_plan
from collection.models import BulkCollectionRun
from collection.services import starting
from collection.services.repositories import add_repository
from glossary_site.jobs.choices import ACTIVE
from glossary_site.jobs.models import JobRun, Worker
from projects.access import OPERATOR
from projects.models import Project


def add(plan: str) -> None:
    project = Project.objects.get()
    for made in read_plan(Path(plan)):
        many = len(made.branches) > 1
        add_repository(
            project=project,
            address=made.path,
            actor=OPERATOR,
            branch_patterns=["*"] if many else [],
        )


def start() -> str:
    return str(starting.start(actor=OPERATOR, project=Project.objects.get()).pk)


def retry(run_id: str) -> str:
    run = BulkCollectionRun.objects.get(pk=run_id)
    return str(starting.retry_failed(run, actor=OPERATOR).pk)


def look(run_id: str) -> dict[str, Any]:
    """How far it is, which process works on it, and who has to wait for another try."""
    run = BulkCollectionRun.objects.select_related("job").get(pk=run_id)
    name = run.job.assigned_worker if run.job and run.job.state in ACTIVE else ""
    worker = Worker.objects.filter(name=name, stopped_at=None).first() if name else None
    tried = run.results.pending().filter(attempts__gt=0)
    return {
        "status": run.status,
        "done": run.done_count,
        "total": run.total_targets,
        "commits": run.new_commits,
        "pid": worker.pid if worker else 0,
        "tried": list(tried.values_list("repository__address", flat=True)),
        "jobs": JobRun.objects.filter(payload__run_id=run_id).count(),
    }


def judge(run_id: str, plan: str, *, only_failing: bool, mended: bool, new: bool) -> dict[str, Any]:
    made = read_plan(Path(plan))
    if only_failing:
        made = [each for each in made if each.fails]
    if mended:
        made = [Made(each.path, each.branches) for each in made]
    run = BulkCollectionRun.objects.get(pk=run_id)
    assert run.completed_at is not None
    return {
        "seconds": (run.completed_at - run.started_at).total_seconds(),
        "totals": totals(run),
        "breaches": breaches(Case(run, made, new)),
    }


def say(ask: Callable[[], Any]) -> None:
    print(json.dumps(ask()))
