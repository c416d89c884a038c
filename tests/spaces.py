"""Numbered spaces of the Redis that the suite runs on."""

from urllib.parse import urlsplit


def redis_space(url: str, distance: int) -> str:
    address = urlsplit(url)
    number = int(address.path.strip("/") or 0) + distance
    return address._replace(path=f"/{number}").geturl()
