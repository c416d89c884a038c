"""What is removed by age, in short transactions."""

from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from indexing.choices import RequestStatus
from indexing.models import IndexRequest

BATCH = 1000


def remove_old_requests(*, check: Callable[[], object]) -> int:
    """Requests that ended long ago. A failure stays while the document has no newer text: it says
    why the document is not up to date."""
    horizon = timezone.now() - timedelta(days=settings.INDEX_RETENTION_DAYS)
    settled = Q(status__in=(RequestStatus.COMPLETED, RequestStatus.SKIPPED))
    old = IndexRequest.objects.filter(settled, completed_at__lt=horizon).order_by("pk")
    removed = 0
    while True:
        check()
        pks = list(old.values_list("pk", flat=True)[:BATCH])
        if not pks:
            return removed
        removed += IndexRequest.objects.filter(pk__in=pks).delete()[0]
