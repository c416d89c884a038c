"""Whose turn it is to be visited: now or later, and not too many of one host at a time."""

import heapq
from collections import Counter
from collections.abc import Collection, Iterable
from datetime import datetime
from urllib.parse import urlsplit

from django.conf import settings

from collection.choices import Kind


class Turns:
    def __init__(self) -> None:
        # In their order, each once.
        self._now: dict[int, None] = {}
        self._later: list[tuple[datetime, int]] = []
        self._hosts: dict[int, str] = {}
        # Hosts that want to be left alone until then.
        self._quiet: dict[str, datetime] = {}

    def __bool__(self) -> bool:
        return bool(self._now or self._later)

    @property
    def waits_until(self) -> datetime | None:
        """When the first of those that wait is due; None while one could be visited."""
        return self._later[0][0] if self._later and not self._now else None

    @property
    def next_due(self) -> datetime | None:
        return self._later[0][0] if self._later else None

    def add(self, repository_id: int, *, host: str, due: datetime | None = None) -> None:
        self._hosts[repository_id] = host
        if due is None:
            self._now[repository_id] = None
        else:
            heapq.heappush(self._later, (due, repository_id))

    def leave_alone(self, host: str, until: datetime) -> None:
        """All of its repositories: they would hear the same."""
        if host:
            self._quiet[host] = max(until, self._quiet.get(host, until))

    def take(self, most: int, *, under_way: Collection[int], now: datetime) -> list[int]:
        """Those that are to be visited now. One that is being visited waits for the end of it."""
        while self._later and self._later[0][0] <= now:
            self._now[heapq.heappop(self._later)[1]] = None
        busy = Counter(self._hosts[pk] for pk in under_way)
        chosen: list[int] = []
        for pk in self._wanted(under_way, now):
            if len(chosen) >= most:
                break
            host = self._hosts[pk]
            if not host or busy[host] < settings.COLLECTION_PER_HOST:
                busy[host] += 1
                chosen.append(pk)
                del self._now[pk]
        return chosen

    def _wanted(self, under_way: Collection[int], now: datetime) -> Iterable[int]:
        for pk in list(self._now):
            until = self._quiet.get(self._hosts[pk])
            if until is not None and until > now:
                del self._now[pk]
                heapq.heappush(self._later, (until, pk))
            elif pk not in under_way:
                yield pk


def host_of(kind: str, address: str) -> str:
    """Whom too many visits at a time would annoy; empty for this machine."""
    if kind == Kind.LOCAL:
        return ""
    return urlsplit(address).hostname or ""
