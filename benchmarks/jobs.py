"""What work that counts once costs: no-op jobs a second, time to start, and the price of waiting.

    python -m benchmarks.jobs [--only ours tuned] [--jobs 1000] [--rounds 2] [--burst] [--json]

Beside it, in the same run and on the same databases: raw django-q2 (its defaults, and tuned as the
site sets it), django-tasks, procrastinate, huey and celery, installed into a virtualenv of their
own, which `--peers DIRECTORY` keeps. SQLite always; with DATABASE_URL also PostgreSQL, and with
REDIS_URL (an empty Redis database) also Redis. Jobs a second are those of two worker processes with
the queue filled beforehand; the start is measured from just before a job is handed over to its
first line, one at a time with random gaps. Systems take turns, and each figure is the median of the
rounds (the ratio: of each round's). A job that is lost or runs twice fails the run.

On a machine that is not quiet, processor time says more than jobs a second: what a job costs the
worker processes, and the server of the database where that is on the same machine.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import redis

from benchmarks import jobs_marks
from benchmarks.jobs_systems import (
    OURS,
    PEERS,
    POSTGRES,
    REDIS,
    SQLITE,
    STORES,
    TUNED,
    System,
    systems,
)
from benchmarks.site import ROOT, scratch_database

PACED_JOBS = 40
IDLE_SECONDS = 5.0
SETTLE_SECONDS = 2.0
PATIENCE_SECONDS = 120.0
STOP_SECONDS = 10.0


class Broken(Exception):
    """A system did not do its work."""


@dataclass
class Figures:
    """One figure a round of each."""

    system: System
    rates: list[float] = field(default_factory=list)
    enqueue_rates: list[float] = field(default_factory=list)
    p50: list[float] = field(default_factory=list)
    p95: list[float] = field(default_factory=list)
    idle: list[float] = field(default_factory=list)
    # Milliseconds of processor time that a job of the burst cost all worker processes together,
    # and those of the database.
    cost: list[float] = field(default_factory=list)
    database_cost: list[float] = field(default_factory=list)


@contextmanager
def place(system: System) -> Iterator[tuple[Path, dict[str, str]]]:
    """A directory, a database and an empty Redis for one measurement."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-jobs-")))
        environment = {
            **os.environ,
            **system.environment,
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "ignore",
            "BENCH_DIRECTORY": str(directory),
            jobs_marks.VARIABLE: str(directory / "marks"),
            "GLOSSARY_DATA_DIR": str(directory),
            "GLOSSARY_WORKERS": "2",
        }
        database, broker = (environment.pop(n, "") for n in ("DATABASE_URL", "REDIS_URL"))
        if system.stores != SQLITE:
            url = stack.enter_context(scratch_database(database))
            environment |= {"DATABASE_URL": url, "BENCH_DATABASE_URL": url}
        if system.stores == REDIS:
            redis.Redis.from_url(broker).flushdb()
            stack.callback(redis.Redis.from_url(broker).flushdb)
            environment |= {"REDIS_URL": broker, "BENCH_REDIS_URL": broker}
        yield directory, environment


