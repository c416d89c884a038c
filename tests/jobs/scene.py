"""Rows as workers and the leader would leave them, for pages that only look."""

from datetime import timedelta
from itertools import count

from django.contrib.auth.models import Permission
from django.utils import timezone

from glossary_site.jobs.choices import State, WorkerRole
from glossary_site.jobs.models import JobRun, LeaderLease, Worker
from glossary_site.jobs.services.enqueue import enqueue
from glossary_site.people.models import User
from tests import factories

NODE = "host/worker-a1"
_pids = count(1000)


def ago(**length: float):
    return timezone.now() - timedelta(**length)


def ahead(**length: float):
    return timezone.now() + timedelta(**length)


def make_worker(role: str = "short", *, node: str = NODE, seconds: float = 0, **fields) -> Worker:
    """A process, heard of so many seconds ago."""
    pid = next(_pids)
    return Worker.objects.create(
        name=f"{node}:{role}:{pid}",
        node=node,
        role=role,
        host=node.split("/")[0],
        pid=pid,
        heartbeat_at=ago(seconds=seconds),
        **fields,
    )


def make_node(node: str = NODE, **fields) -> dict[str, Worker]:
    """A whole `manage.py worker`, with one process for each role."""
    return {role: make_worker(role, node=node, **fields) for role in WorkerRole.values}


def lead(*, seconds: float = 10, epoch: int = 3) -> LeaderLease:
    """Somebody leads, for so many seconds more (or not any more)."""
    lease, _ = LeaderLease.objects.update_or_create(
        pk=LeaderLease.ONLY,
        defaults={
            "holder": f"{NODE}:keeper:1",
            "epoch": epoch,
            "acquired_at": ago(minutes=5),
            "lease_until": ahead(seconds=seconds),
        },
    )
    return lease


def waiting(kind: str = "work.note", *, since: float = 0, due_in: float = 0, **options) -> JobRun:
    payload = {"seconds": 1} if kind in ("work.nap", "work.slog") else {}
    run = enqueue(kind, payload, **options)
    moment = ahead(seconds=due_in) if due_in else ago(seconds=since)
    JobRun.objects.filter(pk=run.pk).update(due_at=moment)
    return changed(run)


def running(
    kind: str = "work.note",
    *,
    worker: Worker | str = f"{NODE}:short:1",
    heard: float = 0,
    **options,
) -> JobRun:
    """In the hands of a worker that renewed the lease so many seconds ago."""
    run = waiting(kind, **options)
    return changed(
        run,
        state=State.RUNNING,
        assigned_worker=getattr(worker, "name", worker),
        assigned_at=ago(seconds=60),
        started_at=ago(seconds=60),
        progress_at=ago(seconds=20),
        leader_epoch=3,
        lease_until=ahead(seconds=15 - heard),
    )


def ended(kind: str = "work.note", state: State = State.SUCCEEDED, **options) -> JobRun:
    run = running(kind, **options)
    return changed(run, state=state, lease_until=None, finished_at=ago(seconds=5))


def failed(kind: str = "work.fail", error: str = "ValueError: no luck", **options) -> JobRun:
    return changed(ended(kind, State.FAILED, **options), error=error)


def changed(run: JobRun, **fields) -> JobRun:
    if fields:
        JobRun.objects.filter(pk=run.pk).update(**fields)
    return JobRun.objects.get(pk=run.pk)


def make_person(name: str, *permissions: str) -> User:
    """Somebody with these permissions of the app, such as `view_jobrun`, and no others."""
    user = factories.make_user(name)
    allow(user, *permissions)
    return user


def allow(user: User, *permissions: str) -> None:
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))


def make_watcher(name: str = "wanda") -> User:
    return make_person(name, "view_jobrun")


def make_operator(name: str = "oprah") -> User:
    return make_person(name, "view_jobrun", "change_jobrun")
