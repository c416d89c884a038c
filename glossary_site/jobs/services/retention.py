"""What is removed by age, in short transactions. `check` is called in between and may raise, to
stop; whatever was removed until then stays removed."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Model, QuerySet
from django.utils import timezone

from glossary_site.jobs.choices import TERMINAL
from glossary_site.jobs.models import AuditEntry, JobRun, TriggerEvent, Worker
from glossary_site.jobs.services.logs import Check, go_on, remove_files, remove_forgotten_files

BATCH = 500


def remove_old_rows(*, check: Check = go_on) -> dict[str, int]:
    """Ended runs with their logs, workers that are gone, events that were acted on, and (kept for
    longer) the audit. How many of each."""
    now = timezone.now()
    horizon = now - timedelta(days=settings.JOB_RETENTION_DAYS)
    audit_horizon = now - timedelta(days=settings.AUDIT_RETENTION_DAYS)
    return {
        "runs": _remove_runs(horizon, check),
        "workers": _remove(Worker.objects.filter(stopped_at__lt=horizon), check),
        "events": _remove(
            TriggerEvent.objects.filter(processed_at__lt=horizon, created_at__lt=horizon), check
        ),
        "audit": _remove(AuditEntry.objects.filter(time__lt=audit_horizon), check),
        "files": remove_forgotten_files(check=check),
    }


def _remove_runs(horizon: datetime, check: Check) -> int:
    removed, last = 0, 0
    while True:
        check()
        with transaction.atomic():
            # Locked: nobody makes another attempt of one while it goes.
            ends = list(
                _chain_ends(horizon).filter(pk__gt=last).select_for_update(of=("self",))[:BATCH]
            )
            if not ends:
                return removed
            last = ends[-1].pk
            still = _chain_ends(horizon).filter(pk__in=[run.pk for run in ends])
            chains = _with_earlier_attempts(list(still))
            JobRun.objects.filter(pk__in=[run.pk for run in chains]).delete()
        # Only now: a file without its row is found later, a row without its file is a loss.
        remove_files((run.pk, run.log_ref) for run in chains if run.log_ref)
        removed += len(chains)


def _chain_ends(horizon: datetime) -> QuerySet[JobRun]:
    """The last attempts of what ended before; the earlier ones ended earlier."""
    return JobRun.objects.filter(
        state__in=TERMINAL,
        finished_at__lt=horizon,
        created_at__lt=horizon,
        next_attempt__isnull=True,
    ).order_by("pk")


def _with_earlier_attempts(runs: list[JobRun]) -> list[JobRun]:
    found, level = list(runs), runs
    while level:
        earlier = [run.retry_of_id for run in level if run.retry_of_id is not None]
        level = list(JobRun.objects.filter(pk__in=earlier)) if earlier else []
        found += level
    return found


def _remove(rows: QuerySet[Model], check: Check) -> int:
    removed = 0
    while True:
        check()
        pks = list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH])
        if not pks:
            return removed
        with transaction.atomic():
            rows.filter(pk__in=pks).delete()
        removed += len(pks)
