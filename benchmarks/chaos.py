"""Kill the site again and again while it works, and see that the work counts once all the same.

    python -m benchmarks.chaos [--kills 300] [--seed 1] [--mode embedded|scaled|both]

Runs `manage.py serve` and a second worker in a data directory of their own, embedded (SQLite) and,
with DATABASE_URL and REDIS_URL (an empty Redis database), scaled. While jobs of several kinds go
in and run, processes are killed with SIGKILL or paused for longer than a lease, by chance from the
seed. Then everything may come to rest, and what the database, its triggers and files beside it have
noted is judged. Prints a table; a breach is printed in full and makes the exit code 1.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from benchmarks import chaos_checks
from benchmarks.chaos_kills import Killer, Notes, Witness
from benchmarks.chaos_llm import Accounts
from benchmarks.chaos_records import Database
from benchmarks.chaos_site import Running
from benchmarks.jobs import require_empty_redis
from benchmarks.site import Site, a_site
from tests.llm_server import CHAT, RemoteServer, server_process

LEASE_SECONDS = 2.0
CONFIRM_SECONDS = 2.0
PER_SECOND = 5.0
EVENTS_PER_SECOND = 0.7
REST_SECONDS = 240.0
# Short, so that a lease can run out many times within minutes.
ENVIRONMENT = {
    "DJANGO_SETTINGS_MODULE": "benchmarks.chaos_settings",
    "GLOSSARY_JOB_LEASE_SECONDS": str(LEASE_SECONDS),
    "GLOSSARY_JOB_CONFIRM_SECONDS": str(CONFIRM_SECONDS),
    "GLOSSARY_JOB_BACKOFF_SECONDS": "0.2",
    "GLOSSARY_JOB_BACKOFF_MAX_SECONDS": "2",
    "GLOSSARY_WORKER_HANG_SECONDS": "6",
    "GLOSSARY_LLM_MODEL": "chaos",
    "GLOSSARY_LLM_CONCURRENCY": "4",
    "GLOSSARY_LLM_BACKOFF_SECONDS": "0.2",
    "GLOSSARY_LLM_BATCH_POLL_SECONDS": "0.7",
}
# The provider: how long an answer and a batch take.
ANSWER_SECONDS = 0.3
BATCH_SECONDS = 3.0
SETUP = """
from glossary_site.jobs.services.definitions import create_definition
create_definition(actor="chaos", name="every minute", kind="chaos.tick", cron="* * * * *",
                  policy="allow")
create_definition(actor="chaos", name="one at a time", kind="chaos.tick", cron="* * * * *",
                  policy="forbid")
create_definition(actor="chaos", name="on event", kind="chaos.tick", event_type="chaos.ping",
                  policy="allow")
"""


def torment(mode: str, *, kills: int, pace: float, seed: str, directory: Path) -> dict[str, object]:
    with (
        server_process(
            ledger=directory / "paid.sqlite3", delay=ANSWER_SECONDS, batch_seconds=BATCH_SECONDS
        ) as provider,
        environment(
            **ENVIRONMENT,
            GLOSSARY_LLM_BASE_URL=provider.base_url,
            CHAOS_BOOK=str(directory / "book"),
            CHAOS_DIARY=str(directory / "diary"),
            CHAOS_EVENTS=str(directory / "events"),
        ),
        a_site(mode) as site,
    ):
        make_trouble(provider)
        database = database_of(site)
        database.prepare()
        site.manage("shell", "--verbosity", "0", "-c", SETUP)
        running = Running(site, database, directory)
        notes = Notes(directory / "kills")
        killer = Killer(
            running,
            provider,
            seed=f"{seed}:{mode}",
            pace=pace,
            longest_lease=LEASE_SECONDS + CONFIRM_SECONDS,
            notes=notes,
        )
        try:
            running.start()
            running.command("producer", ["-m", "benchmarks.chaos_producer", seed, str(PER_SECOND)])
            running.command(
                "events",
                ["-m", "benchmarks.chaos_events", site.url, site.token, str(EVENTS_PER_SECOND)],
            )
            running.keep_going()
            wait_for_work(database)
            with Witness(running, notes):
                began = time.monotonic()
                killer.run(kills)
                seconds = time.monotonic() - began
                running.give_up("producer")
                running.give_up("events")
                rest = come_to_rest(running, database)
        finally:
            left = running.stop()
        evidence = chaos_checks.gather(database, seed=seed, directory=directory)
        accounts = Accounts(database, evidence, provider.ledger.entries(path=CHAT))
        if mode == "embedded":
            keep_database(site, directory)
    found = chaos_checks.breaches(evidence)
    found += accounts.breaches(
        chaos_checks.llm_jobs(evidence), cancelled=evidence.numbers("cancelling")
    )
    found += [f"left behind: {process}" for process in left]
    log = running.log.read_text()
    return {
        **{sort: killer.counts[sort] for sort in sorted(killer.counts)},
        "kills in all": killer.counts.total(),
        **{name: killer.others[name] for name in sorted(killer.others)},
        "seconds": round(seconds),
        **chaos_checks.summary(evidence),
        **accounts.summary(),
        "hangs caught": len(re.findall(r"hangs?: no sign of life", log)),
        "seconds to come to rest": round(rest),
        "breaches": found,
    }


@contextmanager
def environment(**values: str) -> Iterator[None]:
    """What the site's processes inherit."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def make_trouble(provider: RemoteServer) -> None:
    """Nothing that would be charged: this is about kills."""
    provider.faults.add("rate_limit", probability=0.04, seed=1, retry_after=0.3, path=CHAT)
    provider.faults.add("server_error", probability=0.02, seed=2, path=CHAT)


