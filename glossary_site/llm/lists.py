"""How a list of LLM processes is narrowed, the same on the pages and in the API; and its counts."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Q
from django.utils.translation import gettext_lazy as _

from glossary_site.llm.choices import ACTIVE, UNFINISHED, JobStatus, ProcessStatus
from glossary_site.llm.models import LLMJob, LLMProcess
from glossary_site.llm.querysets import LLMProcessQuerySet

# Different reasons for failures that are named.
MOST_REASONS = 20
# What people look for; a program names the statuses themselves.
STATUS_GROUPS = {
    "active": (_("Active"), ACTIVE),
    "completed": (_("Completed"), (ProcessStatus.COMPLETED,)),
    "failed": (_("Given up"), (ProcessStatus.FAILED,)),
    "cancelled": (_("Cancelled"), (ProcessStatus.CANCELLED,)),
}


@dataclass(frozen=True)
class Line:
    """A process with what of it is still to come."""

    process: LLMProcess
    pending: int
    in_flight: int


def matching(processes: LLMProcessQuerySet, text: str) -> LLMProcessQuerySet:
    """A number (the whole of it), or words of the model or the error."""
    found = Q(model__icontains=text) | Q(error__icontains=text)
    try:
        return processes.filter(found | Q(pk=UUID(text)))
    except ValueError:
        return processes.filter(found)


def lines_of(processes: Iterable[LLMProcess]) -> list[Line]:
    """One query for the counts of all of them."""
    listed = list(processes)
    rows = (
        LLMJob.objects.filter(
            process_id__in=[process.pk for process in listed if not process.ended],
            status__in=UNFINISHED,
        )
        .order_by()
        .values_list("process_id", "status")
        .annotate(count=Count("pk"))
    )
    counts = {(process_id, status): count for process_id, status, count in rows}
    return [
        Line(
            process,
            counts.get((process.pk, JobStatus.PENDING), 0),
            counts.get((process.pk, JobStatus.IN_PROGRESS), 0),
        )
        for process in listed
    ]


def failures_of(process: LLMProcess) -> list[Any]:
    """Why requests failed (`error_message`) and how many (`count`), the most frequent first.
    Nothing is left of it when whoever asked has taken the answers away."""
    failed = LLMJob.objects.of(process.pk).failed().order_by()
    reasons = failed.values("error_message").annotate(count=Count("pk"))
    return list(reasons.order_by("-count", "error_message")[:MOST_REASONS])
