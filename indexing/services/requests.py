"""Every move of an index request: made, taken, given back, ended, tried again.

A request is taken and ended by compare-and-set: `claim` says for the how-manieth time it was taken,
and who ends it names that number. Two locks keep the order: the project's row for those who write
texts (projects/services/documents.py), the document's row for those who take requests of it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import inf
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.jobs import clock
from glossary_site.jobs.services.audit import SITE, record
from glossary_site.live.services import publish
from indexing.choices import RequestStatus
from indexing.models import IndexRequest
from indexing.paths import matching_paths
from indexing.querysets import IndexRequestQuerySet
from indexing.services.waking import wake_on_commit
from projects.access import Actor, name_of
from projects.feed import stream_of
from projects.models import Document, Project

# A failed request is tried again by itself so often, with a growing pause.
MOST_ATTEMPTS = 5
BACKOFF_SECONDS = 5
BACKOFF_FACTOR = 4
# A worker that is not heard of for so long has lost its request; a long text is given more time.
LEASE_SECONDS = 30
LEASE_BYTES_PER_SECOND = 20_000
ERROR_LENGTH = 1024
IDS_IN_EVENT = 200
INSERT_BATCH = 500
INSERT_AGAIN = """
    INSERT INTO indexing_indexrequest (
        project_id, document_id, document_hash, document_version,
        status, force, attempts, error, claim, created_at, due_at
    )
    SELECT project_id, id, file_hash, version, %s, %s, 0, '', 0, %s, %s
    FROM projects_document WHERE id IN ({places}) ORDER BY id
"""


@dataclass(frozen=True)
class Claim:
    """A request in the hands of one worker."""

    request_id: int
    number: int
    document_id: int
    document_hash: str
    document_version: int
    force: bool


def request_texts(project: Project, documents: Sequence[Document]) -> None:
    """A request for each text that was just written, in the transaction that wrote it."""
    now = timezone.now()
    IndexRequest.objects.bulk_create(
        (
            IndexRequest(
                project=project,
                document=document,
                document_hash=document.file_hash,
                document_version=document.version,
                created_at=now,
                due_at=now,
            )
            for document in documents
        ),
        batch_size=INSERT_BATCH,
    )
    wake_on_commit(project.pk)


def _request_again(document_ids: Sequence[int], *, force: bool) -> None:
    """Inside the database: of a hundred thousand documents it is a matter of seconds, and nobody
    else can write to the project meanwhile."""
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    with connection.cursor() as cursor:
        for start in range(0, len(document_ids), INSERT_BATCH):
            some = document_ids[start : start + INSERT_BATCH]
            places = ", ".join(["%s"] * len(some))
            cursor.execute(
                INSERT_AGAIN.format(places=places), [RequestStatus.PENDING, force, now, now, *some]
            )


@transaction.atomic
def rebuild(
    *,
    project: Project,
    actor: Actor,
    paths: Sequence[str] | None = None,
    force: bool = False,
) -> int:
    """Have documents indexed anew: all of a project, or those whose path matches one of the
    patterns. With `force` even what has not changed is cut and embedded again."""
    # The project's row, as everybody who writes requests: the hash that is read here is the last.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    documents = Document.objects.filter(project=project).order_by("pk")
    rows = list(documents.values_list("pk", "path"))
    if paths:
        wanted = matching_paths((path for _pk, path in rows), include=paths)
        rows = [(pk, path) for pk, path in rows if path in wanted]
        if not rows:
            raise Refusal(
                "no_such_documents",
                _("No document of the project matches these paths."),
                status=404,
            )
    chosen = [pk for pk, _path in rows]
    _request_again(chosen, force=force)
    wake_on_commit(project.pk)
    record(
        name_of(actor) or SITE,
        "index.rebuild",
        project,
        after={"documents": len(chosen), "force": force, "paths": list(paths or ())},
    )
    tell(project.pk, chosen)
    return len(chosen)


@transaction.atomic
def take(
    project_id: int, *, limit: int, most_bytes: float = inf, job_run_id: int | None = None
) -> list[Claim]:
    """The newest pending request of each of a few documents, the longest waiting first; the older
    ones of these documents are skipped. Several have no more than `most_bytes` together."""
    now = clock.read()
    candidates = (
        IndexRequest.objects.due(now)
        .filter(project_id=project_id)
        .filter(~Exists(_processing(OuterRef("document"))))
        # By the index alone: those of one moment, as after a rebuild, need no order.
        .order_by("due_at")
        .values_list("document_id", flat=True)
    )
    # Several requests may be of one document.
    wanted = list(dict.fromkeys(candidates[: 4 * limit]))[:limit]
    # The lock of those who take requests. Documents that somebody else has locked are theirs, or
    # are being written: then a newer request is coming.
    mine = list(
        Document.objects.select_for_update(skip_locked=True, no_key=True, of=("self",))
        .filter(pk__in=wanted)
        .order_by("pk")
        .values_list("pk", "byte_size")
    )
    sizes = dict(mine)
    requests: dict[int, list[IndexRequest]] = {}
    rows = IndexRequest.objects.open().filter(document_id__in=sizes)
    for request in rows.order_by("-document_version", "-pk"):
        requests.setdefault(request.document_id, []).append(request)
    claims: list[Claim] = []
    size = 0
    older: list[int] = []
    for document_id in (pk for pk in wanted if pk in requests):
        newest, *others = requests[document_id]
        if any(request.status == RequestStatus.PROCESSING for request in (newest, *others)):
            continue
        if newest.attempts and claims:
            # Tried before: by itself, another time. If it is the one that takes its worker along,
            # the others are not lost with it again and again.
            continue
        if claims and size + sizes[document_id] > most_bytes:
            break
        size += sizes[document_id]
        force = any(request.force for request in (newest, *others))
        older += [request.pk for request in others]
        claims.append(
            Claim(
                request_id=newest.pk,
                number=newest.claim + 1,
                document_id=document_id,
                document_hash=newest.document_hash,
                document_version=newest.document_version,
                force=force,
            )
        )
        if newest.attempts:
            break
    # They are worked off one after the other, so the last one needs the time of all.
    lease = LEASE_SECONDS + size / LEASE_BYTES_PER_SECOND
    for force in {claim.force for claim in claims}:
        taken = [claim.request_id for claim in claims if claim.force == force]
        IndexRequest.objects.filter(pk__in=taken).update(
            status=RequestStatus.PROCESSING,
            started_at=now,
            lease_until=now + timedelta(seconds=lease),
            job_run_id=job_run_id,
            claim=F("claim") + 1,
            attempts=F("attempts") + 1,
            force=force,
        )
    IndexRequest.objects.filter(pk__in=older, status=RequestStatus.PENDING).update(
        status=RequestStatus.SKIPPED, completed_at=now
    )
    return claims


def _processing(document: OuterRef) -> IndexRequestQuerySet:
    return IndexRequest.objects.filter(document=document, status=RequestStatus.PROCESSING)


def _held(claim: Claim) -> IndexRequestQuerySet:
    return IndexRequest.objects.filter(
        pk=claim.request_id, claim=claim.number, status=RequestStatus.PROCESSING
    )


def complete(claim: Claim) -> bool:
    """False: it is somebody else's by now, and what was made for it must not be kept."""
    return bool(complete_all([claim]))


