"""Who sweeps: one lease row. Taking it over raises the epoch by one, and every write of a leader
names the epoch, so that one who was paused and wakes up changes nothing. (A statement that was
already waiting for a row's lock when the epoch rose may still land; it names the row's version
too, so it lands only where nobody else has been.)"""

import time

from django.conf import settings
from django.db.models import Exists, Q, QuerySet

from glossary_site.jobs import clock
from glossary_site.jobs.models import LeaderLease


class Leadership:
    def __init__(self, holder: str) -> None:
        self.holder = holder
        # Of our present reign; 0 while somebody else leads.
        self.epoch = 0
        # When the lease was last written, by our own clock.
        self._held = 0.0

    def hold(self) -> bool:
        """Renew the lease, or take it over when it has lapsed. Whether we lead."""
        if self.epoch and not self._renew():
            self.epoch = 0
        if not self.epoch:
            self.epoch = self._take_over()
        return bool(self.epoch)

    def keep(self) -> bool:
        """In the middle of what takes long: renew the lease when it is time to, never take it over.
        Whether we still lead."""
        due = time.monotonic() - self._held > settings.JOB_LEASE_SECONDS / 3
        if self.epoch and due and not self._renew():
            self.epoch = 0
        return bool(self.epoch)

    def release(self) -> None:
        """Going in good order: the next one need not wait for the lease to lapse."""
        if self.epoch:
            self._mine().update(lease_until=clock.now())
            self.epoch = 0

    def condition(self) -> Q:
        """For every write of the sweep: only while we lead."""
        return Q(Exists(self._mine().filter(lease_until__gt=clock.now())))

    def _mine(self) -> QuerySet[LeaderLease]:
        return LeaderLease.objects.filter(pk=LeaderLease.ONLY, holder=self.holder, epoch=self.epoch)

    def _renew(self) -> bool:
        # The same epoch means that nobody led since, even if the lease had lapsed.
        self._held = time.monotonic()
        return self._mine().update(lease_until=clock.after(settings.JOB_LEASE_SECONDS)) == 1

    def _take_over(self) -> int:
        lease, _ = LeaderLease.objects.get_or_create(pk=LeaderLease.ONLY)
        # One that ends far in the future was written before a clock was set back.
        lapsed = (
            Q(lease_until__isnull=True)
            | Q(lease_until__lte=clock.now())
            | Q(lease_until__gt=clock.after(2 * settings.JOB_LEASE_SECONDS))
        )
        self._held = time.monotonic()
        taken = LeaderLease.objects.filter(lapsed, pk=lease.pk, epoch=lease.epoch).update(
            holder=self.holder,
            epoch=lease.epoch + 1,
            acquired_at=clock.now(),
            lease_until=clock.after(settings.JOB_LEASE_SECONDS),
        )
        return lease.epoch + 1 if taken else 0
