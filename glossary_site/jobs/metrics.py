"""Background work in numbers, read from its rows when `/metrics` is asked."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Min, Q, QuerySet
from django.db.models.functions import Coalesce
from prometheus_client import Metric

from glossary_site.jobs import clock
from glossary_site.jobs.choices import TERMINAL, Lane, WorkerRole
from glossary_site.jobs.models import JobRun, LeaderLease, Worker
from glossary_site.observe.metrics import gauge, register


@register
def collect() -> Iterator[Metric]:
    now = clock.read()
    # What ended long ago is left out: to count it would take longer with every job ever done.
    ended = JobRun.objects.filter(state__in=TERMINAL, finished_at__gte=now - timedelta(days=1))
    yield _by_state("glossary_jobs", "Jobs that have not ended.", JobRun.objects.active())
    yield _by_state("glossary_jobs_ended_last_day", "Jobs that ended within a day.", ended)
    yield from _queue(now)
    yield from _running(now)
    yield gauge("glossary_workers_alive", "Worker processes heard of.", _alive(now), "role")
    yield from _leader(now)


def _by_state(name: str, words: str, runs: QuerySet[JobRun]) -> Metric:
    rows = runs.order_by().values("state", "kind").annotate(n=Count("pk"))
    counts: dict[tuple[str, ...], float] = {(row["state"], row["kind"]): row["n"] for row in rows}
    return gauge(name, words, counts, "state", "kind")


def _queue(now: datetime) -> Iterator[Metric]:
    due = Q(due_at__lte=now)
    rows = (
        JobRun.objects.waiting()
        .order_by()
        .values("lane")
        .annotate(due=Count("pk", filter=due), all=Count("pk"), oldest=Min("due_at", filter=due))
    )
    depth: dict[str, float] = dict.fromkeys(Lane.values, 0)
    later, oldest = depth.copy(), depth.copy()
    for row in rows:
        lane = row["lane"]
        depth[lane], later[lane] = row["due"], row["all"] - row["due"]
        oldest[lane] = _seconds(now, row["oldest"])
    yield gauge("glossary_jobs_waiting", "Jobs that wait for a worker.", depth, "lane")
    yield gauge("glossary_jobs_not_due", "Jobs that wait for their time.", later, "lane")
    yield gauge(
        "glossary_jobs_oldest_waiting_seconds", "How long the first has waited.", oldest, "lane"
    )


def _running(now: datetime) -> Iterator[Metric]:
    row = JobRun.objects.running().aggregate(
        n=Count("pk"), still=Min(Coalesce("progress_at", "started_at"))
    )
    yield gauge("glossary_jobs_running", "Jobs that run.", row["n"])
    yield gauge(
        "glossary_jobs_since_progress_seconds",
        "How long the stillest of the running jobs has told nothing.",
        _seconds(now, row["still"]),
    )


def _alive(now: datetime) -> dict[str, float]:
    heard = now - timedelta(seconds=settings.JOB_LEASE_SECONDS)
    rows = (
        Worker.objects.present()
        .filter(heartbeat_at__gte=heard)
        .order_by()
        .values("role")
        .annotate(n=Count("pk"))
    )
    alive: dict[str, float] = dict.fromkeys(WorkerRole.values, 0)
    return alive | {row["role"]: row["n"] for row in rows}


def _leader(now: datetime) -> Iterator[Metric]:
    lease = LeaderLease.objects.filter(pk=LeaderLease.ONLY).first() or LeaderLease()
    leads = lease.lease_until is not None and lease.lease_until > now
    yield gauge("glossary_leader_present", "Whether somebody sweeps.", int(leads))
    yield gauge("glossary_leader_epoch", "How often the lead was taken over.", lease.epoch)
    yield gauge(
        "glossary_leader_age_seconds",
        "How long the present leader has led.",
        _seconds(now, lease.acquired_at if leads else None),
    )


def _seconds(now: datetime, then: datetime | None) -> float:
    return 0.0 if then is None else max(0.0, (now - then).total_seconds())
