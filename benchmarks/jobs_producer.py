"""Hands jobs to one of the measured systems, from a process of its own.

    python -m benchmarks.jobs_producer MODULE prepare
    python -m benchmarks.jobs_producer MODULE burst FIRST COUNT
    python -m benchmarks.jobs_producer MODULE paced FIRST COUNT

MODULE has `prepare()` and `enqueue(number)`. `burst` prints the seconds it took; `paced` waits a
random while before each job, and prints the time just before each was handed over.
"""

import importlib
import json
import os
import random
import sys
import time
from types import ModuleType

GAPS = (0.05, 0.25)


def burst(queue: ModuleType, first: int, count: int) -> float:
    start = time.monotonic()
    for number in range(first, first + count):
        queue.enqueue(number)
    return time.monotonic() - start


def paced(queue: ModuleType, first: int, count: int) -> list[float]:
    chance = random.Random(first)
    times = []
    for number in range(first, first + count):
        time.sleep(chance.uniform(*GAPS))
        times.append(time.time())
        queue.enqueue(number)
    return times


def main(module: str, what: str, *numbers: str) -> None:
    if "DJANGO_SETTINGS_MODULE" in os.environ:
        import django

        django.setup()
    queue = importlib.import_module(module)
    if what == "prepare":
        queue.prepare()
        return
    first, count = map(int, numbers)
    print(json.dumps((burst if what == "burst" else paced)(queue, first, count)))


if __name__ == "__main__":
    main(*sys.argv[1:])
