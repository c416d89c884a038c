"""The worker: it does tasks, survives every kill, and knows a long task from a hang."""

import os
import signal
import subprocess

import psutil
import pytest
from django_q.models import Schedule

from glossary_site.processes.heartbeat import Marks
from glossary_site.processes.restarts import LONGEST_PAUSE, WINDOW_SECONDS, Restarts
from glossary_site.processes.schedules import TIMERS, ensure_schedules
from glossary_site.processes.watchdog import TICK_SECONDS, Verdict, Vigil
from tests.site.running import Running, Site, free_port, gone, migrated_site, wait_for

# These start many processes: side by side they would only slow each other down.
pytestmark = pytest.mark.xdist_group("processes")

WORKERS = 2


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    directory = tmp_path_factory.mktemp("worker") / "data"
    with migrated_site(directory, GLOSSARY_WORKERS=str(WORKERS)) as site:
        yield site


@pytest.fixture
def site(database):
    yield database
    database.end()


def start_worker(site: Site, **environment: str) -> Running:
    ready = site.directory.parent / "ready"
    ready.unlink(missing_ok=True)
    running = site.start("worker", "--ready-file", str(ready), **environment)

    def look() -> bool:
        assert running.process.poll() is None, running.output
        return ready.exists()

    wait_for("the worker is up", look)
    return running


def cluster_of(running: Running) -> psutil.Process:
    """The main process of the cluster, once it has all its processes."""

    def look() -> psutil.Process | None:
        complete = len(running.descendants()) == 2 + WORKERS + 2
        return psutil.Process(running.pid).children()[0] if complete else None

    return wait_for("a whole cluster", look)


def workers_of(cluster: psutil.Process) -> list[psutil.Process]:
    """The sentinel starts them before the monitor and the pusher."""
    (sentinel,) = cluster.children()
    return sorted(sentinel.children(), key=lambda p: (p.create_time(), p.pid))[:WORKERS]


def test_tasks_still_run_after_every_kind_of_kill(site, tmp_path):
    worker = start_worker(site, GLOSSARY_WORKER_HANG_SECONDS="4")
    first = cluster_of(worker)
    # One of the idle workers holds the lock on the task queue, which dies with it.
    for process in workers_of(first):
        process.kill()
    worker.wait_for_output("hangs")
    assert wait_for("the hung cluster is gone", lambda: gone([first]))

    second = cluster_of(worker)
    processes = [second, *second.children(recursive=True)]
    second.kill()
    wait_for("no orphan of the killed cluster", lambda: gone(processes))
    worker.wait_for_output("starting it again", times=2)

    third = cluster_of(worker)
    done = tmp_path / "done"
    site.send_tasks(("os.mkdir", str(done)))
    wait_for("a task runs after all that", done.exists)

    everything = [third, *third.children(recursive=True)]
    worker.signal(signal.SIGKILL)
    worker.wait()
    wait_for("nothing outlives the watchdog", lambda: gone(everything), seconds=3)


def test_long_tasks_are_not_a_hang_and_one_in_progress_may_finish(site, tmp_path):
    worker = start_worker(site, GLOSSARY_WORKER_HANG_SECONDS="4", GLOSSARY_ROLE="worker")
    cluster = cluster_of(worker)
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


def test_a_second_signal_does_not_wait_for_tasks(site, tmp_path):
    worker = start_worker(site, GLOSSARY_ROLE="worker")
    everything = [cluster_of(worker), *worker.descendants()]
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
    refused = site.command("worker", REDIS_URL=nowhere)
    assert refused.returncode == 1
    assert "The task broker cannot be reached" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1

    unprepared = Site(tmp_path / "fresh").command("worker")
    assert unprepared.returncode == 1
    assert "run “manage.py migrate” first" in unprepared.stderr
    assert len(unprepared.stderr.splitlines()) == 1


class TestVigil:
    """Each look is one tick later than the one before."""

    def ticks(self, vigil: Vigil, seconds: float, **marks: int) -> list[Verdict]:
        count = round(seconds / TICK_SECONDS)
        pulses = marks.pop("pulses", True)
        look = {"beat": 1, "busy": 0, **marks}
        return [
            vigil.look(pulse=n if pulses else 0, elapsed=TICK_SECONDS, **look) for n in range(count)
        ]

    def test_asks_now_and_then_before_it_calls_silence_a_hang(self):
        vigil = Vigil(hang_seconds=60, workers=2)
        verdicts = self.ticks(vigil, 61)
        assert verdicts.count(Verdict.ASK) == 5
        assert verdicts[-1] is Verdict.HANGS
        assert Verdict.HANGS not in verdicts[: round(59 / TICK_SECONDS)]

    def test_a_beat_starts_the_count_again(self):
        vigil = Vigil(hang_seconds=60, workers=2)
        assert Verdict.HANGS not in self.ticks(vigil, 50, beat=1)
        assert Verdict.HANGS not in self.ticks(vigil, 50, beat=2)

    def test_silence_is_fine_while_every_worker_is_busy_but_not_when_one_is_free(self):
        vigil = Vigil(hang_seconds=10, workers=2)
        assert set(self.ticks(vigil, 100, busy=2)) == {Verdict.FINE}
        assert Verdict.HANGS in self.ticks(vigil, 11, busy=1)

    def test_a_sentinel_without_pulse_hangs_though_tasks_go_on(self):
        vigil = Vigil(hang_seconds=10, workers=2)
        verdicts = [
            vigil.look(beat=n, pulse=1, busy=2, elapsed=TICK_SECONDS)
            for n in range(round(11 / TICK_SECONDS))
        ]
        assert verdicts[-1] is Verdict.HANGS

    def test_time_in_which_the_machine_slept_does_not_count(self):
        vigil = Vigil(hang_seconds=10, workers=2)
        vigil.look(beat=1, pulse=1, busy=0, elapsed=0)
        assert vigil.look(beat=1, pulse=1, busy=0, elapsed=3600) is Verdict.FINE


def test_the_busy_mark_of_a_dead_process_does_not_count(tmp_path):
    marks = Marks(tmp_path / "marks")
    marks.clear()
    marks.my_busy_mark().touch()
    dead = os.fork()
    if dead == 0:
        os._exit(0)
    os.waitpid(dead, 0)
    (marks.directory / f"busy-{dead}").touch()
    assert marks.busy_workers() == 1


def test_restarts_wait_longer_each_time_up_to_a_limit():
    restarts = Restarts()
    pauses = [restarts.pause_after_death(second) for second in range(20)]
    assert pauses == sorted(pauses)
    assert 0 < pauses[0] < pauses[-1] == LONGEST_PAUSE
    # Deaths of long ago are forgiven.
    assert restarts.pause_after_death(2 * WINDOW_SECONDS) == pauses[0]


@pytest.mark.django_db
def test_schedules_are_made_once_and_keep_the_hour_they_were_moved_to():
    ensure_schedules()
    schedule = Schedule.objects.get(name=TIMERS[0].name)
    assert schedule.next_run.hour == 3
    Schedule.objects.update(cron="0 5 * * *", func="somewhere.old")
    Schedule.objects.create(name=schedule.name, func=schedule.func)
    ensure_schedules()
    schedule = Schedule.objects.get(name=TIMERS[0].name)
    assert (schedule.cron, schedule.func) == ("0 5 * * *", TIMERS[0].func)
