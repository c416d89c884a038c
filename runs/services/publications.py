"""What is left in the glossary of what runs have published."""

from collections.abc import Iterable

from django.db.models import Count, Q

from projects.choices import Change
from projects.models import EntryRevision
from runs.models import Run


def taken_back(runs: Iterable[Run]) -> frozenset[int]:
    """The numbers of those of these runs whose publication somebody has taken back, on whatever
    page: nothing of it is left."""
    ids = {run.pk for run in runs if run.published_at}
    if not ids:
        return frozenset()
    standing = Q(undone_by=None) | Q(undone_by__undone_by__isnull=False)
    revisions = EntryRevision.objects.filter(run_id__in=ids, change=Change.PUBLISHED)
    counts = revisions.order_by().values("run_id").annotate(left=Count("pk", filter=standing))
    return frozenset(ids.intersection(counts.filter(left=0).values_list("run_id", flat=True)))
