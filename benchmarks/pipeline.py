"""How long a run takes with a language model, beside asking the same questions one by one.

    python -m benchmarks.pipeline [--terms 200] [--delay 0.2] [--concurrency 16] [--kills 30]

The model is the tests' peer in a process of its own, which answers each question after `--delay`.
The sequential way sends the very same questions through the same client, one after the other. The
ideal is measured: the same questions again, so many at a time, by somebody who only sends and
reads, a step after the other, for a step's questions come from the answers of the step before.
Beside it stands what a server would take that does nothing but wait: for each step its requests ÷
concurrency × delay, rounded up to whole rounds. Two runs are measured: the first of a worker that
has just started, and its second, about other terms and documents. `--kills 0` leaves the kills out.
Runs embedded (SQLite), and with DATABASE_URL and REDIS_URL set also scaled. Provider, worker and
database share the machine.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.site import ROOT, a_site
from tests.llm_server import server_process

GOAL_FASTER = 12
GOAL_OVER_IDEAL = 1.15


def child(module: str, *arguments: str, environment: dict[str, str]) -> str:
    """What a module prints when it has done this in a fresh process."""
    finished = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=environment,
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return finished.stdout


def measure(mode: str, options: argparse.Namespace) -> None:
    with (
        a_site(mode) as site,
        tempfile.TemporaryDirectory(prefix="pipeline-") as directory,
        server_process(
            ledger=Path(directory) / "ledger.sqlite3", delay=options.delay, glossary=True
        ) as server,
    ):
        environment = {
            **site.environment,
            "GLOSSARY_ROLE": "worker",
            "GLOSSARY_LLM_BASE_URL": server.base_url,
            "GLOSSARY_LLM_MODEL": "peer-small",
            "GLOSSARY_LLM_CONCURRENCY": str(options.concurrency),
        }
        runs = json.loads(
            child("benchmarks.pipeline_side", "run", str(options.terms), environment=environment)
        )
        asked = [entry.body for entry in server.requests]
        questions = Path(directory) / "questions.jsonl"
        questions.write_text("\n".join(asked[: runs[0]["requests"]]))
        steps = runs[0]["steps"].values()
        counts = [str(number) for number in (options.concurrency, *steps)]

        def side(way: str, *more: str) -> float:
            arguments = (way, str(questions), *more)
            return float(child("benchmarks.pipeline_side", *arguments, environment=environment))

        seconds = side("sequential")
        ideal = min(side("together", *counts) for _ in range(3))
    waiting = options.delay * sum(math.ceil(count / options.concurrency) for count in steps)
    needed = sum(ours["requests"] for ours in runs)
    print(f"{mode}: one by one {seconds:.2f} s; requests made {len(asked)}, needed {needed}")
    print(f"  {options.concurrency} at a time by a bare client: {ideal:.2f} s")
    for which, ours in zip(("first", "second"), runs, strict=True):
        took = ours["seconds"]
        print(f"  {which} run, {ours['terms']} terms, requests {ours['steps']}: {took:.2f} s,")
        print(f"    of it planning and storing {ours['other']:.2f} s,", end=" ")
        print(f"worker's processor {ours['processor']:.2f} s")
        print(f"    {seconds / took:.1f}× faster than one by one (goal {GOAL_FASTER}×)")
        print(f"    {took / ideal:.2f}× of the ideal {ideal:.2f} s (goal {GOAL_OVER_IDEAL}×)")
        print(f"    {took / waiting:.2f}× of {waiting:.2f} s, if the server only waited")


def kill(mode: str, options: argparse.Namespace) -> None:
    with a_site(mode) as site:
        environment = {**site.environment, "DJANGO_SETTINGS_MODULE": "tests.work.settings"}
        told = json.loads(
            child(
                "tests.runs.crashing",
                *map(str, (options.kills, options.seed, options.terms)),
                environment=environment,
            )
        )
    kills = ", ".join(f"{count} in {step}" for step, count in told["kills"].items())
    print(f"{mode}: {sum(told['kills'].values())} kills ({kills}): the same glossary;")
    print(f"  {told['questions']} questions, asked again {told['again']} times, all of them on the")
    print(f"  wire at a kill (at most {1000 * told['longest']:.0f} ms after the answer left)")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--terms", type=int, default=200)
    parser.add_argument("--delay", type=float, default=0.2)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args()
    scaled = "DATABASE_URL" in os.environ
    for mode in ["embedded", *(["scaled"] if scaled else [])]:
        measure(mode, options)
        if options.kills:
            kill(mode, options)


if __name__ == "__main__":
    main()
