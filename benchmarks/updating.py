"""Is every document found at every moment, while it changes and workers die?

    python -m benchmarks.updating [--updates 1000] [--documents 50] [--kills 10] [--seed 1]

One process writes new versions of the documents as fast as it can, a worker indexes them and is
killed on the way, and two processes search without a pause. Each version of a document says in
every section which document it is, and has a number of sections of its own: so a search sees by its
results alone whether a document is missing or two versions are mixed. At the end every section is
compared with what the stored text gives. Runs embedded, and with DATABASE_URL and REDIS_URL set
also scaled. Exits with 1 on any breach.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from benchmarks.site import ROOT, Site, a_site

SEARCHERS = 2
# None of these is left behind when something goes wrong.
_started: list[subprocess.Popen] = []
PATIENCE = 180.0


def start(site: Site, *arguments: str, log: Path) -> subprocess.Popen:
    with log.open("a") as output:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            env=site.environment,
            cwd=ROOT,
            stdout=output,
            stderr=output,
        )
    _started.append(process)
    return process


def kill_something(worker: subprocess.Popen, chance: random.Random) -> str:
    """One of the worker's processes, at random; sometimes all of it."""
    family = psutil.Process(worker.pid).children(recursive=True)
    if not family or chance.random() < 0.2:
        victims, what = [psutil.Process(worker.pid), *family], "the whole worker"
    else:
        victims, what = [chance.choice(family)], "one process of the worker"
    for victim in victims:
        try:
            victim.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            continue
    return what


def measure(mode: str, options: argparse.Namespace) -> bool:
    with tempfile.TemporaryDirectory() as directory, a_site(mode) as site:
        try:
            return _measure(site, options, Path(directory))
        finally:
            for process in _started:
                process.kill()
                process.wait()
            _started.clear()


def _measure(site: Site, options: argparse.Namespace, directory: Path) -> bool:
    site.environment |= {"GLOSSARY_SECRET_KEY": "b" * 50, "GLOSSARY_WORKER_HANG_SECONDS": "10"}
    log = directory / "log"
    chance = random.Random(options.seed)
    project, documents = str(site.project_id), str(options.documents)
    side = "benchmarks.updating_side"
    # Every document is there once before anybody looks for it.
    subprocess.run(
        [sys.executable, "-m", side, "write", project, documents, documents, "0"],
        env=site.environment,
        cwd=ROOT,
        check=True,
    )
    worker = start(site, "manage.py", "worker", log=log)
    _until_indexed(site)
    began = time.monotonic()
    reports = [directory / f"report{n}" for n in range(SEARCHERS)]
    searchers = [
        start(site, "-m", side, "search", project, documents, str(report), log=log)
        for report in reports
    ]
    updates = str(options.updates)
    writer = start(site, "-m", side, "write", project, documents, updates, "0.02", log=log)
    kills = 0
    while writer.poll() is None or kills < options.kills:
        time.sleep(chance.uniform(0.5, 2.5))
        if kills < options.kills:
            kill_something(worker, chance)
            kills += 1
        if worker.poll() is not None:
            worker = start(site, "manage.py", "worker", log=log)
    wrote = time.monotonic() - began
    _until_indexed(site)
    settled = time.monotonic() - began
    for searcher in searchers:
        searcher.send_signal(signal.SIGTERM)
        searcher.wait()
    checked = subprocess.run(
        [sys.executable, "-m", side, "check", project],
        env=site.environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    worker.terminate()
    worker.wait()
    ok = checked.returncode == 0 and writer.returncode == 0
    found = [json.loads(report.read_text()) for report in reports if report.exists()]
    if len(found) < SEARCHERS:
        print(log.read_text()[-4000:])
        ok = False
    total = {key: sum(each[key] for each in found) for key in found[0]} if found else {}
    ok = ok and total["searches"] > 0 and not (total["missing"] or total["mixed"])
    print(
        f"| {site.name} | {updates} | {kills} | {total.get('searches', 0)} | "
        f"{total.get('missing', '?')} | {total.get('mixed', '?')} | {checked.stdout.strip()} | "
        f"{wrote:.0f} s | {settled:.0f} s |"
    )
    if not ok:
        print(checked.stderr, *(each.get("first", "") for each in found))
    return ok


def _until_indexed(site: Site) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        answer = site.manage("index", "status", "--project", "Bench", "--format", "json")
        (status,) = json.loads(answer.stdout)["projects"]
        if not status["pending"] and not status["processing"]:
            return
        if time.monotonic() > deadline:
            raise SystemExit(f"Not indexed within {PATIENCE:g} s: {status}")
        time.sleep(0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=1000)
    parser.add_argument("--documents", type=int, default=50)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| | updates | kills | searches | missing | mixed | at the end | written | settled |")
    print("|---|---|---|---|---|---|---|---|---|")
    modes = ["embedded"]
    if os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL"):
        modes.append("scaled")
    breached = [mode for mode in modes if not measure(mode, options)]
    sys.exit(1 if breached else 0)


if __name__ == "__main__":
    main()
