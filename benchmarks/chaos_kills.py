"""Who is killed or paused, and when: by chance, from a seed."""

import contextlib
import json
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import psutil
import redis

from benchmarks.chaos_site import Running
from tests.llm_server import RemoteServer

# What to do to whom, and how often relative to each other.
SORTS = {
    "kill worker": 34,
    "kill busy worker": 16,
    "kill helper": 4,
    "kill sentinel": 3,
    "kill cluster": 7,
    "kill command": 5,
    "kill keeper": 8,
    "kill web": 5,
    "kill serve": 2,
    "pause worker": 9,
    "pause keeper": 4,
    "pause sentinel": 3,
}

# How soon it is noticed that a process is gone, and in which of these rounds new ones are looked
# for.
LOOK_SECONDS = 0.05
NEW_EVERY = 6


@dataclass
class Paused:
    process: psutil.Process
    until: float


class Notes:
    """What happened to which processes, a line each, in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def write(self, what: str, *, pids: list[int], **more: float) -> None:
        line = {"what": what, "pids": pids, "time": time.monotonic(), "wall": time.time(), **more}
        with self._lock, self._path.open("a") as log:
            log.write(f"{json.dumps(line)}\n")


class Witness:
    """Notes when a process of the site is gone, whoever ended it: a watchdog and a worker itself
    do so, too, and tell nobody."""

    def __init__(self, running: Running, notes: Notes) -> None:
        self._running = running
        self._notes = notes
        self._known: set[psutil.Process] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="witness", daemon=True)

    def __enter__(self) -> "Witness":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        rounds = 0
        looked = time.time()
        while not self._over.wait(LOOK_SECONDS):
            since, looked = looked, time.time()
            if rounds % NEW_EVERY == 0:
                self._known |= self._running.family()
            rounds += 1
            gone = {process for process in self._known if _gone(process)}
            self._known -= gone
            if gone:
                pids = sorted(process.pid for process in gone)
                # It went between two looks, which may be far apart on a busy machine.
                self._notes.write("gone", pids=pids, since=since)


def _gone(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


class Killer:
    def __init__(
        self,
        running: Running,
        provider: RemoteServer,
        *,
        seed: str,
        pace: float,
        longest_lease: float,
        notes: Notes,
    ) -> None:
        """A kill about every `pace` seconds."""
        self._provider = provider
        self._running = running
        self._pace = pace
        self._chance = random.Random(seed)
        self._longest_lease = longest_lease
        self._notes = notes
        self._paused: list[Paused] = []
        self.counts: Counter[str] = Counter()
        self.others: Counter[str] = Counter()

    def run(self, kills: int) -> None:
        while self.counts.total() < kills:
            self._sleep(self._pace * self._chance.uniform(0.2, 1.8))
            self._running.keep_going()
            self._perhaps_something_else()
            sort = self._chance.choices(list(SORTS), weights=list(SORTS.values()))[0]
            verb, _, whom = sort.partition(" ")
            if not self._do(verb, whom):
                continue
            self.counts[sort] += 1
            if self.counts.total() % 25 == 0:
                print(f"  {self.counts.total()} of {kills} kills", flush=True)
        self._sleep(max((p.until for p in self._paused), default=0) - time.monotonic())

    def _perhaps_something_else(self) -> None:
        """What else happens to a site: these are not among the kills that are counted."""
        chance = self._chance.random()
        producer = self._running.producer()
        if chance < 0.03 and producer is not None:
            self.others["kills of the producer"] += 1
            producer.kill()
            producer.wait()
        elif 0.03 < chance < 0.06 and self._running.site.name == "scaled":
            self.others["database connections cut"] += self._running.database.cut_connections(0.4)
            self._notes.write("cut", pids=[])
        elif 0.06 < chance < 0.08 and self._running.site.name == "scaled":
            self.others["Redis emptied"] += 1
            redis.Redis.from_url(self._running.site.environment["REDIS_URL"]).flushdb()
        elif 0.08 < chance < 0.11 and (command := self._choose("command")):
            # What it has in hand is given back.
            self.others["workers stopped in good order"] += 1
            command.terminate()
        elif 0.11 < chance < 0.14:
            self.others["batches that expire"] += 1
            self._provider.plan_batch("expired", after=self._chance.randint(0, 4))

    def _sleep(self, seconds: float) -> None:
        """Wait, and wake in time those whose pause is over."""
        until = time.monotonic() + seconds
        while True:
            now = time.monotonic()
            for paused in [p for p in self._paused if p.until <= now]:
                self._paused.remove(paused)
                self._note("wake", paused.process)
                with contextlib.suppress(psutil.NoSuchProcess):
                    paused.process.resume()
            if now >= until:
                return
            time.sleep(0.05)

    def _do(self, verb: str, whom: str) -> bool:
        process = self._choose(whom)
        if process is None:
            return False
        try:
            # Written down first: what happens at this very moment may be excused by it.
            self._note(f"{verb} {whom}", process, with_children=verb == "kill")
            if verb == "kill":
                process.kill()
            else:
                process.suspend()
                longer = self._longest_lease + self._chance.uniform(0.5, 3)
                self._paused.append(Paused(process, time.monotonic() + longer))
        except psutil.NoSuchProcess:
            return False
        return True

    def _choose(self, whom: str) -> psutil.Process | None:
        targets = self._running.targets()
        if whom == "busy worker":
            busy = self._running.busy()
            those = [process for process in targets["worker"] if process.pid in busy]
        else:
            those = targets[whom]
        paused = {paused.process.pid for paused in self._paused}
        those = sorted((p for p in those if p.pid not in paused), key=lambda p: p.pid)
        return self._chance.choice(those) if those else None

    def _note(self, what: str, process: psutil.Process, *, with_children: bool = False) -> None:
        # Whoever is killed takes all below along.
        below = process.children(recursive=True) if with_children else []
        self._notes.write(what, pids=[process.pid, *(child.pid for child in below)])