@transaction.atomic
def complete_all(claims: Sequence[Claim]) -> list[Claim]:
    """Those that could be completed. The others are somebody else's by now, and what was made for
    them must not be kept."""
    taken = IndexRequest.objects.filter(
        pk__in=[claim.request_id for claim in claims], status=RequestStatus.PROCESSING
    )
    # Locked: what is seen here stays so until it is written.
    numbers = dict(taken.select_for_update().order_by("pk").values_list("pk", "claim"))
    held = [claim for claim in claims if numbers.get(claim.request_id) == claim.number]
    IndexRequest.objects.filter(pk__in=[claim.request_id for claim in held]).update(
        status=RequestStatus.COMPLETED, completed_at=clock.now(), lease_until=None, error=""
    )
    _forget_failures(held)
    return held


def _forget_failures(claims: Sequence[Claim]) -> None:
    """Earlier failures of a document do not matter when it is done."""
    versions = {claim.document_id: claim.document_version for claim in claims}
    failed = IndexRequest.objects.filter(document_id__in=versions, status=RequestStatus.FAILED)
    rows = failed.order_by().values_list("pk", "document_id", "document_version")
    earlier = [pk for pk, document_id, version in rows if version <= versions[document_id]]
    if earlier:
        failed.filter(pk__in=earlier).update(status=RequestStatus.SKIPPED)


def fail(claim: Claim, error: str) -> bool:
    """Kept with its error; the sweep has it tried again when its pause is over."""
    attempts = _held(claim).values_list("attempts", flat=True).first()
    if attempts is None:
        # Somebody else's by now; or the document was deleted, and its requests with it.
        return False
    return (
        _held(claim).update(
            status=RequestStatus.FAILED,
            completed_at=clock.now(),
            lease_until=None,
            error=error[:ERROR_LENGTH] or "?",
            due_at=clock.after(pause_after(attempts)),
        )
        == 1
    )


def give_back(claims: Iterable[Claim]) -> None:
    """Taken and not worked on: somebody else may. It does not count as an attempt."""
    for claim in claims:
        _held(claim).update(
            status=RequestStatus.PENDING,
            started_at=None,
            lease_until=None,
            job_run_id=None,
            attempts=F("attempts") - 1,
        )


def pause_after(attempts: int) -> float:
    return float(BACKOFF_SECONDS * BACKOFF_FACTOR ** max(0, attempts - 1))


@transaction.atomic
def retry_requests(
    *, project: Project, actor: Actor, request_ids: Sequence[int] | None = None
) -> int:
    """Try failed requests again now: these, or all of the project. How many there were."""
    failed = IndexRequest.objects.filter(project=project, status=RequestStatus.FAILED)
    if request_ids is not None:
        failed = failed.filter(pk__in=request_ids)
    # A text that was replaced since is not worth another attempt.
    chosen = list(failed.filter(~superseded()).values_list("pk", "document_id"))
    pks = [pk for pk, _document in chosen]
    moved = IndexRequest.objects.filter(pk__in=pks, status=RequestStatus.FAILED).update(
        **pending_again(), attempts=0
    )
    if moved:
        record(name_of(actor) or SITE, "index.retry", project, after={"requests": pks})
        wake_on_commit(project.pk)
        tell(project.pk, [document for _pk, document in chosen])
    return moved


def superseded() -> Exists:
    """There is a request for a newer text of the same document."""
    return Exists(
        IndexRequest.objects.filter(
            document=OuterRef("document"), document_version__gt=OuterRef("document_version")
        )
    )


def pending_again() -> dict[str, Any]:
    return {
        "status": RequestStatus.PENDING,
        "started_at": None,
        "completed_at": None,
        "lease_until": None,
        "job_run_id": None,
        "due_at": clock.now(),
    }


def tell(project_id: int, document_ids: Sequence[int]) -> None:
    """A hint to open pages. Last in its transaction: it locks the feed."""
    publish(
        stream_of(project_id),
        "index.changed",
        {"document_ids": list(document_ids[:IDS_IN_EVENT])},
    )


def tell_of_document(document_id: int) -> None:
    project = Document.objects.filter(pk=document_id).values_list("project_id", flat=True).first()
    if project is not None:
        tell(project, [document_id])
