"""Collects in child processes that are killed, one after the other, at instants chosen by chance.

    python -m tests.collection.crashing KILLS SEED

A program of its own, because a process with threads (a test runner has some) must not fork. The
collection goes on from where each killed child left it; in the end every branch must have exactly
the commits that git has, each once, the counts must be those of the rows, and the documents those
of the heads. Prints the number of kills, of targets and of commits.
"""

import random
import sys
import tempfile
from pathlib import Path

import django

django.setup()

from django.conf import settings  # noqa: E402

from collection.choices import Kind, ResultStatus, RunStatus  # noqa: E402
from collection.models import (  # noqa: E402
    Branch,
    BulkCollectionRun,
    Commit,
    RepositoryFile,
)
from collection.services.ending import jobs_of  # noqa: E402
from collection.services.repositories import add_repository  # noqa: E402
from collection.services.settling import settle  # noqa: E402
from collection.services.starting import start  # noqa: E402
from glossary_site.jobs.choices import State  # noqa: E402
from glossary_site.jobs.services import transitions  # noqa: E402
from projects.access import OPERATOR  # noqa: E402
from projects.services.projects import create_project  # noqa: E402
from tests import children  # noqa: E402
from tests.collection.git.building import NOON, Source, make_source  # noqa: E402
from tests.collection.working import WORKER  # noqa: E402
from tests.jobs.running import perform  # noqa: E402

REPOSITORIES = 6
COMMITS = 300


def in_child(run: BulkCollectionRun, seconds: float | None) -> bool:
    """The collection's job in a child, killed after so long. True: it was killed."""

    def work() -> None:
        job = jobs_of(run).active().first()
        if job is not None:
            perform(job, worker=WORKER)

    return children.in_child(work, seconds)


def bury(run: BulkCollectionRun) -> None:
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


def collect(kills: int, dice: random.Random) -> tuple[BulkCollectionRun, int]:
    run = start(actor=OPERATOR)
    killed = 0
    while run.is_running:
        seconds = dice.uniform(0.05, 0.6) if killed < kills else None
        if in_child(run, seconds):
            killed += 1
            bury(run)
        elif jobs_of(run).active().first() is None:
            settle()
        run.refresh_from_db()
    assert run.status == RunStatus.COMPLETED
    return run, killed


def write_history(source: Source, dice: random.Random) -> None:
    """Lines of work that are merged late, with dates of their own; a release from the middle."""
    tip, side = "", ""
    for number in range(COMMITS):
        when = NOON + 600 * number - dice.choice([0, 0, 86_400])
        folder = dice.choice(["docs", "docs/deep", "src"])
        path = f"{folder}/{dice.randrange(12)}.md"
        text = "".join(f"line {dice.randrange(1000)}\n" for _ in range(dice.randrange(1, 20)))
        files = {path: f"# {path}\n\n{text}".encode()}
        if tip and dice.random() < 0.2:
            side = source.commit("side", files, parents=[side or tip], when=when)
        elif side and dice.random() < 0.1:
            tip = source.commit("main", files, parents=[tip, side], when=when)
            side = ""
        else:
            tip = source.commit("main", files, parents=[tip] if tip else [], when=when)
        if number == COMMITS // 2:
            source.point("release", tip)
    source.write()


def check(run: BulkCollectionRun, sources: dict[int, Source]) -> None:
    rows = list(run.results.select_related("repository"))
    assert all(row.status == ResultStatus.SUCCESS for row in rows), [row.last_error for row in rows]
    assert run.total_targets == run.success_count == run.completed_count == len(rows)
    assert sum(row.new_commits_count or 0 for row in rows) == run.new_commits
    for branch in Branch.objects.all():
        found = list(Commit.objects.filter(branch=branch).values_list("sha", flat=True))
        assert len(found) == len(set(found)), "a commit came twice"
        expected = sources[branch.repository_id].git("rev-list", branch.name).split()
        assert sorted(found) == sorted(expected), "not the commits of the branch"
    for repository_id, source in sources.items():
        taken = RepositoryFile.objects.filter(repository=repository_id, document__isnull=False)
        listed = source.git("ls-tree", "-r", "--name-only", "main", "docs").split()
        assert sorted(taken.values_list("path", flat=True)) == sorted(listed)
        for file in taken.select_related("document"):
            text = source.git("show", f"main:{file.path}")
            assert file.document is not None
            assert file.document.content.strip() == text, "not the text of the head"


def main(kills: int, seed: int) -> None:
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="collection-crashes-") as directory:
        settings.GIT_ROOTS = [Path(directory)]
        project = create_project(actor=OPERATOR, name="Harbour")
        sources: dict[int, Source] = {}
        for number in range(REPOSITORIES):
            source = make_source(Path(directory) / f"r{number}")
            write_history(source, dice)
            repository = add_repository(
                project=project,
                address=str(source.path),
                kind=Kind.LOCAL,
                actor=OPERATOR,
                branch_patterns=["*"],
                document_patterns=["docs/**/*.md"],
                document_folder=f"r{number}",
            )
            sources[repository.pk] = source
        run, killed = collect(kills, dice)
        check(run, sources)
    sys.stdout.write(f"{killed} {run.total_targets} {run.new_commits}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
