"""The words for reading runs, workers and definitions."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from glossary_site.jobs.choices import ACTIVE, HELD, UNSUCCESSFUL, WAITING, Continuation, State

if TYPE_CHECKING:
    from glossary_site.jobs.models import (  # noqa: F401 (named in the annotations)
        JobDefinition,
        JobRun,
        TriggerEvent,
        Worker,
    )


class JobRunQuerySet(QuerySet["JobRun"]):
    def active(self) -> "JobRunQuerySet":
        return self.filter(state__in=ACTIVE)

    def waiting(self) -> "JobRunQuerySet":
        return self.filter(state__in=WAITING)

    def held(self) -> "JobRunQuerySet":
        return self.filter(state__in=HELD)

    def running(self) -> "JobRunQuerySet":
        return self.filter(state=State.RUNNING)

    def for_scope(self, scope: str) -> "JobRunQuerySet":
        return self.filter(scope=scope)

    def due(self, now: Any) -> "JobRunQuerySet":
        """Waiting, and its time has come."""
        return self.waiting().filter(due_at__lte=now)

    def stuck(self, now: Any) -> "JobRunQuerySet":
        """In the hands of a worker that is not heard of."""
        return self.held().filter(
            Q(lease_until__lte=now) | Q(continuation_state=Continuation.CONFIRMING)
        )

    def failed_since(self, time: datetime) -> "JobRunQuerySet":
        return self.filter(state__in=UNSUCCESSFUL, finished_at__gte=time)

    def failed_lately(self) -> "JobRunQuerySet":
        return self.failed_since(timezone.now() - timedelta(days=1))


class JobDefinitionQuerySet(QuerySet["JobDefinition"]):
    def enabled(self) -> "JobDefinitionQuerySet":
        return self.filter(enabled=True)

    def by_the_clock(self) -> "JobDefinitionQuerySet":
        return self.exclude(cron="")

    def started_by(self, event_type: str) -> "JobDefinitionQuerySet":
        return self.enabled().filter(event_type=event_type).exclude(event_type="")


class WorkerQuerySet(QuerySet["Worker"]):
    def present(self) -> "WorkerQuerySet":
        """Neither stopped nor found dead."""
        return self.filter(stopped_at__isnull=True)

    def on_node(self, node: str) -> "WorkerQuerySet":
        return self.filter(node=node)


class TriggerEventQuerySet(QuerySet["TriggerEvent"]):
    def unprocessed(self) -> "TriggerEventQuerySet":
        return self.filter(processed_at__isnull=True)
