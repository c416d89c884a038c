"""What runs have published, and what of it still stands."""

from collections.abc import Iterable

from django.db.models import Count, Exists, OuterRef, Q

from projects.choices import Change
from projects.models import EntryRevision
from runs.models import ProvisionalEntry, Run

# Of the last publications one will stand.
FEW = 10


def taken_back(runs: Iterable[Run]) -> frozenset[int]:
    """The numbers of those of these runs whose publication somebody has taken back, on whatever
    page: nothing of it is left."""
    published = {run.pk: run.project_id for run in runs if run.published_at}
    if not published:
        return frozenset()
    standing = Q(undone_by=None) | Q(undone_by__undone_by__isnull=False)
    revisions = EntryRevision.objects.filter(
        project__in=set(published.values()), run_id__in=published, change=Change.PUBLISHED
    )
    counts = revisions.order_by().values("run_id").annotate(left=Count("pk", filter=standing))
    undone = counts.filter(left=0).values_list("run_id", flat=True)
    return frozenset(published).intersection(undone)


def counterpart_of(run: Run) -> Run | None:
    """What people compare it with: the one that was published last, else the one before it."""
    others = Run.objects.filter(project=run.project_id).ended().exclude(pk=run.pk)
    others = others.filter(Exists(ProvisionalEntry.objects.filter(run=OuterRef("pk"))))
    published = list(others.filter(published_at__isnull=False).order_by("-published_at")[:FEW])
    undone = taken_back(published)
    standing = [other for other in published if other.pk not in undone]
    return standing[0] if standing else others.filter(pk__lt=run.pk).newest_first().first()


def publication_of(run: Run) -> EntryRevision | None:
    """The newest change that it made to the glossary and nobody has taken back."""
    revisions = EntryRevision.objects.filter(
        project=run.project_id, run_id=run.pk, change=Change.PUBLISHED, undone_by=None
    )
    return revisions.select_related("author").order_by("-pk").first()
