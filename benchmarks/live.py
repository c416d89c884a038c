"""How long an event takes from a worker's write to a page's socket, and that none is lost.

    python -m benchmarks.live [--clients 50 500] [--seconds 10]

Runs embedded (SQLite), and with DATABASE_URL and REDIS_URL set also scaled, beside Channels'
group_send on the same Redis. Web, writer and clients share the machine, so the clients' own work is
in the figures.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import time

import psutil
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from benchmarks.site import ROOT, Site, a_site

RATE = 20.0


class Client:
    """One page: follows the feed and notes when each event arrived."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.number: int | None = None
        self.delays: list[float] = []
        self.seen: list[int] = []
        self.ready = asyncio.Event()

    async def run(self) -> None:
        headers = {"Authorization": f"Bearer {self.site.token}"}
        while True:
            after = "" if self.number is None else f"?after={self.number}"
            url = f"ws://127.0.0.1:{self.site.port}/ws/projects/{self.site.project_id}/{after}"
            try:
                async with connect(
                    url, additional_headers=headers, compression=None, open_timeout=60
                ) as socket:
                    if self.number is not None:
                        self.ready.set()
                    async for text in socket:
                        self.take(json.loads(text))
            except (OSError, WebSocketException, TimeoutError):
                await asyncio.sleep(random.uniform(0.1, 0.4))

    def take(self, message: dict) -> None:
        now = time.time()
        if message["type"] == "snapshot":
            self.number = message["number"]
            self.ready.set()
        for event in message.get("events", ()):
            self.number = event["number"]
            if event["type"] == "bench.tick" and event["payload"]["n"] >= 0:
                self.seen.append(event["payload"]["n"])
                self.delays.append(now - event["payload"]["sent"])


async def with_clients(site: Site, count: int) -> tuple[list[Client], list[asyncio.Task]]:
    clients = [Client(site) for _ in range(count)]
    tasks = []
    for client in clients:
        tasks.append(asyncio.create_task(client.run()))
        await asyncio.sleep(0.005)
    await asyncio.gather(*(asyncio.wait_for(client.ready.wait(), 120) for client in clients))
    return clients, tasks


def writer(site: Site, count: int, rate: float, way: str = "ours") -> subprocess.Popen:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "benchmarks.live_writer"),
            *(f"project:{site.project_id}", str(count), str(rate), way),
        ],
        env=site.environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


async def finished(process: subprocess.Popen) -> None:
    while process.poll() is None:
        await asyncio.sleep(0.02)


async def arrived(clients: list[Client], count: int, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(len(c.seen) < count for c in clients):
        await asyncio.sleep(0.05)


async def stop(tasks: list[asyncio.Task]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def lost_and_doubled(clients: list[Client], count: int) -> tuple[int, int]:
    lost = sum(count - len(set(client.seen)) for client in clients)
    doubled = sum(len(client.seen) - len(set(client.seen)) for client in clients)
    return lost, doubled


async def delay(site: Site, clients_wanted: int, seconds: float, way: str) -> str:
    clients, tasks = await with_clients(site, clients_wanted)
    count = int(seconds * RATE)
    await finished(writer(site, count, RATE, way))
    await arrived(clients, count)
    delays = sorted(d * 1000 for client in clients for d in client.delays)
    lost, doubled = lost_and_doubled(clients, count)
    await stop(tasks)
    p95 = delays[int(len(delays) * 0.95)] if delays else float("nan")
    p50 = statistics.median(delays)
    return f"p50 {p50:.0f} ms, p95 {p95:.0f} ms, lost {lost}, doubled {doubled}"


async def idle(site: Site, clients_wanted: int, seconds: float) -> str:
    assert site.web is not None
    _clients, tasks = await with_clients(site, clients_wanted)
    process = psutil.Process(site.web.pid)
    before = process.cpu_times()
    await asyncio.sleep(seconds)
    after = process.cpu_times()
    await stop(tasks)
    used = (after.user + after.system) - (before.user + before.system)
    return f"{100 * used / seconds:.1f} % of a core, {process.memory_info().rss / 2**20:.0f} MB"


async def sustained(site: Site, clients_wanted: int, count: int, way: str) -> str:
    clients, tasks = await with_clients(site, clients_wanted)
    start = time.monotonic()
    process = writer(site, count, 0, way)
    await finished(process)
    await arrived(clients, count, 60)
    seconds = time.monotonic() - start
    lost, doubled = lost_and_doubled(clients, count)
    await stop(tasks)
    written = float(process.communicate()[0])
    return (
        f"written {written:.0f}/s, delivered {count / seconds:.0f}/s to each, "
        f"lost {lost}, doubled {doubled}"
    )


async def restarts(site: Site, clients_wanted: int) -> str:
    """Kill the web process three times and the writer once while events flow."""
    clients, tasks = await with_clients(site, clients_wanted)
    count = 400
    process = writer(site, count, 40)
    for _ in range(3):
        await asyncio.sleep(2)
        site.stop_web(kill=True)
        await asyncio.to_thread(site.start_web)
    await finished(process)
    await arrived(clients, count)
    lost, doubled = lost_and_doubled(clients, count)
    for client in clients:
        client.seen.clear()
    # A writer that is killed leaves whole events or none; readers agree with the table.
    process = writer(site, 10_000, 200)
    while len(clients[0].seen) < 300:
        await asyncio.sleep(0.05)
    process.kill()
    process.wait()
    await asyncio.sleep(2)
    agree = len({tuple(client.seen) for client in clients}) == 1
    unbroken = clients[0].seen == list(range(len(clients[0].seen)))
    await stop(tasks)
    return (
        f"3 kills of the web process: lost {lost}, doubled {doubled}; kill of the writer after "
        f"{len(clients[0].seen)} events: readers agree {agree}, no gap {unbroken}"
    )


async def measure(mode: str, clients: list[int], seconds: float) -> None:
    peer = mode == "group_send"
    options = {"application": "benchmarks.live_peer:application"} if peer else {}
    way = "group_send" if peer else "ours"
    with a_site("scaled" if peer else mode, **options) as site:
        site.start_web()
        for count in clients:
            print(f"| {mode} | delay, {count} clients | {await delay(site, count, seconds, way)} |")
        print(f"| {mode} | sustained, 50 clients | {await sustained(site, 50, 2000, way)} |")
        print(f"| {mode} | idle, 50 clients | {await idle(site, 50, seconds)} |")
        if not peer:
            print(f"| {mode} | restarts, 20 clients | {await restarts(site, 20)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, nargs="+", default=[50, 500])
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    modes = ["embedded"]
    if os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL"):
        modes += ["scaled", "group_send"]
    print("| mode | what | result |\n|---|---|---|", flush=True)
    for mode in modes:
        asyncio.run(measure(mode, arguments.clients, arguments.seconds))


if __name__ == "__main__":
    main()