def produce(system: System, environment: dict[str, str], *arguments: object) -> object:
    command = [system.python, "-m", "benchmarks.jobs_producer", system.module]
    answer = subprocess.run(
        [*command, *map(str, arguments)],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        raise Broken(f"cannot {arguments[0]}: {answer.stderr[-2000:]}")
    return json.loads(answer.stdout.splitlines()[-1]) if answer.stdout else None


@contextmanager
def working(system: System, directory: Path, environment: dict[str, str]) -> Iterator[list[int]]:
    """Real worker processes; yields their pids."""
    with (directory / "log").open("w") as log:
        workers = [
            subprocess.Popen(
                [system.python, *command], env=environment, cwd=ROOT, stdout=log, stderr=log
            )
            for command in system.workers
        ]
        try:
            yield [worker.pid for worker in workers]
        except Broken as error:
            tail = (directory / "log").read_text()[-3000:]
            raise Broken(f"{error}\n{tail}") from error
        finally:
            stop(workers)


def family(pids: list[int]) -> list[psutil.Process]:
    found = []
    for pid in pids:
        try:
            process = psutil.Process(pid)
            found += [process, *process.children(recursive=True)]
        except psutil.NoSuchProcess:
            pass
    return found


def stop(workers: list[subprocess.Popen]) -> None:
    everyone = family([worker.pid for worker in workers])
    for worker in workers:
        worker.terminate()
    psutil.wait_procs(everyone, timeout=STOP_SECONDS)
    for process in everyone:
        # psutil looks at the start time as well: never another process with the same number.
        if process.is_running():
            process.kill()
    for worker in workers:
        worker.wait()


def wait_for_marks(path: Path, wanted: int) -> None:
    """Until so many jobs ran. Patience is for standing still, not for being slow."""
    seen, deadline = 0, time.monotonic() + PATIENCE_SECONDS
    while (count := jobs_marks.count(path)) < wanted:
        if count > seen:
            seen, deadline = count, time.monotonic() + PATIENCE_SECONDS
        if time.monotonic() > deadline:
            raise Broken(f"only {count} of {wanted} jobs ran")
        time.sleep(0.05)


def rate(marks: list[jobs_marks.Mark], last: float) -> float:
    """From the moment at which a second process was at work: starting up is not counted."""
    marks = sorted(marks, key=lambda mark: mark.time)
    second = next((n for n, mark in enumerate(marks) if mark.pid != marks[0].pid), 0)
    counted = marks[second:] if second < len(marks) // 2 else marks
    return (len(counted) - 1) / (last - counted[0].time)


def cpu_percent(pids: list[int], seconds: float) -> float:
    before, start = cpu_seconds(pids), time.monotonic()
    time.sleep(seconds)
    return 100 * (cpu_seconds(pids) - before) / (time.monotonic() - start)


def cpu_seconds(pids: list[int]) -> float:
    total = 0.0
    for process in family(pids):
        try:
            used = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        # Of children that have ended, too: django-q2 replaces its workers now and then.
        total += used.user + used.system + used.children_user + used.children_system
    return total


def end_of_burst(system: System, path: Path, jobs: int) -> float:
    """When the last job began, or was booked where that is done afterwards."""
    if system.books:
        path = jobs_marks.booked(path)
        wait_for_marks(path, jobs)
    return max(mark.time for mark in jobs_marks.read(path))


def server_seconds(environment: dict[str, str]) -> float:
    """What PostgreSQL's processes for this database have used, if it runs here."""
    database = environment.get("DATABASE_URL", "").rpartition("/")[2]
    total = 0.0
    for process in psutil.process_iter(["cmdline", "cpu_times"]):
        title = " ".join(process.info["cmdline"] or [])
        if database and title.startswith("postgres:") and f" {database} " in title:
            used = process.info["cpu_times"]
            total += used.user + used.system
    return total


def measure(figures: Figures, jobs: int, *, burst_only: bool) -> None:
    system = figures.system
    jobs = round(jobs * system.times)
    with place(system) as (directory, environment):
        produce(system, environment, "prepare")
        seconds = produce(system, environment, "burst", 0, jobs)
        assert isinstance(seconds, float)
        figures.enqueue_rates.append(jobs / seconds)
        path = directory / "marks"
        with working(system, directory, environment) as pids:
            measure_burst(figures, jobs, path, pids, environment)
            if not burst_only:
                time.sleep(SETTLE_SECONDS)
                figures.idle.append(cpu_percent(pids, IDLE_SECONDS))
                measure_starts(figures, jobs, path, environment)


def measure_burst(
    figures: Figures, jobs: int, path: Path, pids: list[int], environment: dict[str, str]
) -> None:
    # Starting up is not counted.
    wait_for_marks(path, jobs // 10)
    before = jobs_marks.count(path), cpu_seconds(pids), server_seconds(environment)
    wait_for_marks(path, jobs)
    last = end_of_burst(figures.system, path, jobs)
    counted = (jobs - before[0]) / 1000
    figures.cost.append((cpu_seconds(pids) - before[1]) / counted)
    figures.database_cost.append((server_seconds(environment) - before[2]) / counted)
    marks = jobs_marks.read(path)
    check(marks, jobs)
    figures.rates.append(rate(marks, last))


def measure_starts(figures: Figures, jobs: int, path: Path, environment: dict[str, str]) -> None:
    handed = produce(figures.system, environment, "paced", jobs, PACED_JOBS)
    assert isinstance(handed, list)
    wait_for_marks(path, jobs + PACED_JOBS)
    time.sleep(SETTLE_SECONDS)
    marks = jobs_marks.read(path)
    check(marks, jobs + PACED_JOBS)
    began = {mark.number: mark.time for mark in marks}
    delays = sorted(1000 * (began[jobs + n] - sent) for n, sent in enumerate(handed))
    figures.p50.append(statistics.median(delays))
    figures.p95.append(delays[int(0.95 * len(delays))])


def check(marks: list[jobs_marks.Mark], wanted: int) -> None:
    lost = wanted - len({mark.number for mark in marks})
    doubled = len(marks) - wanted + lost
    if lost or doubled:
        raise Broken(f"{lost} jobs lost, {doubled} ran twice")


def report(all_figures: list[Figures]) -> list[dict]:
    tuned = {f.system.stores: f.rates for f in all_figures if f.system.name == TUNED}
    rows = []
    for figures in all_figures:
        if not figures.rates:
            continue
        # Round by round: measured minutes apart, both met the same machine.
        ratios = [
            rate / reference
            for rate, reference in zip(
                figures.rates, tuned.get(figures.system.stores, []), strict=False
            )
        ]
        rows.append(
            {
                "system": figures.system.name,
                "stores": figures.system.stores,
                "jobs_per_second": middle(figures.rates, 1),
                "ratio_to_tuned": middle(ratios, 2),
                "enqueued_per_second": middle(figures.enqueue_rates, 1),
                "start_p50_ms": middle(figures.p50, 1),
                "start_p95_ms": middle(figures.p95, 1),
                "idle_percent": middle(figures.idle, 2),
                "cpu_ms_per_job": middle(figures.cost, 2),
                "database_cpu_ms_per_job": middle(figures.database_cost, 2),
                "rounds": len(figures.rates),
            }
        )
    return rows


def middle(values: list[float], digits: int) -> float | None:
    """The median; None if it was not measured."""
    return round(statistics.median(values), digits) if values else None


def print_table(rows: list[dict]) -> None:
    print(
        "| system | stores | jobs/s | to tuned q2 | enqueued/s | start p50 / p95, ms | idle, % "
        "| CPU a job (database), ms |"
    )
    print(f"|{'---|' * 8}")
    for row in rows:
        shown = {name: "–" if value is None else value for name, value in row.items()}
        print(
            "| {system} | {stores} | {jobs_per_second} | {ratio_to_tuned} | {enqueued_per_second} "
            "| {start_p50_ms} / {start_p95_ms} | {idle_percent} "
            "| {cpu_ms_per_job} ({database_cpu_ms_per_job}) |".format(**shown)
        )


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def chosen(arguments: argparse.Namespace, python: str) -> list[System]:
    """Those asked for, without those whose servers are not there."""
    missing = set()
    if not os.environ.get("DATABASE_URL"):
        missing = {POSTGRES, REDIS}
        say("Without DATABASE_URL nothing is measured on PostgreSQL, nor on Redis.")
    elif not os.environ.get("REDIS_URL"):
        missing = {REDIS}
        say("Without REDIS_URL nothing is measured on Redis.")
    words = [word for words in arguments.only or [""] for word in words.split(",")]
    there = [system for system in systems(python) if system.stores not in missing]
    there.sort(key=lambda system: STORES.index(system.stores))
    return [s for s in there if any(word in f"{s.name} on {s.stores}" for word in words)]


def install_peers(directory: Path) -> str:
    python = directory / "bin" / "python"
    if not python.exists():
        say("Installing the peers …")
        subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *PEERS], check=True)
    return str(python)


