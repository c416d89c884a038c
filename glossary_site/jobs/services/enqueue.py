"""The one door for new work."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from glossary_site.jobs import doorbell, news, registry
from glossary_site.jobs.models import JobDefinition, JobRun
from glossary_site.observe.trace import carried


def enqueue(
    kind: str,
    payload: dict[str, Any] | None = None,
    *,
    idempotency_key: str | None = None,
    run_after: datetime | None = None,
    scope: str = "",
    timeout: int | None = None,
    retries: int | None = None,
    definition: JobDefinition | None = None,
    scheduled_for: datetime | None = None,
) -> JobRun:
    """Write a run and have it delivered. With a key (or a definition's slot) that was used before,
    the run that is there is returned; `fresh` tells which."""
    known = registry.kind_of(kind)
    payload = payload or {}
    known.check_payload(payload)
    now = timezone.now()
    due = run_after is None or run_after <= now
    run = JobRun(
        kind=known.name,
        lane=known.lane,
        payload=payload,
        scope=scope,
        idempotency_key=idempotency_key,
        definition=definition,
        scheduled_for=scheduled_for,
        due_at=now if run_after is None else run_after,
        rung_at=now if due else None,
        created_at=now,
        timeout_seconds=min(timeout or known.timeout, settings.LANE_TIMEOUTS[known.lane]),
        max_attempts=1 + (known.retries if retries is None else retries),
        trace_id=carried(),
    )
    with transaction.atomic():
        if idempotency_key is not None or scheduled_for is not None:
            there = _insert_once(run)
            if there is not None:
                return there
        else:
            run.save(force_insert=True)
        run.fresh = True
        if due:
            # Later ones are sent by the sweep, when it is their time.
            doorbell.ring(run.pk, lane=run.lane, timeout=run.timeout_seconds)
        news.changed(run)
    return run


def _insert_once(run: JobRun) -> JobRun | None:
    """Insert it, or return the one that has its key or its slot. The unique constraints decide."""
    there = _same(run)
    if there is not None:
        return there
    try:
        with transaction.atomic():
            run.save(force_insert=True)
    except IntegrityError:
        there = _same(run)
        if there is None:
            raise
        return there
    return None


def _same(run: JobRun) -> JobRun | None:
    runs = JobRun.objects.all()
    if run.idempotency_key is not None:
        return runs.filter(idempotency_key=run.idempotency_key).first()
    return runs.filter(definition=run.definition, scheduled_for=run.scheduled_for).first()
