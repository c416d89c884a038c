"""Who follows a folder: one process at a time, by a compare-and-set on its row."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from django.db import transaction
from django.db.models import Q, QuerySet

from glossary_site.jobs import clock, process
from indexing.models import FolderSource
from projects.models import Project

LEASE_SECONDS = 15.0


class LeaseLost(Exception):
    """Somebody else follows the folder now, or nobody shall any more."""


def new_holder() -> str:
    """A name that is never used again, by which others on the machine see whether we still run."""
    pid = os.getpid()
    return f"{process.host()} {pid} {process.started(pid) or 0} {uuid4().hex[:8]}"


class Lease:
    def __init__(self, source_id: int, holder: str) -> None:
        self.source_id = source_id
        self.holder = holder

    def take(self) -> bool:
        """Whether the folder is ours now."""
        # One that ends far in the future was written before a clock was set back.
        free = (
            Q(lease_until__isnull=True)
            | Q(lease_until__lte=clock.now())
            | Q(lease_until__gt=clock.after(2 * LEASE_SECONDS))
        )
        row = FolderSource.objects.filter(pk=self.source_id)
        if self._hold(row.filter(free)):
            return True
        before = row.values_list("holder", flat=True).first()
        # On this machine nobody need wait for the lease of a process that was killed.
        return before is not None and _is_dead(before) and self._hold(row.filter(holder=before))

    def renew(self) -> bool:
        """The same holder means that nobody took it since, even if the lease had lapsed."""
        return self._hold(self._mine())

    def release(self) -> None:
        self._mine().update(holder="", lease_until=None)

    def note(self, **facts: object) -> None:
        """Write something about the folder into its row, while it is ours."""
        self._mine().update(**facts)

    @contextmanager
    def fenced(self, project_id: int) -> Iterator[None]:
        """A transaction in which the folder is ours from the first to the last statement."""
        with transaction.atomic():
            # The project's row first, as everywhere. The renewal locks ours: until the end nobody
            # can take the folder from us.
            Project.objects.select_for_update(no_key=True).filter(pk=project_id).exists()
            if not self.renew():
                raise LeaseLost
            yield

    def _mine(self) -> QuerySet[FolderSource]:
        return FolderSource.objects.filter(pk=self.source_id, holder=self.holder)

    def _hold(self, row: QuerySet[FolderSource]) -> bool:
        return row.update(holder=self.holder, lease_until=clock.after(LEASE_SECONDS)) == 1


def _is_dead(holder: str) -> bool:
    try:
        host, pid, began, _token = holder.split(" ")
    except ValueError:
        return False
    if host != process.host():
        return False
    started = process.started(int(pid))
    return started is None or (started != 0 and started != int(began))