def database_of(site: Site) -> Database:
    if site.name == "scaled":
        return Database(url=site.environment["DATABASE_URL"])
    return Database(path=str(Path(site.environment["GLOSSARY_DATA_DIR"]) / "glossary.sqlite3"))


def keep_database(site: Site, directory: Path) -> None:
    for file in Path(site.environment["GLOSSARY_DATA_DIR"]).glob("glossary.sqlite3*"):
        shutil.copy(file, directory)


def wait_for_work(database: Database) -> None:
    while not database.value("SELECT count(*) FROM chaos_effect"):
        time.sleep(0.2)


def come_to_rest(running: Running, database: Database) -> float:
    """Let everything that began come to its end; how long that took."""
    began = time.monotonic()
    waiting = (
        "SELECT (SELECT count(*) FROM jobs_jobrun WHERE finished_at IS NULL) "
        "+ (SELECT count(*) FROM llm_llmprocess WHERE finished_at IS NULL)"
    )
    quiet_since = None
    while time.monotonic() - began < REST_SECONDS:
        running.keep_going()
        if database.value(waiting):
            quiet_since = None
        elif quiet_since is None:
            quiet_since = time.monotonic()
        elif time.monotonic() - quiet_since > 2:
            break
        time.sleep(0.3)
    return (quiet_since or time.monotonic()) - began


def print_table(results: dict[str, dict[str, object]]) -> None:
    rows = list(dict.fromkeys(name for result in results.values() for name in result))
    print(f"\n| | {' | '.join(results)} |\n|---|{'---|' * len(results)}")
    for row in rows:
        cells = []
        for result in results.values():
            value = result.get(row, 0)
            cells.append(str(len(value) if isinstance(value, list) else value))
        print(f"| {row} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=300, help="in each mode")
    parser.add_argument("--pace", type=float, default=0.9, help="seconds from kill to kill")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--mode", choices=["embedded", "scaled", "both"], default="both")
    parser.add_argument("--keep", type=Path, help="keep logs and notes in this directory")
    arguments = parser.parse_args()
    modes = ["embedded", "scaled"] if arguments.mode == "both" else [arguments.mode]
    if not (os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL")):
        if arguments.mode == "scaled":
            sys.exit("Set DATABASE_URL and REDIS_URL for the scaled mode.")
        print("Without DATABASE_URL and REDIS_URL only the embedded mode is tried.")
        modes = ["embedded"]
    results = {}
    directory = arguments.keep or Path(tempfile.mkdtemp(prefix="glossary-chaos-"))
    for mode in modes:
        place = directory / mode
        place.mkdir(parents=True)
        print(f"{mode}, seed {arguments.seed}, notes in {place}", flush=True)
        if mode == "scaled":
            require_empty_redis()
        try:
            results[mode] = torment(
                mode,
                kills=arguments.kills,
                pace=arguments.pace,
                seed=arguments.seed,
                directory=place,
            )
        finally:
            if mode == "scaled":
                redis.Redis.from_url(os.environ["REDIS_URL"]).flushdb()
    print_table(results)
    breaches = [f"{mode}: {b}" for mode, result in results.items() for b in result["breaches"]]
    for breach in breaches:
        print(breach)
    if breaches:
        sys.exit(f"{len(breaches)} breaches; logs and notes are in {directory}")
    if arguments.keep is None:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
