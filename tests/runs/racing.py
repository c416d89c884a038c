"""One process completes runs, another cancels them, at random instants of the same milliseconds.

    python -m tests.runs.racing 1000 7

Prints how many ended each way; fails when both succeeded with one run, or neither did.
"""

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import django

if __name__ == "__main__":
    django.setup()

from glossary_site.env import ROOT
from tests.runs.racing_sides import begin_run, make_race_project, status_of

# The longest that either waits before it acts; about as long as the act itself.
SPREAD_SECONDS = 0.006


def main(rounds, seed):
    chance = random.Random(seed)
    project = make_race_project()
    ended: Counter[str] = Counter()
    with running("complete") as completes, running("cancel") as cancels:
        for number in range(rounds):
            run_id = begin_run(project)
            for side in (completes, cancels):
                side.stdin.write(f"{run_id} {chance.uniform(0, SPREAD_SECONDS)}\n")
                side.stdin.flush()
            said = {
                "completed": completes.stdout.readline().strip(),
                "cancelled": cancels.stdout.readline().strip(),
            }
            status = status_of(run_id)
            if [name for name, word in said.items() if word == "yes"] != [status]:
                raise SystemExit(f"Round {number}: the run is {status}, but they said {said}")
            ended[status] += 1
    print(ended["completed"], ended["cancelled"])  # noqa: T201


@contextmanager
def running(name: str) -> Iterator[subprocess.Popen]:
    side = subprocess.Popen(
        [sys.executable, "-m", "tests.runs.racing_sides", name],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert side.stdout is not None
        assert side.stdout.readline().strip() == "ready"
        yield side
    finally:
        side.terminate()
        side.communicate(timeout=10)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
