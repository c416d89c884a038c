"""Numbered spaces of the Redis that the suite runs on."""

import os
from urllib.parse import urlsplit


def worker_number() -> int:
    """Which of the test processes this is."""
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


def redis_space(url: str, distance: int) -> str:
    address = urlsplit(url)
    number = int(address.path.strip("/") or 0) + distance
    return address._replace(path=f"/{number}").geturl()
