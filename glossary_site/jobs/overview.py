"""Everything that the operations page shows, read in a fixed number of queries.

Three questions look alike and have different answers: what *waits* for a worker (the queue), what
is in a worker's *hands* and moves, and what is *stuck* in the hands of one that is not heard of.
"""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Min, Q

from glossary_site.jobs import clock, registry
from glossary_site.jobs.choices import UNSUCCESSFUL, Continuation, Lane, State, WorkerRole
from glossary_site.jobs.models import JobDefinition, JobRun, LeaderLease, Worker
from glossary_site.jobs.sweep import SILENT_LEASES
from glossary_site.processes import identity

# As "failures of the last day" says.
FAILURES_SINCE = timedelta(days=1)
NEWEST_FAILURES = 10
NEXT_SLOTS = 8
# As many as the page can show; there are never more in hand than there are worker processes.
MOST_IN_HAND = 100


@dataclass(frozen=True)
class InHand:
    """A run that a worker has in hand."""

    run: JobRun
    now: datetime

    @property
    def heard_at(self) -> datetime:
        """When its worker last renewed the lease."""
        assert self.run.lease_until is not None
        return self.run.lease_until - timedelta(seconds=settings.JOB_LEASE_SECONDS)

    @property
    def is_stuck(self) -> bool:
        """Its worker is not heard of. (One that only makes no progress is at least alive.)"""
        return (
            self.run.continuation_state == Continuation.CONFIRMING
            or self.run.lease_until is None
            or self.run.lease_until <= self.now
        )

    @property
    def confirm_until(self) -> datetime | None:
        return self.run.continuation_deadline


@dataclass(frozen=True)
class WorkerLine:
    """A process, and what it has in hand."""

    worker: Worker
    load: list[InHand]
    now: datetime

    @property
    def age(self) -> timedelta:
        return self.now - self.worker.heartbeat_at

    @property
    def is_silent(self) -> bool:
        return self.age > timedelta(seconds=settings.JOB_LEASE_SECONDS)

    @property
    def run_ids(self) -> list[int]:
        return [held.run.pk for held in self.load]

    @property
    def takes_work(self) -> bool:
        """A command that runs a job itself has a heartbeat, too, but takes nothing from a queue."""
        return not (
            self.worker.draining
            or self.is_silent
            or self.worker.role == WorkerRole.KEEPER
            or self.worker.node.endswith(f"/{identity.NOBODY}")
        )


@dataclass(frozen=True)
class Node:
    """The processes of one `manage.py worker`."""

    name: str
    workers: list[WorkerLine]

    @property
    def host(self) -> str:
        return self.workers[0].worker.host

    @property
    def draining(self) -> bool:
        return any(line.worker.draining for line in self.workers)

    @property
    def in_hand(self) -> int:
        return sum(len(line.load) for line in self.workers)

    @property
    def silent(self) -> list[WorkerLine]:
        return [line for line in self.workers if line.is_silent]


@dataclass(frozen=True)
class Leader:
    """Who sweeps. After its lease has run out, nobody does until the next one takes over."""

    holder: str
    epoch: int
    since: datetime | None
    lease_until: datetime | None
    now: datetime

    @property
    def leads(self) -> bool:
        return self.lease_until is not None and self.lease_until > self.now

    @property
    def missing_for(self) -> timedelta | None:
        """For how long there has been none; None when there never was one, or is one now."""
        if self.leads or self.lease_until is None:
            return None
        return self.now - self.lease_until


@dataclass(frozen=True)
class Depth:
    """What waits of one kind."""

    kind: str
    lane: str
    # Could begin now, and since when the oldest of it could.
    due: int
    oldest: datetime | None
    # Waits for its time: a retry's pause, parked work.
    later: int
    next_due: datetime | None

    @property
    def is_known(self) -> bool:
        return registry.find(self.kind) is not None


@dataclass(frozen=True)
class LaneLine:
    """One lane: how much waits, and who could take it."""

    lane: Lane
    due: int
    later: int
    oldest: datetime | None
    next_due: datetime | None
    takers: list[WorkerLine]

    @property
    def label(self) -> str:
        return str(WorkerRole(self.lane.value).label)

    @property
    def workers(self) -> int:
        return len(self.takers)

    @property
    def busy(self) -> int:
        return sum(bool(line.load) for line in self.takers)

    @property
    def free(self) -> int:
        return self.workers - self.busy


@dataclass(frozen=True)
class FailedKind:
    kind: str
    count: int


