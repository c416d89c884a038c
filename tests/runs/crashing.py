"""Does a run in child processes that are killed, one after the other, at instants chosen by chance.

    python -m tests.runs.crashing KILLS SEED TERMS

A program of its own, because a process with threads (a test runner has some) must not fork. The run
goes on from where each killed child left it; in the end its glossary must be that of a run which
nobody disturbed, and the provider, a process of its own, must have been asked nothing twice but
what was on the wire at a kill. Prints, as JSON, how many kills there were in which step, how many
questions were asked, how often one was asked again, and how long the longest of these answers had
been there at the kill that lost it.
"""

import json
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402

from glossary_site.jobs.choices import State  # noqa: E402
from glossary_site.jobs.services import transitions  # noqa: E402
from glossary_site.llm.models import LedgerEntry, LLMJob  # noqa: E402
from glossary_site.llm.requests import decode  # noqa: E402
from projects.access import OPERATOR  # noqa: E402
from projects.models import Project  # noqa: E402
from projects.services.projects import create_project  # noqa: E402
from runs.choices import Status  # noqa: E402
from runs.models import Run  # noqa: E402
from runs.services.ending import jobs_of  # noqa: E402
from runs.services.settling import settle  # noqa: E402
from tests import children  # noqa: E402
from tests.llm_server import RemoteServer, server_process  # noqa: E402
from tests.runs.manual import make_manual  # noqa: E402
from tests.runs.working import perform_job, start_run  # noqa: E402

DELAY_SECONDS = 0.2
CONCURRENCY = 8
# A child lives so long: some not to their first question, some for several rounds of answers.
SHORTEST_LIFE, LONGEST_LIFE = 0.1, 3.0
# An answer that had left the provider so shortly before the kill had not been written down yet.
ON_THE_WAY_SECONDS = 0.7


@dataclass(frozen=True)
class Kill:
    at: float
    step: str
    # The questions that were out, by our books.
    out: frozenset[str]


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


def disturbed(project: Project, most: int, dice: random.Random) -> tuple[Run, list[Kill]]:
    run = start_run(project)
    kills: list[Kill] = []
    while run.is_active:
        seconds = dice.uniform(SHORTEST_LIFE, LONGEST_LIFE) if len(kills) < most else None
        if in_child(run.pk, seconds):
            now = time.time()
            run.refresh_from_db()
            kills.append(Kill(now, run.current_step, out()))
            bury(run)
        elif jobs_of(run).active().first() is None:
            settle()
        run.refresh_from_db()
    assert run.status == Status.COMPLETED, run.error_message
    return run, kills


def out() -> frozenset[str]:
    rows = LLMJob.objects.in_flight().values_list("request_json", flat=True)
    return frozenset(decode(text).messages[-1]["content"] for text in rows)


def check_requests(server: RemoteServer, since: float, kills: list[Kill]) -> dict[str, Any]:
    """Nothing twice but what a kill caught on the wire: our books had it as not answered, and the
    provider had not answered it for longer than it takes to write that down."""
    seen: dict[str, list[Any]] = {}
    for entry in server.requests:
        if entry.at >= since:
            seen.setdefault(entry.fingerprint, []).append(entry)
    lost = []
    for entries in seen.values():
        for earlier, later in pairwise(entries):
            question = earlier.json["messages"][-1]["content"]
            between = [kill for kill in kills if earlier.at <= kill.at <= later.at]
            late = [
                kill.at - (earlier.ended_at or kill.at) for kill in between if question in kill.out
            ]
            assert late, "asked again although the answer was written down"
            assert min(late) < ON_THE_WAY_SECONDS, "an answer was there and not written down"
            lost.append(max(0.0, min(late)))
    return {
        "kills": Counter(kill.step for kill in kills),
        "questions": len(seen),
        "again": len(lost),
        "longest": max(lost, default=0.0),
    }


def main(most: int, seed: int, terms: int) -> None:
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
            "concurrency": CONCURRENCY,
        }
        project = create_project(actor=OPERATOR, name="Ship")
        make_manual(project, terms, seed)
        expected = glossary_of(undisturbed(project))
        assert expected
        LedgerEntry.objects.all().delete()
        since = time.time()
        run, kills = disturbed(project, most, dice)
        assert glossary_of(run) == expected, "another glossary came out"
        told = check_requests(server, since, kills)
        assert not LLMJob.objects.exists()
        numbers = list(run.log.order_by("number").values_list("number", flat=True))
        assert numbers == list(range(1, run.log_count + 1)), "the log has gaps"
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
