"""How much time and memory the LLM queue adds to the provider's own.

    python -m benchmarks.llm [--requests 500] [--delay 0.2] [--concurrency 16]
                            [--repeat 3] [--queued 500 50000]

The provider is the tests' peer in a process of its own, which answers each request after `--delay`.
The ideal is requests ÷ concurrency × delay, rounded up to whole rounds. Runs embedded (SQLite), and
with DATABASE_URL and REDIS_URL set also scaled. Provider, worker and database share the machine.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.site import ROOT, Site, a_site
from tests.llm_server import server_process

GOAL = 1.15


def child(site: Site, *arguments: str, base_url: str, concurrency: int) -> dict:
    """What `benchmarks.llm_worker` reports when it has done this in a fresh process."""
    environment = {
        **site.environment,
        "GLOSSARY_ROLE": "worker",
        "GLOSSARY_LLM_BASE_URL": base_url,
        "GLOSSARY_LLM_MODEL": "peer-small",
        "GLOSSARY_LLM_CONCURRENCY": str(concurrency),
    }
    finished = subprocess.run(
        [sys.executable, "-m", "benchmarks.llm_worker", *arguments],
        env=environment,
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(finished.stdout.splitlines()[-1])


def speed(site: Site, options: argparse.Namespace, directory: Path) -> str:
    rounds = math.ceil(options.requests / options.concurrency)
    ideal = rounds * options.delay
    tries = []
    for number in range(options.repeat):
        ledger = directory / f"speed-{number}.sqlite3"
        with server_process(ledger=ledger, delay=options.delay) as server:
            seen = child(
                site,
                "speed",
                str(options.requests),
                base_url=server.base_url,
                concurrency=options.concurrency,
            )
            assert sum(server.ledger.charged().values()) == options.requests, "not each asked once"
            assert server.most_at_once <= options.concurrency
        tries.append((seen["seconds"], seen["processor"]))
    ratios = sorted(seconds / ideal for seconds, _processor in tries)
    median = statistics.median(ratios)
    # What a request takes longer than the provider does, as long as one of them is in hand.
    overhead = (median - 1) * ideal / rounds
    processor = statistics.median(processor for _seconds, processor in tries)
    verdict = "" if median <= GOAL else f" (goal: {GOAL})"
    return (
        f"median {median:.3f}× of the ideal {ideal:.2f} s{verdict}, best {ratios[0]:.3f}×; "
        f"{1000 * overhead:.1f} ms more per request; "
        f"worker's processor {1000 * processor / options.requests:.1f} ms a request"
    )


def memory(site: Site, options: argparse.Namespace, directory: Path, queued: int) -> str:
    with server_process(ledger=directory / f"memory-{queued}.sqlite3") as server:
        seen = child(
            site,
            "memory",
            str(queued),
            str(options.seconds),
            base_url=server.base_url,
            concurrency=options.concurrency,
        )
    rate = queued / seen["enqueue_seconds"]
    return (
        f"peak {seen['enqueued']:.0f} MB after enqueuing ({rate:.0f}/s), "
        f"{seen['executed']:.0f} MB after {seen['done']} answers, "
        f"{seen['consumed']:.0f} MB after taking all results away"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--delay", type=float, default=0.2)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--repeat", type=int, default=3, help="the machine may be busy")
    parser.add_argument("--queued", type=int, nargs="+", default=[500, 50_000])
    parser.add_argument("--seconds", type=float, default=20, help="of work on the queued ones")
    options = parser.parse_args()
    modes = ["embedded"]
    if os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL"):
        modes.append("scaled")
    print("| mode | what | result |\n|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="glossary-bench-") as name:
        for mode in modes:
            directory = Path(name) / mode
            directory.mkdir()
            with a_site(mode) as site:
                what = f"{options.requests} requests of {1000 * options.delay:.0f} ms"
                print(f"| {mode} | {what} | {speed(site, options, directory)} |", flush=True)
                for queued in options.queued:
                    seen = memory(site, options, directory, queued)
                    print(f"| {mode} | {queued} queued | {seen} |", flush=True)


if __name__ == "__main__":
    main()