@dataclass(frozen=True)
class Overview:
    now: datetime
    nodes: list[Node]
    leader: Leader
    lanes: list[LaneLine]
    queue: list[Depth]
    in_hand: list[InHand]
    failed: list[FailedKind]
    newest_failures: list[JobRun]
    next_slots: list[JobDefinition]

    @property
    def workers(self) -> list[WorkerLine]:
        return [line for node in self.nodes for line in node.workers]

    @property
    def has_workers(self) -> bool:
        """Whether any process has been heard of lately, if only a keeper."""
        return any(not line.is_silent for line in self.workers)

    @property
    def moving(self) -> list[InHand]:
        return [line for line in self.in_hand if not line.is_stuck]

    @property
    def stuck(self) -> list[InHand]:
        return [line for line in self.in_hand if line.is_stuck]

    @property
    def due(self) -> int:
        return sum(line.due for line in self.lanes)

    @property
    def later(self) -> int:
        return sum(line.later for line in self.lanes)

    @property
    def oldest(self) -> datetime | None:
        return min((line.oldest for line in self.lanes if line.oldest), default=None)

    @property
    def failures(self) -> int:
        return sum(line.count for line in self.failed)


def overview() -> Overview:
    now = clock.read()
    in_hand = [InHand(run, now) for run in _held()]
    nodes = _nodes(now, in_hand)
    queue = _queue(now)
    failed = JobRun.objects.failed_since(now - FAILURES_SINCE)
    return Overview(
        now=now,
        nodes=nodes,
        leader=_leader(now),
        lanes=[_lane(lane, queue, nodes) for lane in Lane],
        queue=queue,
        in_hand=in_hand,
        failed=[
            FailedKind(row["kind"], row["count"])
            for row in failed.order_by()
            .values("kind")
            .annotate(count=Count("pk"))
            .order_by("-count", "kind")
        ],
        newest_failures=list(
            failed.filter(_last_of_their_chain())
            .select_related("next_attempt")
            .defer("payload", "result", "next_attempt__payload", "next_attempt__result")
            .order_by("-finished_at", "-pk")[:NEWEST_FAILURES]
        ),
        next_slots=list(
            JobDefinition.objects.enabled()
            .by_the_clock()
            .filter(schedule__isnull=False)
            .select_related("schedule")
            .order_by("schedule__next_run", "pk")[:NEXT_SLOTS]
        ),
    )


def _last_of_their_chain() -> Q:
    """Work that fails again and again is told of once, by its latest failure."""
    still_open = [state for state in State if state not in UNSUCCESSFUL]
    return Q(next_attempt__isnull=True) | Q(next_attempt__state__in=still_open)


def _held() -> list[JobRun]:
    # The one that has been silent for longest comes first, then the one that began first.
    runs = JobRun.objects.held().defer("payload", "result").order_by("lease_until", "pk")
    return sorted(runs[:MOST_IN_HAND], key=lambda run: (run.started_at or run.created_at, run.pk))


def _nodes(now: datetime, in_hand: list[InHand]) -> list[Node]:
    load: dict[str, list[InHand]] = defaultdict(list)
    for line in in_hand:
        load[line.run.assigned_worker].append(line)
    nodes: dict[str, list[WorkerLine]] = defaultdict(list)
    roles = list(WorkerRole)
    # Longer than this, the sweep takes them for dead; where nobody sweeps, so do we.
    heard = now - timedelta(seconds=SILENT_LEASES * settings.JOB_LEASE_SECONDS)
    workers = sorted(
        Worker.objects.present().filter(heartbeat_at__gte=heard),
        key=lambda worker: (worker.node, roles.index(WorkerRole(worker.role)), worker.pid),
    )
    for worker in workers:
        nodes[worker.node].append(WorkerLine(worker, load[worker.name], now))
    return [Node(name, lines) for name, lines in nodes.items()]


def _leader(now: datetime) -> Leader:
    lease = LeaderLease.objects.filter(pk=LeaderLease.ONLY).first() or LeaderLease()
    return Leader(lease.holder, lease.epoch, lease.acquired_at, lease.lease_until, now)


def _queue(now: datetime) -> list[Depth]:
    due, later = Q(due_at__lte=now), Q(due_at__gt=now)
    rows = (
        JobRun.objects.waiting()
        .order_by()
        .values("lane", "kind")
        .annotate(
            due=Count("pk", filter=due),
            oldest=Min("due_at", filter=due),
            later=Count("pk", filter=later),
            next_due=Min("due_at", filter=later),
        )
        .order_by("lane", "kind")
    )
    return [Depth(**row) for row in rows]


def _lane(lane: Lane, queue: list[Depth], nodes: list[Node]) -> LaneLine:
    depths = [depth for depth in queue if depth.lane == lane]
    return LaneLine(
        lane=lane,
        due=sum(depth.due for depth in depths),
        later=sum(depth.later for depth in depths),
        oldest=min((depth.oldest for depth in depths if depth.oldest), default=None),
        next_due=min((depth.next_due for depth in depths if depth.next_due), default=None),
        takers=[
            line
            for node in nodes
            for line in node.workers
            if line.takes_work and line.worker.role == lane.value
        ],
    )
