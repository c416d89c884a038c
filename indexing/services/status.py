"""How fresh the index of a project is, as a whole."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, F, Min, Q, Sum
from django.utils import timezone

from indexing.choices import RequestStatus
from indexing.embedders.registry import embedder_for
from indexing.models import IndexedDocument, IndexRequest, ProjectIndex, Section, SectionVector
from projects.models import Document, Project

# The rate is that of the last minutes in which something was done.
RATE_MINUTES = 5


@dataclass(frozen=True)
class IndexOverview:
    documents: int
    # Of these, the ones whose present text is the one that is found.
    up_to_date: int
    sections: int
    tokens: int
    pending: int
    processing: int
    failed: int
    oldest_pending_at: datetime | None
    # Documents a minute, lately; 0 when nothing was done.
    rate_per_minute: float
    # None: nothing is waiting, or nothing moves.
    eta_seconds: float | None
    embedder_serving: str
    embedder_wanted: str
    # Why there are no (new) vectors, in words.
    embedder_error: str
    # With a text, which is what vectors are made of; and of these, those without one of the wanted
    # embedder.
    sections_with_text: int
    sections_without_vector: int

    @property
    def open(self) -> int:
        return self.pending + self.processing

    @property
    def switching(self) -> bool:
        return bool(self.embedder_wanted) and self.embedder_wanted != self.embedder_serving


def index_status(project: Project) -> IndexOverview:
    now = timezone.now()
    counts = IndexRequest.objects.for_project(project).aggregate(
        pending=Count("pk", filter=Q(status=RequestStatus.PENDING)),
        processing=Count("pk", filter=Q(status=RequestStatus.PROCESSING)),
        failed=Count("pk", filter=Q(status=RequestStatus.FAILED)),
        oldest=Min("created_at", filter=Q(status=RequestStatus.PENDING)),
        waiting=Count("document", distinct=True, filter=Q(status=RequestStatus.PENDING)),
    )
    documents = Document.objects.filter(project=project)
    indexed = IndexedDocument.objects.filter(project=project)
    sums = indexed.aggregate(sections=Sum("section_count"), tokens=Sum("token_count"))
    rate = _rate(project, now)
    left = counts["waiting"] + counts["processing"]
    index = ProjectIndex.objects.filter(pk=project.pk).first()
    wanted, error = _wanted(project.pk)
    with_text = Section.objects.filter(project=project).exclude(content="").count()
    return IndexOverview(
        documents=documents.count(),
        up_to_date=indexed.filter(document_hash=F("document__file_hash")).count(),
        sections=sums["sections"] or 0,
        tokens=sums["tokens"] or 0,
        pending=counts["pending"],
        processing=counts["processing"],
        failed=counts["failed"],
        oldest_pending_at=counts["oldest"],
        rate_per_minute=rate,
        eta_seconds=left / rate * 60 if left and rate else None,
        embedder_serving=index.serving_embedder if index else "",
        embedder_wanted=wanted,
        embedder_error=error,
        sections_with_text=with_text,
        sections_without_vector=_without_vector(project, wanted, with_text) if wanted else 0,
    )


def _rate(project: Project, now: datetime) -> float:
    since = now - timedelta(minutes=RATE_MINUTES)
    done = IndexRequest.objects.for_project(project).filter(
        status=RequestStatus.COMPLETED, completed_at__gte=since
    )
    counted = done.aggregate(count=Count("pk"), first=Min("started_at"))
    if not counted["count"]:
        return 0.0
    # Not of five minutes, if it began a moment ago.
    minutes = max((now - max(counted["first"] or since, since)).total_seconds(), 1) / 60
    return float(counted["count"] / minutes)


def _wanted(project_id: int) -> tuple[str, str]:
    embedder = embedder_for(project_id)
    return (embedder.key, embedder.problem) if embedder else ("", "")


def _without_vector(project: Project, key: str, with_text: int) -> int:
    """By two counts: to look for each section whether it has one would take long."""
    vectors = SectionVector.objects.filter(section__project=project, embedder=key).count()
    return max(0, with_text - vectors)
