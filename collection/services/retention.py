"""Nothing grows for ever: ended collections by age, and copies of repositories that are gone."""

from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from collection.models import BulkCollectionRun, Repository
from collection.origins.git.mirror import mirror_ids, remove_mirror

BATCH = 20


def remove_old_runs(*, days: int | None = None, check: Callable[[], object] = bool) -> int:
    """Collections that ended longer ago than the retention, with their results, a few at a time;
    how many. `check` may raise, to stop."""
    days = settings.COLLECTION_RETENTION_DAYS if days is None else days
    if not days:
        return 0
    horizon = timezone.now() - timedelta(days=days)
    removed = 0
    while True:
        check()
        old = BulkCollectionRun.objects.filter(completed_at__lt=horizon).order_by("completed_at")
        ids = list(old.values_list("pk", flat=True)[:BATCH])
        if not ids:
            return removed
        BulkCollectionRun.objects.filter(pk__in=ids).delete()
        removed += len(ids)


def remove_stray_copies(*, check: Callable[[], object] = bool) -> int:
    """Copies on this machine of repositories that were removed from another one; how many."""
    here = mirror_ids()
    present = set(Repository.objects.filter(pk__in=here).values_list("pk", flat=True))
    strays = [pk for pk in here if pk not in present]
    for pk in strays:
        check()
        remove_mirror(pk)
    return len(strays)
