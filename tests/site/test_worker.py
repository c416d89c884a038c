"""The worker: tasks in both lanes, every kind of kill, and long tasks that are not a hang."""

import json
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.site.running import Running, Site, free_port, gone, migrated_site, wait_for

pytestmark = [pytest.mark.xdist_group("processes"), pytest.mark.races]

WORKERS = 2
# Of a cluster: its main process, the sentinel, the monitor and the pusher.
OTHERS = 4
LANES = ("short", "long")
CLUSTERS = {"short": "glossary", "long": "glossary-long"}
TASKS = "tests.site.tasks"


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    directory = tmp_path_factory.mktemp("worker") / "data"
    workers = {"GLOSSARY_WORKERS": str(WORKERS), "GLOSSARY_LONG_WORKERS": str(WORKERS)}
    with migrated_site(directory, GLOSSARY_WORKER_HANG_SECONDS="4", **workers) as site:
        yield site


@pytest.fixture
def site(database):
    yield database
    database.end()


def start_worker(site: Site, *options: str, **environment: str) -> Running:
    ready = site.directory.parent / "ready"
    ready.unlink(missing_ok=True)
    running = site.start("worker", "--ready-file", str(ready), *options, **environment)

    def look() -> bool:
        assert running.process.poll() is None, running.output
        return ready.exists()

    wait_for("the worker is up", look)
    return running


def parts_of(running: Running) -> dict[str, psutil.Process]:
    """The processes that the watchdog has started, by name."""
    return {child.name(): child for child in psutil.Process(running.pid).children()}


def cluster_of(running: Running, lane: str) -> psutil.Process:
    """The main process of a lane's cluster, once it has all its processes."""

    def look() -> psutil.Process | None:
        main = parts_of(running).get(f"{lane} cluster")
        complete = main and len(main.children(recursive=True)) + 1 == WORKERS + OTHERS
        return main if complete else None

    return wait_for(f"a whole cluster for {lane} work", look)


def workers_of(cluster: psutil.Process) -> list[psutil.Process]:
    """The sentinel starts them before the monitor and the pusher."""
    (sentinel,) = cluster.children()
    return sorted(sentinel.children(), key=lambda p: (p.create_time(), p.pid))[:WORKERS]


def whole_tree(process: psutil.Process) -> list[psutil.Process]:
    return [process, *process.children(recursive=True)]


def told(site: Site, lane: str, path: Path) -> dict:
    """Give a lane something to do, and read who did it."""
    site.send_tasks((f"{TASKS}.tell", str(path)), cluster=CLUSTERS[lane])
    wait_for(f"a task is done in the {lane} lane", path.exists)
    return json.loads(path.read_text())


def test_every_part_comes_back_alone_and_nothing_outlives_the_watchdog(site, tmp_path):
    worker = start_worker(site, GLOSSARY_ROLE="command")
    short, long = (cluster_of(worker, lane) for lane in LANES)
    keeper = parts_of(worker)["keeper"]

    # One of the idle workers holds the lock on the task queue, which dies with it.
    for process in workers_of(short):
        process.kill()
    keeper.kill()
    worker.wait_for_output("The keeper died with exit code -9; starting it again.")
    worker.wait_for_output("The short cluster hangs")
    assert wait_for("the hung cluster is gone", lambda: gone([short]))
    second = cluster_of(worker, "short")
    assert long.is_running()

    # The other way round: the long lane hangs, the keeper stands still.
    for process in workers_of(long):
        process.kill()
    keeper = parts_of(worker)["keeper"]
    keeper.suspend()
    worker.wait_for_output("The long cluster hangs")
    worker.wait_for_output("The keeper hangs")
    wait_for("what hung is gone", lambda: gone([long, keeper]))
    assert second.is_running()

    mains = [cluster_of(worker, lane) for lane in LANES]
    processes = [process for main in mains for process in whole_tree(main)]
    for main in mains:
        main.kill()
    wait_for("no orphan of the killed clusters", lambda: gone(processes))
    for lane in LANES:
        worker.wait_for_output(f"The {lane} cluster died with exit code -9")
        cluster_of(worker, lane)
        told(site, lane, tmp_path / lane)

    everything = worker.descendants()
    assert len(everything) == 2 * (WORKERS + OTHERS) + 1
    worker.signal(signal.SIGKILL)
    worker.wait()
    wait_for("nothing outlives the watchdog", lambda: gone(everything), seconds=3)


def test_short_work_starts_at_once_while_every_long_slot_is_busy(site, tmp_path):
    worker = start_worker(site)
    naps = [("os.system", f"touch {tmp_path}/begun-{n}; sleep 60") for n in range(WORKERS)]
    late = ("os.mkdir", str(tmp_path / "late"))
    site.send_tasks(*naps, late, cluster=CLUSTERS["long"])
    wait_for("every long slot is busy", lambda: len(list(tmp_path.glob("begun-*"))) == WORKERS)
    # It waits where a worker of another host could take it, and not in this one's hands.
    assert site.waiting_tasks(CLUSTERS["long"]) == 1

    path = tmp_path / "short"
    sent = float(
        site.ask(
            "import time\n"
            "from django_q.tasks import async_task\n"
            f"async_task('{TASKS}.tell', {str(path)!r})\n"
            "print(time.time())"
        )
    )
    wait_for("the short task is done", path.exists)
    assert json.loads(path.read_text())["time"] - sent < 2

    worker.signal(signal.SIGTERM)
    time.sleep(1)
    worker.signal(signal.SIGTERM)
    assert worker.wait() == 0
    assert not (tmp_path / "late").exists()


