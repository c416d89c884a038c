"""The safety net under the queue of requests, every few seconds by the keeper that leads.

Requests of workers that are gone go back, failed ones are tried again when their pause is over, and
where something waits while nobody comes for it, somebody is called.
"""

import logging
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from glossary_site.jobs import clock
from glossary_site.jobs.choices import ACTIVE
from glossary_site.jobs.models import JobRun
from indexing.choices import RequestStatus
from indexing.models import IndexRequest
from indexing.services.requests import MOST_ATTEMPTS, pause_after, pending_again, superseded
from indexing.services.waking import DRAIN, wake
from projects.feed import stream_of

logger = logging.getLogger(__name__)

BATCH = 500
DIED = "The worker died while it indexed this document."


def put_right() -> dict[str, int]:
    now = clock.read()
    moved = {"given_back": _give_back(now), "retried": _retry(now), "called": _call(now)}
    for what, count in moved.items():
        if count:
            logger.info("Index: %s %d", what, count)
    return moved


def _give_back(now: datetime) -> int:
    """Requests whose lease has run out, or whose job has ended without them: the worker died. One
    that has killed its worker too often is not tried again by itself."""
    going_on = JobRun.objects.filter(pk=OuterRef("job_run_id"), state__in=ACTIVE)
    lost = IndexRequest.objects.filter(status=RequestStatus.PROCESSING).filter(
        Q(lease_until__lt=now) | (Q(job_run_id__isnull=False) & ~Exists(going_on))
    )
    moved = 0
    for request in lost.order_by("pk")[:BATCH]:
        held = IndexRequest.objects.filter(
            pk=request.pk, claim=request.claim, status=RequestStatus.PROCESSING
        )
        if request.attempts < MOST_ATTEMPTS:
            moved += held.update(**pending_again())
        else:
            moved += held.update(
                status=RequestStatus.FAILED,
                completed_at=clock.now(),
                lease_until=None,
                error=DIED,
                due_at=clock.after(pause_after(request.attempts)),
            )
    return moved


def _retry(now: datetime) -> int:
    due = IndexRequest.objects.filter(
        status=RequestStatus.FAILED, due_at__lte=now, attempts__lt=MOST_ATTEMPTS
    )
    with transaction.atomic():
        pks = list(
            due.filter(~superseded()).order_by("due_at").values_list("pk", flat=True)[:BATCH]
        )
        return due.filter(pk__in=pks).update(**pending_again())


def _call(now: datetime) -> int:
    """For each project in which something waits and no job is at it."""
    waiting = IndexRequest.objects.due(now).order_by().values_list("project_id", flat=True)
    called = 0
    for project_id in waiting.distinct():
        at_it = JobRun.objects.for_scope(stream_of(project_id)).filter(kind=DRAIN, state__in=ACTIVE)
        if not at_it.exists():
            called += wake(project_id)
    return called
