"""How fresh the index is of each of some documents."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, F, OuterRef, Subquery

from indexing.choices import IndexStatus, RequestStatus
from indexing.models import IndexRequest
from projects.models import Document


@dataclass(frozen=True)
class DocumentState:
    # None: not indexed yet, and nothing under way (it is empty of requests).
    status: IndexStatus | None
    is_latest: bool
    has_pending_update: bool
    # Of the last attempt at its present text; empty when it went well.
    error: str
    indexed_at: datetime | None


def states_of(document_ids: Iterable[int]) -> dict[int, DocumentState]:
    """One query, however many documents."""
    requests = IndexRequest.objects.filter(document=OuterRef("pk"))
    failed = requests.filter(
        status=RequestStatus.FAILED, document_hash=OuterRef("file_hash")
    ).order_by("-pk")
    rows = (
        Document.objects.filter(pk__in=list(document_ids))
        .annotate(
            has_open=Exists(requests.open()),
            error=Subquery(failed.values("error")[:1]),
            indexed_hash=F("indexed__document_hash"),
            indexed_at=F("indexed__indexed_at"),
        )
        .values_list("pk", "file_hash", "indexed_hash", "indexed_at", "has_open", "error")
    )
    return {
        pk: DocumentState(
            status=status_of(
                is_latest=file_hash == indexed_hash,
                has_pending_update=has_open,
                is_indexed=indexed_hash is not None,
            ),
            is_latest=file_hash == indexed_hash,
            has_pending_update=has_open,
            error=error or "",
            indexed_at=indexed_at,
        )
        for pk, file_hash, indexed_hash, indexed_at, has_open, error in rows
    }


def status_of(
    *, is_latest: bool, has_pending_update: bool, is_indexed: bool = True
) -> IndexStatus | None:
    """The one rule for what a badge says."""
    if has_pending_update:
        return IndexStatus.UPDATING
    if is_latest:
        return IndexStatus.LATEST
    return IndexStatus.OUTDATED if is_indexed else None
