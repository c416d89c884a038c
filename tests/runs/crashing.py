"""Does a run in child processes that are killed, one after the other, at instants chosen by chance.

    python -m tests.runs.crashing KILLS SEED

A program of its own, because a process with threads (a test runner has some) must not fork. The run
goes on from where each killed child left it; in the end its glossary must be that of a run which
nobody disturbed, and the provider, a process of its own, must have been asked nothing twice but
what was on the wire at a kill. Prints the number of kills and of requests.
"""

import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402

from glossary_site.jobs.choices import State  # noqa: E402
from glossary_site.jobs.services import transitions  # noqa: E402
from glossary_site.llm.models import LedgerEntry, LLMJob  # noqa: E402
from projects.access import OPERATOR  # noqa: E402
from projects.models import Project  # noqa: E402
from projects.services.projects import create_project  # noqa: E402
from runs.choices import Status  # noqa: E402
from runs.models import Run  # noqa: E402
from runs.services.ending import jobs_of  # noqa: E402
from runs.services.settling import settle  # noqa: E402
from tests import children  # noqa: E402
from tests.llm_server import RemoteServer, server_process  # noqa: E402
from tests.runs.working import make_harbour, perform_job, start_run  # noqa: E402

DELAY_SECONDS = 0.05
# An answer that had left the provider so shortly before the kill had not been written down yet.
ON_THE_WAY_SECONDS = 0.7


def in_child(run_id: int, seconds: float | None) -> bool:
    """The run's job in a child, killed after so long. True: it was killed."""

    def work() -> None:
        job = jobs_of(Run.objects.get(pk=run_id)).active().first()
        if job is not None:
            perform_job(job)

    return children.in_child(work, seconds)


def bury(run: Run) -> None:
    """What the sweep does to the job of a dead worker."""
    job = jobs_of(run).active().first()
    if job is None:
        settle()
    elif job.state == State.ASSIGNED:
        transitions.orphan(job)
    elif job.state == State.RUNNING:
        transitions.end(job, State.FAILED, error="killed", again=transitions.Again.BLAMELESS)
        # Its retry waits a moment; a test does not.
        jobs_of(run).active().update(due_at=job.created_at)


def glossary_of(run: Run) -> list[tuple[Any, ...]]:
    columns = ("key", "definition", "confidence", "aliases", "related", "evidence", "copied")
    return [tuple(map(str, row)) for row in run.refined.order_by("key").values_list(*columns)]


def undisturbed(project: Project) -> Run:
    run = start_run(project)
    in_child(run.pk, None)
    run.refresh_from_db()
    assert run.status == Status.COMPLETED, run.error_message
    return run


def disturbed(project: Project, kills: int, dice: random.Random) -> tuple[Run, list[float]]:
    run = start_run(project, fresh=True)
    killed_at: list[float] = []
    while run.is_active:
        seconds = dice.uniform(0.01, 0.15) if len(killed_at) < kills else None
        if in_child(run.pk, seconds):
            killed_at.append(time.time())
            bury(run)
        elif jobs_of(run).active().first() is None:
            settle()
        run.refresh_from_db()
    assert run.status == Status.COMPLETED, run.error_message
    return run, killed_at


def check_requests(server: RemoteServer, since: float, killed_at: list[float]) -> int:
    """Nothing twice but what a kill caught on the wire."""
    seen: dict[str, list[Any]] = {}
    for entry in server.requests:
        if entry.at >= since:
            seen.setdefault(entry.fingerprint, []).append(entry)
    for first, *again in seen.values():
        for earlier, later in zip([first, *again], again, strict=False):
            caught = [
                moment
                for moment in killed_at
                if earlier.at <= moment <= (earlier.ended_at or moment) + ON_THE_WAY_SECONDS
                and moment <= later.at
            ]
            assert caught, "asked again although it was answered"
    return len(seen)


def main(kills: int, seed: int) -> None:
    dice = random.Random(seed)
    with (
        tempfile.TemporaryDirectory(prefix="run-crashes-") as directory,
        server_process(
            ledger=Path(directory) / "ledger.sqlite3", delay=DELAY_SECONDS, glossary=True
        ) as server,
    ):
        settings.LLM = {
            **settings.LLM,
            "base_url": server.base_url,
            "model": "peer-small",
            "concurrency": 2,
        }
        project = create_project(actor=OPERATOR, name="Harbour")
        make_harbour(project)
        expected = glossary_of(undisturbed(project))
        assert expected
        LedgerEntry.objects.all().delete()
        since = time.time()
        run, killed_at = disturbed(project, kills, dice)
        assert glossary_of(run) == expected, "another glossary came out"
        requests = check_requests(server, since, killed_at)
        assert not LLMJob.objects.exists()
        numbers = list(run.log.order_by("number").values_list("number", flat=True))
        assert numbers == list(range(1, run.log_count + 1)), "the log has gaps"
    sys.stdout.write(f"{len(killed_at)} {requests}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
