"""Collect a thousand targets of which some fail, kill the worker on the way, and compare with git.

    python -m benchmarks.collection_chaos [--targets 1000] [--kills 5] [--seed 1]
                                          [--mode embedded|scaled|both]

Makes small real repositories, breaks one in twenty of them for good and some for a while, and
collects them twice: on a site whose worker is killed with SIGKILL at random instants (the process
that is at work, or all of it), and on one where nobody is killed. Every target must have come to
its end, the counts must be those of the rows, the commits those of `git rev-list`, and both sites
must have the same. Then what was broken is mended and tried again, and everything is collected once
more with nothing new: how long that takes, and which git processes it needs. Runs embedded (SQLite)
and, with DATABASE_URL and REDIS_URL (an empty Redis database), scaled. A breach is printed in full
and makes the exit code 1.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import redis

from benchmarks.chaos import print_table
from benchmarks.collection_chaos_judged import differences, walks
from benchmarks.collection_chaos_repositories import (
    PASSING,
    Made,
    damage,
    make_repositories,
    mend,
    write_plan,
)
from benchmarks.jobs import require_empty_redis
from benchmarks.site import ROOT, Site, a_site
from tests.site.running import Shell

# Short, so that work that was killed is taken up again soon.
ENVIRONMENT = {
    "GLOSSARY_SECRET_KEY": "b" * 50,
    "GLOSSARY_JOB_LEASE_SECONDS": "3",
    "GLOSSARY_JOB_CONFIRM_SECONDS": "2",
    "GLOSSARY_JOB_BACKOFF_SECONDS": "0.2",
    "GLOSSARY_JOB_BACKOFF_MAX_SECONDS": "2",
    "GLOSSARY_COLLECTION_BACKOFF_SECONDS": "4",
}
# Of the targets: broken for good, and for a while.
FAILING, PASSING_TOO = 0.05, 0.02
LOOK_SECONDS = 0.2
PATIENCE = 1800.0
# Notes which command git was asked for, and lets it go on.
NOTING_GIT = """#!/bin/sh
echo "$1" >>"{notes}"
exec "{git}" "$@"
"""


class Desk:
    """A site whose collections are started, watched and judged; its worker is kept going."""

    def __init__(self, site: Site, directory: Path) -> None:
        # As `serve` sets it: without, the command starts itself over with it.
        self._environment = {**site.environment, "GLOSSARY_ROLE": "worker"}
        shell = {"DJANGO_SETTINGS_MODULE": "glossary_site.settings"}
        self._shell = Shell({**site.environment, **shell})
        self._log = directory / f"{site.name}.log"
        self._worker: subprocess.Popen | None = None

    def ask(self, call: str) -> Any:
        return json.loads(
            self._shell.ask(
                f"import benchmarks.collection_chaos_side as side\nside.say(lambda: side.{call})"
            )
        )

    def keep_going(self, **environment: str) -> None:
        """Start the worker if it is not there: nobody else does."""
        if self._worker is None or self._worker.poll() is not None:
            with self._log.open("a") as log:
                self._worker = subprocess.Popen(
                    [sys.executable, "manage.py", "worker"],
                    env={**self._environment, **environment},
                    cwd=ROOT,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )

    def kill(self, pid: int, *, all_of_it: bool) -> None:
        """Whoever is at work, or the worker with everything below it."""
        assert self._worker is not None
        family = psutil.Process(self._worker.pid).children(recursive=True)
        if all_of_it:
            self._worker.kill()
            self._worker.wait()
        for process in family:
            if all_of_it or process.pid == pid:
                with suppress(psutil.NoSuchProcess):
                    process.kill()

    def processor_seconds(self) -> float:
        """Of the worker so far, with the git processes that it has had."""
        assert self._worker is not None
        worker = psutil.Process(self._worker.pid)
        seconds = 0.0
        for process in (worker, *worker.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                seconds += times.user + times.system + times.children_user + times.children_system
        return seconds

    def stop_worker(self) -> None:
        if self._worker is not None:
            self._worker.terminate()
            self._worker.wait()
            self._worker = None

    def close(self) -> None:
        self.stop_worker()
        self._shell.end()


def collect(
    desk: Desk, run_id: str, made: list[Made], kills: list[float], chance: random.Random
) -> Counter[str]:
    """Until it has ended. Kills when so much of it is done; mends what somebody ran into and
    was to pass."""
    passing = {each.path: each for each in made if each.trouble == PASSING}
    killed: Counter[str] = Counter()
    begun = 0
    deadline = time.monotonic() + PATIENCE
    while True:
        desk.keep_going()
        now = desk.ask(f"look({run_id!r})")
        for path in passing.keys() & set(now["tried"]):
            mend(passing.pop(path))
        if now["status"] != "running":
            return killed
        if kills and now["pid"] and now["done"] >= max(kills[0] * now["total"], begun + 1):
            kills.pop(0)
            all_of_it = chance.random() < 0.4
            desk.kill(now["pid"], all_of_it=all_of_it)
            killed["the whole worker" if all_of_it else "the process at work"] += 1
            # The next one is for somebody who has got on.
            begun = now["done"]
        if time.monotonic() > deadline:
            sys.exit(f"Not ended within {PATIENCE:g} s: {now}")
        time.sleep(LOOK_SECONDS)


def first_collection(
    desk: Desk, made: list[Made], plan: Path, *, kills: int, seed: str
) -> dict[str, Any]:
    chance = random.Random(seed)
    instants = sorted(chance.uniform(0.03, 0.9) for _ in range(kills))
    desk.keep_going()
    desk.ask(f"add({str(plan)!r})")
    for each in made:
        damage(each)
    try:
        before = desk.processor_seconds()
        run_id = desk.ask("start()")
        killed = collect(desk, run_id, made, instants, chance)
        judged = judge(desk, run_id, plan, new=True)
        judged["processor"] = desk.processor_seconds() - before
        judged["jobs"] = desk.ask(f"look({run_id!r})")["jobs"]
    finally:
        for each in made:
            mend(each)
    if killed.total() != kills:
        judged["breaches"].append(f"only {killed.total()} of {kills} kills came to pass")
    return {**judged, "run_id": run_id, "killed": killed}


def judge(desk: Desk, run_id: str, plan: Path, **case: bool) -> dict[str, Any]:
    options = {"only_failing": False, "mended": False, **case}
    return desk.ask(f"judge({run_id!r}, {str(plan)!r}, **{options!r})")


def afterwards(desk: Desk, first: str, plan: Path, directory: Path) -> dict[str, Any]:
    """What had failed is mended by now; then there is nothing new, twice: once for the time, once
    for the git processes."""
    retried = finish(desk, desk.ask(f"retry({first!r})"))
    found = judge(desk, retried, plan, only_failing=True, mended=True, new=True)["breaches"]
    before = desk.processor_seconds()
    quiet = judge(desk, finish(desk, desk.ask("start()")), plan, mended=True, new=False)
    processor = desk.processor_seconds() - before
    desk.stop_worker()
    notes = directory / "git-commands"
    notes.unlink(missing_ok=True)
    desk.keep_going(PATH=f"{noting_git(directory, notes)}{os.pathsep}{os.environ['PATH']}")
    again = judge(desk, finish(desk, desk.ask("start()")), plan, mended=True, new=False)
    commands = Counter(notes.read_text().split())
    found += quiet["breaches"] + again["breaches"] + walks(commands)
    return {
        "seconds": quiet["seconds"],
        "processor": processor,
        "commands": commands,
        "breaches": found,
    }


def finish(desk: Desk, run_id: str) -> str:
    collect(desk, run_id, [], [], random.Random(0))
    return run_id


def noting_git(directory: Path, notes: Path) -> Path:
    folder = directory / "bin"
    folder.mkdir(exist_ok=True)
    program = folder / "git"
    program.write_text(NOTING_GIT.format(notes=notes, git=shutil.which("git")))
    program.chmod(0o755)
    return folder


def measure(
    mode: str, made: list[Made], plan: Path, directory: Path, *, kills: int, seed: int
) -> dict[str, Any]:
    def on_a_site(work: Callable[[Desk], dict[str, Any]]) -> dict[str, Any]:
        with a_site(mode) as site:
            site.environment |= {**ENVIRONMENT, "GLOSSARY_GIT_ROOTS": str(plan.parent / "roots")}
            desk = Desk(site, directory)
            try:
                return work(desk)
            finally:
                desk.close()
                if mode == "scaled":
                    redis.Redis.from_url(os.environ["REDIS_URL"]).flushdb()

    def tormented(desk: Desk) -> dict[str, Any]:
        first = first_collection(desk, made, plan, kills=kills, seed=f"{seed}:{mode}")
        return {**first, "later": afterwards(desk, first["run_id"], plan, directory)}

    def left_alone(desk: Desk) -> dict[str, Any]:
        return first_collection(desk, made, plan, kills=0, seed="")

    killed, clean = on_a_site(tormented), on_a_site(left_alone)
    later = killed["later"]
    found = [*killed["breaches"], *later["breaches"]]
    found += [f"without kills: {breach}" for breach in clean["breaches"]]
    found += differences(killed["totals"], clean["totals"])
    return {
        **{f"kills: {what}": count for what, count in sorted(killed["killed"].items())},
        "jobs that it took": killed["jobs"],
        **killed["totals"],
        "seconds": round(killed["seconds"], 1),
        "seconds without kills": round(clean["seconds"], 1),
        "of the processor": round(clean["processor"], 1),
        "seconds with nothing new": round(later["seconds"], 1),
        "of the processor then": round(later["processor"], 1),
        "git processes with nothing new": ", ".join(
            f"{count} {name}" for name, count in later["commands"].most_common()
        ),
        "breaches": found,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mode", choices=["embedded", "scaled", "both"], default="both")
    parser.add_argument("--keep", type=Path, help="keep logs and repositories in this directory")
    options = parser.parse_args()
    modes = ["embedded", "scaled"] if options.mode == "both" else [options.mode]
    if not (os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL")):
        if options.mode == "scaled":
            sys.exit("Set DATABASE_URL and REDIS_URL for the scaled mode.")
        print("Without DATABASE_URL and REDIS_URL only the embedded mode is tried.")
        modes = ["embedded"]
    if "scaled" in modes:
        require_empty_redis()
    directory = options.keep or Path(tempfile.mkdtemp(prefix="glossary-collection-"))
    roots, plan = directory / "roots", directory / "plan.json"
    roots.mkdir(parents=True)
    began = time.monotonic()
    made = make_repositories(
        roots,
        targets=options.targets,
        failing=round(options.targets * FAILING),
        passing=round(options.targets * PASSING_TOO),
        seed=options.seed,
    )
    write_plan(plan, made)
    troubles = Counter(each.trouble for each in made if each.trouble)
    print(
        f"{len(made)} repositories with {options.targets} branches in "
        f"{time.monotonic() - began:.0f} s; broken: {dict(sorted(troubles.items()))}",
        flush=True,
    )
    results = {
        mode: measure(mode, made, plan, directory, kills=options.kills, seed=options.seed)
        for mode in modes
    }
    print_table(results)
    breaches = [f"{mode}: {b}" for mode, result in results.items() for b in result["breaches"]]
    for breach in breaches:
        print(breach)
    if breaches:
        sys.exit(f"{len(breaches)} breaches; logs and repositories are in {directory}")
    if options.keep is None:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