def require_empty_redis() -> None:
    """It is emptied between measurements, so it must be nobody's."""
    url = os.environ.get("REDIS_URL")
    if url and redis.Redis.from_url(url).dbsize():
        sys.exit("The Redis database of REDIS_URL is not empty: name one for this alone.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="WORD", help="systems or stores with a word")
    parser.add_argument("--jobs", type=int, default=1000, help="jobs a round (the quick get more)")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--burst", action="store_true", help="neither starts nor the idle cost")
    parser.add_argument("--json", action="store_true", help="figures for programs")
    parser.add_argument("--peers", type=Path, help="keep the peers' virtualenv here")
    arguments = parser.parse_args()
    require_empty_redis()
    with tempfile.TemporaryDirectory(prefix="bench-peers-") as temporary:
        directory = arguments.peers or Path(temporary)
        wanted = chosen(arguments, str(directory / "bin" / "python"))
        if any(system.name != OURS for system in wanted):
            install_peers(directory)
        all_figures = [Figures(system) for system in wanted]
        failures = []
        for number in range(arguments.rounds):
            for figures in all_figures:
                name = f"{figures.system.name}, {figures.system.stores}"
                try:
                    measure(figures, arguments.jobs, burst_only=arguments.burst)
                    say(f"round {number + 1}: {name}: {figures.rates[-1]:.0f} jobs/s")
                except Broken as error:
                    failures.append(name)
                    say(f"round {number + 1}: {name}: {error}")
    rows = report(all_figures)
    if arguments.json:
        print(json.dumps(rows, indent=2))
    else:
        print_table(rows)
    if failures:
        sys.exit(f"Failed: {'; '.join(failures)}")


if __name__ == "__main__":
    main()
