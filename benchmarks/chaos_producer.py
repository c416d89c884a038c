"""Hands out work through the whole chaos run, from a process that is killed now and then as well.

    python -m benchmarks.chaos_producer SEED PER_SECOND

Its book (the file in CHAOS_BOOK) has a line before each attempt to enqueue and one after. When it
starts again it repeats the last ones of the book with the same keys, whether they had worked or
not, and goes on from there. What job a number stands for follows from the seed.
"""

import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

import django

VARIABLE = "CHAOS_BOOK"
REPEATED = 8
CANCELLED_EVERY = 31
LLM = "chaos.llm"
# Work of a project tells its live feed, whose lock all such work shares.
PROJECT = "project:1"
SORTS = {"quick": 50, "long": 17, "flaky": 10, "hopeless": 4, "overdue": 4, "llm": 15}


def what_for(seed: str, number: int) -> tuple[str, dict[str, Any]]:
    """The kind and payload of a number: always the same."""
    chance = random.Random(f"{seed}:{number}")
    key = f"chaos:{number}"
    sort = chance.choices(list(SORTS), weights=list(SORTS.values()))[0]
    extra: dict[str, Any] = {}
    if sort == "long":
        extra = {"steps": chance.randint(3, 12), "pause": round(chance.uniform(0.05, 0.5), 2)}
    elif sort == "flaky":
        extra = {"failures": chance.randint(1, 3)}
    elif sort == "hopeless":
        extra = {"permanent": chance.random() < 0.5}
    elif sort == "llm":
        extra = {
            "requests": chance.randint(2, 12),
            "strategy": chance.choice(("sync", "sync", "batch")),
            "again": chance.random() < 0.3,
            "scope": chance.choice(("site", PROJECT)),
        }
    return f"chaos.{sort}", {"key": key, **extra}


class Book:
    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self.next = 0
        for line in read(path):
            self.next = max(self.next, line["number"] + 1)

    def write(self, what: str, number: int, **more: Any) -> None:
        line = json.dumps({"what": what, "number": number, "time": time.monotonic(), **more})
        os.write(self._file, f"{line}\n".encode())


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


class Producer:
    def __init__(self, seed: str, book: Book) -> None:
        from benchmarks.chaos_app import asking
        from glossary_site.errors import Refusal
        from glossary_site.jobs.models import JobRun
        from glossary_site.jobs.services.enqueue import enqueue
        from glossary_site.jobs.services.runs import cancel_run

        self._seed = seed
        self._book = book
        self._enqueue, self._cancel_run = enqueue, cancel_run
        self._runs, self._refusal = JobRun.objects, Refusal
        self._ask, self._stop_asking = asking.ask, asking.stop

    def hand_out(self, number: int) -> None:
        from django.db import DatabaseError, connection

        kind, payload = what_for(self._seed, number)
        self._book.write("trying", number)
        while True:
            try:
                if kind == LLM:
                    made: Any = self._ask(**payload)
                else:
                    scope = PROJECT if number % 3 == 0 else ""
                    made = self._enqueue(kind, payload, idempotency_key=payload["key"], scope=scope)
                break
            except DatabaseError as error:
                self._book.write("failed", number, error=str(error))
                connection.close()
                time.sleep(0.5)
        self._book.write("done", number, row=str(made.pk), fresh=made.fresh)

    def cancel(self, number: int) -> None:
        kind, payload = what_for(self._seed, number)
        self._book.write("cancelling", number)
        try:
            if kind == LLM:
                self._stop_asking(payload["key"])
            else:
                # The attempt that is active now, if there is one.
                runs = self._runs.active().filter(payload__key=payload["key"])
                for run in runs.order_by("-pk")[:1]:
                    self._cancel_run(run, actor="chaos", reason="by chance")
        except self._refusal:
            # It ended in the meantime.
            return
        self._book.write("cancelled", number)


def main(seed: str, per_second: float) -> None:
    os.environ.setdefault("GLOSSARY_ROLE", "worker")
    django.setup()
    book = Book(Path(os.environ[VARIABLE]))
    producer = Producer(seed, book)
    chance = random.Random()
    for number in range(max(0, book.next - REPEATED), book.next):
        producer.hand_out(number)
    number = book.next
    while True:
        time.sleep(chance.expovariate(per_second))
        # Now and then many at once.
        for _ in range(20 if chance.random() < 0.02 else 1):
            producer.hand_out(number)
            if number % CANCELLED_EVERY == 0:
                time.sleep(chance.uniform(0, 1))
                producer.cancel(number)
            number += 1


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
