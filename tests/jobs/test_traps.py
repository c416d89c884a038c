"""What django-q2 does to us, row by row of what was measured of it, and that it does no harm.

Real worker processes on a site of their own. Clusters that hang and orphans of killed ones are in
`tests/site/test_worker.py`; here is what becomes of the jobs.
"""

import signal
from pathlib import Path

import psutil
import pytest

from glossary_site.env import database
from tests.site.running import Running, Site, migrated_site, wait_for

pytestmark = [pytest.mark.xdist_group("jobs"), pytest.mark.races]

QUICK = {
    "DJANGO_SETTINGS_MODULE": "tests.work.settings",
    "GLOSSARY_WORKERS": "2",
    "GLOSSARY_LONG_WORKERS": "1",
    "GLOSSARY_JOB_LEASE_SECONDS": "2",
    "GLOSSARY_JOB_CONFIRM_SECONDS": "2",
    "GLOSSARY_JOB_BACKOFF_SECONDS": "0.1",
    "GLOSSARY_WORKER_HANG_SECONDS": "5",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with migrated_site(tmp_path_factory.mktemp("traps") / "data", **QUICK) as site:
        yield site


@pytest.fixture(autouse=True)
def _nothing_is_left(site: Site):
    """What one test leaves running or waiting must not be the next one's."""
    yield
    site.end()
    site.ask("from glossary_site.jobs.models import JobRun; JobRun.objects.all().delete()")


@pytest.fixture
def worker(site: Site) -> Running:
    return start_worker(site)


def start_worker(site: Site) -> Running:
    ready = site.directory.parent / "ready"
    ready.unlink(missing_ok=True)
    running = site.start("worker", "--ready-file", str(ready))
    wait_for("the worker is up", ready.exists)
    return running


def enqueue(site: Site, kind: str, count: int = 1, **payload) -> list[int]:
    return eval(
        site.ask(
            "from glossary_site.jobs.services.enqueue import enqueue\n"
            f"print([enqueue({kind!r}, {payload!r}).pk for _ in range({count})])"
        )
    )


def states(site: Site) -> list[tuple[int, str, int]]:
    """Every run of the tests' own: its number, its state, its attempt. The site has timers, too."""
    return eval(
        site.ask(
            "from glossary_site.jobs.models import JobRun\n"
            "runs = JobRun.objects.filter(kind__startswith='work.').order_by('pk')\n"
            "print(list(runs.values_list('pk', 'state', 'attempt')))"
        )
    )


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def all_ended(site: Site) -> bool:
    return all(state in ("SUCCEEDED", "FAILED", "CANCELED") for _, state, _ in states(site))


def deliver_again(site: Site, ids: list[int], times: int) -> None:
    site.ask(
        "from glossary_site.jobs.doorbell import ring_all\n"
        f"[ring_all([(pk, 60) for pk in {ids!r}], lane='short') for _ in range({times})]"
    )


def test_connections_are_kept_and_the_history_is_ours(site, worker, tmp_path):
    """Row 1: a connection and a count for every task. Both settings, and the effect of the one."""
    assert database(tmp_path, "worker")["CONN_MAX_AGE"] == 600
    notes = tmp_path / "notes"
    enqueue(site, "work.note", 20, path=str(notes))
    wait_for("all of it is done", lambda: len(lines(notes)) == 20)
    wait_for("all of it has ended", lambda: all_ended(site))
    kept = site.ask("from django_q.models import Task; print(Task.objects.count())")
    assert kept == "0"


def test_a_task_delivered_again_while_it_runs_runs_once(site, worker, tmp_path):
    """Rows 2 and 3: redelivery of what runs, or of what waits in a worker's own queue."""
    notes = tmp_path / "notes"
    ids = enqueue(site, "work.nap", 10, seconds=0.3, path=str(notes))
    deliver_again(site, ids, 4)
    wait_for("all of it is done", lambda: len(lines(notes)) >= 20)
    wait_for("all of it has ended", lambda: all_ended(site))
    begun = [line for line in lines(notes) if line.startswith("begin")]
    assert len(begun) == 10
    mine = [row for row in states(site) if row[0] in ids]
    assert {(state, attempt) for _, state, attempt in mine} == {("SUCCEEDED", 1)}


def test_a_job_that_fails_is_tried_as_often_as_it_may_and_no_more(site, worker):
    """Row 4: an exception repeated for ever."""
    (first,) = enqueue(site, "work.fail")
    wait_for(
        "the last attempt has failed",
        lambda: (
            [row[1:] for row in states(site) if row[0] >= first]
            == [("FAILED", 1), ("FAILED", 2), ("FAILED", 3)]
        ),
    )
    left = site.ask("from django_q.models import OrmQ; print(OrmQ.objects.count())")
    assert left == "0"


def test_a_job_that_kills_its_worker_counts_as_tried(site, worker, tmp_path):
    """Row 5: a worker that dies is no attempt to django-q2, which would bring it back for ever."""
    notes = tmp_path / "notes"
    (first,) = enqueue(site, "work.die", path=str(notes))
    wait_for(
        "three attempts have failed",
        lambda: (
            [row[1:] for row in states(site) if row[0] >= first]
            == [("FAILED", 1), ("FAILED", 2), ("FAILED", 3)]
        ),
    )
    assert len(lines(notes)) == 3
    enqueue(site, "work.note", path=str(notes), line="after")
    wait_for("the workers are back", lambda: "after" in lines(notes))


def test_the_work_of_a_killed_cluster_is_taken_up_again(site, worker, tmp_path):
    """Rows 6, 7 and 8: hung clusters, orphans, and a broker that forgets what it handed out."""
    notes = tmp_path / "notes"
    count = 8
    ids = enqueue(site, "work.nap", count, seconds=0.5, path=str(notes))
    wait_for("some of it runs", lambda: lines(notes))
    for process in psutil.Process(worker.pid).children():
        process.kill()
    wait_for(
        "every one of them has succeeded in the end",
        lambda: _succeeded(site, ids[0]) == count,
        seconds=90,
    )


def _succeeded(site: Site, since: int) -> int:
    return len([row for row in states(site) if row[0] >= since and row[1] == "SUCCEEDED"])


def test_a_worker_that_is_asked_to_stop_hands_its_work_on(site, tmp_path):
    """Row 9: django-q2 would finish everything it had fetched first."""
    running = start_worker(site)
    notes = tmp_path / "notes"
    ids = enqueue(site, "work.nap", 6, seconds=20, path=str(notes))
    wait_for("two of them run", lambda: len(lines(notes)) == 2)
    running.signal(signal.SIGTERM)
    assert running.wait(15) == 0
    assert len(lines(notes)) == 2
    mine = [row for row in states(site) if row[0] >= ids[0]]
    # Two were told to stop and have a next attempt; four were never begun.
    assert sorted(state for _, state, _ in mine) == ["FAILED"] * 2 + ["PENDING"] * 6


def test_a_worker_that_wakes_up_too_late_changes_nothing(site, worker, tmp_path):
    notes = tmp_path / "notes"
    (run,) = enqueue(site, "work.nap", seconds=4, path=str(notes))
    wait_for("it runs", lambda: lines(notes))
    sleeper = psutil.Process(int(lines(notes)[0].split()[1]))
    sleeper.suspend()
    try:
        wait_for("it was given up, and tried again", lambda: len(lines(notes)) > 1, seconds=90)
    finally:
        sleeper.resume()
    wait_for("the second attempt has ended", lambda: _succeeded(site, run) == 1)
    wait_for("the sleeper has seen it", lambda: _has_stopped(sleeper, worker))
    first = next(row for row in states(site) if row[0] == run)
    assert first[1:] == ("FAILED", 1)
    ends = [line for line in lines(notes) if line.startswith("end")]
    assert ends == [f"end {line.split()[1]}" for line in lines(notes)[1:2]]


def _has_stopped(sleeper: psutil.Process, worker: Running) -> bool:
    """A line in the log says that it noticed, unless its process ended itself first."""
    return "its worker was taken for dead" in worker.output or not sleeper.is_running()


def test_a_job_that_never_looks_up_is_ended_with_its_process(site, worker, tmp_path):
    notes = tmp_path / "notes"
    site.ask(
        "from glossary_site.jobs.services.enqueue import enqueue\n"
        f"enqueue('work.deaf', {{'seconds': 60, 'path': {str(notes)!r}}}, timeout=1)"
    )
    wait_for("it runs", lambda: lines(notes))
    process = psutil.Process(int(lines(notes)[0].split()[1]))
    wait_for("its process is gone", lambda: not process.is_running())
    assert "TIMED_OUT" in [state for _, state, _ in states(site)]
    enqueue(site, "work.note", path=str(notes), line="after")
    wait_for("there is another one", lambda: "after" in lines(notes))
    assert not any(line.startswith("end") for line in lines(notes))
