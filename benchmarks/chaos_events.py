"""Tells the site of events over HTTP, through the web process that is being killed.

    python -m benchmarks.chaos_events URL TOKEN PER_SECOND

An event is sent until it is acknowledged, some are sent once more after that, always with the same
key. The file in CHAOS_EVENTS has a line for each that was acknowledged.
"""

import json
import os
import random
import sys
import time
import urllib.error
import urllib.request

VARIABLE = "CHAOS_EVENTS"
TYPE = "chaos.ping"


def send(url: str, token: str, number: int) -> bool:
    request = urllib.request.Request(
        f"{url}/api/events",
        data=json.dumps(
            {"type": TYPE, "payload": {"number": number}, "dedupe_key": f"ping:{number}"}
        ).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=30):
            return True
    except urllib.error.HTTPError as error:
        # Said aloud: the site is there, and what it says should not happen.
        print(f"event {number}: {error.code} {error.read()[:500]!r}", flush=True)
    except OSError:
        pass
    return False


def main(url: str, token: str, per_second: float) -> None:
    number = 0
    with open(os.environ[VARIABLE], "a", buffering=1) as book:
        while True:
            time.sleep(random.expovariate(per_second))
            times = 1 + (random.random() < 0.2)
            while times:
                if send(url, token, number):
                    times -= 1
                else:
                    time.sleep(0.5)
            book.write(f"{json.dumps({'number': number})}\n")
            number += 1


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
