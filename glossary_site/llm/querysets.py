"""The words for reading the queue, its processes and the ledger."""

from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from glossary_site.llm.choices import ACTIVE, ENDED, JobStatus, LedgerStatus

if TYPE_CHECKING:
    from glossary_site.llm.models import (  # noqa: F401 (named in the annotations)
        LedgerEntry,
        LLMJob,
        LLMProcess,
    )


class LLMJobQuerySet(QuerySet["LLMJob"]):
    def of(self, process_id: UUID) -> "LLMJobQuerySet":
        return self.filter(process_id=process_id)

    def pending(self) -> "LLMJobQuerySet":
        return self.filter(status=JobStatus.PENDING)

    def in_flight(self) -> "LLMJobQuerySet":
        return self.filter(status=JobStatus.IN_PROGRESS)

    def failed(self) -> "LLMJobQuerySet":
        return self.filter(status=JobStatus.FAILED)

    def after(self, last: UUID | None) -> "LLMJobQuerySet":
        """The next ones, in order of enqueuing."""
        return (self if last is None else self.filter(pk__gt=last)).order_by("pk")

    def counts(self) -> dict[str, int]:
        """How many there are of each status."""
        counted = self.aggregate(
            **{status: Count("pk", filter=Q(status=status)) for status in JobStatus.values}
        )
        return {status: counted[status] for status in JobStatus.values}


class LLMProcessQuerySet(QuerySet["LLMProcess"]):
    def active(self) -> "LLMProcessQuerySet":
        return self.filter(status__in=ACTIVE)

    def ended(self) -> "LLMProcessQuerySet":
        return self.filter(status__in=ENDED)

    def unclaimed(self) -> "LLMProcessQuerySet":
        """Ended, and nobody has come for the answers."""
        return self.ended().filter(consumed_at__isnull=True)

    def for_scope(self, scope: str) -> "LLMProcessQuerySet":
        return self.filter(scope=scope)

    def listed(self) -> "LLMProcessQuerySet":
        """For lists: without what may be long."""
        return self.defer("then_payload").select_related("run")


class LedgerQuerySet(QuerySet["LedgerEntry"]):
    def answered(self) -> "LedgerQuerySet":
        return self.filter(status=LedgerStatus.ANSWERED)
