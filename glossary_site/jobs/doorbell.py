"""Telling a worker that there is something to do: a django-q2 task that carries a row's number.

It may come twice, late or never; the row decides what happens. With the database as broker it is
written in the caller's transaction; with Redis it is sent when that transaction has committed, and
the sweep sends again what was lost in between.
"""

import logging
from collections.abc import Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django_q.tasks import async_task

from glossary_site.jobs.choices import Lane
from glossary_site.lazily import Lazily
from glossary_site.processes.broker import broker_for

if TYPE_CHECKING:
    import redis
else:
    redis = Lazily("redis")

logger = logging.getLogger(__name__)

DELIVER = "glossary_site.jobs.delivery.deliver"
# django-q2 kills a task by its own clock. Ours comes first, and can say why.
LAST_RESORT_SECONDS = 60


def cluster_of(lane: str) -> str:
    """django-q2's name for the worker processes of a lane."""
    name = str(settings.Q_CLUSTER["name"])
    return name if lane == Lane.SHORT else f"{name}-{lane}"


@cache
def broker_of(lane: str) -> Any:
    # Kept: with Redis, a new one would open a new connection for each delivery.
    return broker_for(cluster_of(lane))


def ring(run_id: int, *, lane: str, timeout: int) -> None:
    ring_all([(run_id, timeout)], lane=lane)


def ring_all(runs: Sequence[tuple[int, int]], *, lane: str) -> None:
    """Each with its timeout in seconds."""
    if settings.REDIS_URL:
        transaction.on_commit(partial(_send, runs, lane))
    else:
        _send(runs, lane)


def _send(runs: Sequence[tuple[int, int]], lane: str) -> None:
    broker = broker_of(lane)
    try:
        for run_id, timeout in runs:
            async_task(
                DELIVER,
                run_id,
                task_name=f"job-{run_id}",
                broker=broker,
                cluster=cluster_of(lane),
                timeout=timeout + LAST_RESORT_SECONDS,
            )
    except redis.RedisError as error:
        # The rows are committed: the sweep sends them when Redis is back.
        logger.warning("%d deliveries wait for the sweep, Redis failed: %s", len(runs), error)


def undelivered(lane: str) -> int:
    """How many deliveries wait at the broker, in nobody's hand."""
    return int(broker_of(lane).queue_size())
