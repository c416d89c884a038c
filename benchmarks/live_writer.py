"""Plays the worker: writes numbered events into a project's feed at a steady pace.

    python -m benchmarks.live_writer STREAM COUNT PER_SECOND [ours|group_send]

PER_SECOND 0 means as fast as it goes. Each event carries the time just before it was written.
"""

import os
import sys
import time

import django


def main(stream: str, count: int, per_second: float, way: str) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "glossary_site.settings")
    os.environ["GLOSSARY_ROLE"] = "worker"
    django.setup()
    send = ours(stream) if way == "ours" else group_send(stream)
    send(-1)  # connections are made before the clock runs
    start = time.time()
    for n in range(count):
        if per_second:
            time.sleep(max(0.0, start + n / per_second - time.time()))
        send(n)
    print(count / (time.time() - start), flush=True)


def ours(stream: str):
    from glossary_site.live.services import publish

    return lambda n: publish(stream, "bench.tick", {"n": n, "sent": time.time()})


def group_send(stream: str):
    from asgiref.sync import async_to_sync

    from benchmarks.live_peer import GROUP, layer

    send = async_to_sync(layer().group_send)
    return lambda n: send(GROUP, {"type": "tick", "payload": {"n": n, "sent": time.time()}})


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), (sys.argv[4:] or ["ours"])[0])