def test_each_lane_has_its_limits_and_its_processes_know_where_they_belong(site, tmp_path):
    worker = start_worker(site, GLOSSARY_TASK_TIMEOUT="100", GLOSSARY_LONG_TASK_TIMEOUT="1000")
    facts = [told(site, lane, tmp_path / lane) for lane in LANES]
    assert [fact["lane"] for fact in facts] == ["short", "long"]
    assert [fact["cluster"] for fact in facts] == ["glossary", "glossary-long"]
    assert [fact["timeout"] for fact in facts] == [100, 1000]
    assert [fact["retry"] for fact in facts] == [301, 3001]
    (own,) = (site.directory / "run").glob("worker-*")
    assert {fact["node"].split("/")[-1] for fact in facts} == {own.name}

    # An operator's wish goes through the node's row and its keeper to the clusters.
    node = facts[0]["node"]
    drain(site, node, True)
    wait_for("the lanes take nothing", lambda: len(list(own.glob("*/drain"))) == len(LANES))
    # One that waits at Redis just now looks up within a second.
    time.sleep(1.2)
    site.send_tasks(("os.mkdir", str(tmp_path / "held back")))
    time.sleep(1)
    assert not (tmp_path / "held back").exists()
    assert site.waiting_tasks(CLUSTERS["short"]) == 1
    drain(site, node, False)
    wait_for("tasks are taken again", (tmp_path / "held back").exists)

    everything = worker.descendants()
    worker.signal(signal.SIGTERM)
    assert worker.wait() == 0
    assert gone(everything)
    assert not own.exists()


def drain(site: Site, node: str, draining: bool) -> None:
    site.ask(
        "from glossary_site.jobs.models import Worker\n"
        f"Worker.objects.filter(node={node!r}).update(draining={draining})"
    )


def test_a_host_can_be_given_to_one_lane(site, tmp_path):
    worker = start_worker(site, "--lane", "long")
    site.send_tasks(("os.mkdir", str(tmp_path / "short work")))
    assert told(site, "long", tmp_path / "told")["lane"] == "long"
    assert set(parts_of(worker)) == {"long cluster", "keeper"}
    assert not (tmp_path / "short work").exists()
    worker.signal(signal.SIGTERM)
    assert worker.wait() == 0
    # Whoever has the other lane does it.
    start_worker(site, "--lane", "short")
    wait_for("the short work is done", (tmp_path / "short work").exists)


def test_long_tasks_are_not_a_hang_and_one_in_progress_may_finish(site, tmp_path):
    worker = start_worker(site)
    cluster = cluster_of(worker, "short")
    begun, finished = tmp_path / "begun", tmp_path / "finished"
    last = ("os.system", f"mkdir {begun}; sleep 1; mkdir {finished}")
    site.send_tasks(*[("time.sleep", 6)] * WORKERS, last)
    wait_for("the long tasks are over", begun.exists)
    assert cluster.is_running()
    assert "hangs" not in worker.output
    worker.signal(signal.SIGTERM)
    assert worker.wait() == 0
    assert finished.exists()
    assert gone([cluster])


def test_tasks_learn_that_their_worker_is_stopping(site, tmp_path):
    worker = start_worker(site)
    # One for each worker, and two that the cluster fetches in advance.
    for n in range(WORKERS):
        (tmp_path / str(n)).mkdir()
    endless = [(f"{TASKS}.until_stopping", str(tmp_path / str(n))) for n in range(WORKERS)]
    waiting = [(f"{TASKS}.note_unless_stopping", str(tmp_path / f"late-{n}")) for n in range(2)]
    site.send_tasks(*endless, *waiting)
    wait_for("both have begun", lambda: len(list(tmp_path.glob("*/begun"))) == WORKERS)
    worker.signal(signal.SIGTERM)
    assert worker.wait(6) == 0
    assert len(list(tmp_path.glob("*/told"))) == WORKERS
    assert not list(tmp_path.glob("late-*"))


def test_a_second_signal_does_not_wait_for_tasks(site, tmp_path):
    worker = start_worker(site)
    everything = worker.descendants()
    site.send_tasks(("time.sleep", 60), ("os.mkdir", str(tmp_path / "begun")))
    wait_for("the tasks were taken", (tmp_path / "begun").exists)
    worker.signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        worker.wait(1)
    worker.signal(signal.SIGINT)
    assert worker.wait(3) == 0
    wait_for("nothing is left", lambda: gone(everything), seconds=3)


def test_it_says_in_one_sentence_why_it_cannot_start(site, tmp_path):
    nowhere = f"redis://127.0.0.1:{free_port()}/0"
    # Without the role it would start itself over, and load everything twice.
    refused = site.command("worker", GLOSSARY_ROLE="worker", REDIS_URL=nowhere)
    assert refused.returncode == 1
    assert "The task broker cannot be reached" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1

    unprepared = Site(tmp_path / "fresh", GLOSSARY_ROLE="worker").command("worker")
    assert unprepared.returncode == 1
    assert "run “manage.py migrate” first" in unprepared.stderr
    assert len(unprepared.stderr.splitlines()) == 1
