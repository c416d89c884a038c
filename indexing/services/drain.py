"""Working off the requests of a project: take a few, build them, write them together, again.

A turn is short, so that other work of the lane has its turn, too; while more waits, the next turn
is enqueued behind it. Several turns may go on at once: what one of them has taken is its own.
"""

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from glossary_site.jobs import clock
from glossary_site.jobs.choices import ACTIVE
from glossary_site.jobs.errors import Stopped
from glossary_site.jobs.models import JobRun
from glossary_site.observe.masking import mask
from indexing.embedders.base import Embedder
from indexing.embedders.registry import embedder_for, embedder_of_key
from indexing.models import IndexedDocument, IndexRequest, ProjectIndex
from indexing.sections.limits import limits
from indexing.services import requests
from indexing.services.building import Built, build, embed_missing
from indexing.services.replacing import replace_all
from indexing.services.requests import Claim
from indexing.services.waking import DRAIN, FILL, wake
from projects.feed import stream_of
from projects.models import Document, Project

logger = logging.getLogger(__name__)

TURN_SECONDS = 2.0
# Documents that are taken and written at once, and how long their texts may be together: on SQLite
# nobody else can write meanwhile.
BATCH_DOCUMENTS = 64
BATCH_BYTES = 400_000

Check = Callable[[], object]
Progress = Callable[[int, int], object]


@dataclass
class Tally:
    completed: int = 0
    failed: int = 0
    # Completed with nothing written, and not yet told of.
    unchanged: list[int] = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.completed + self.failed


def take_turn(
    project_id: int,
    *,
    check: Check,
    job_run_id: int | None = None,
    seconds: float = TURN_SECONDS,
    done: Callable[[Tally], object] | None = None,
) -> Tally:
    """One turn. `check` is called in between and may raise, to stop; `done` after each batch."""
    tally = Tally()
    end = time.monotonic() + seconds
    plan = _plan(project_id)
    while claims := requests.take(
        project_id, limit=BATCH_DOCUMENTS, most_bytes=BATCH_BYTES, job_run_id=job_run_id
    ):
        _call_another(project_id)
        _process(claims, plan, tally=tally, check=check)
        if tally.unchanged:
            requests.tell(project_id, tally.unchanged)
            tally.unchanged.clear()
        if done is not None:
            done(tally)
        if time.monotonic() > end:
            break
        check()
    if tally.completed and (plan.fill or _plan(project_id).kept - plan.kept):
        # Also where another one came to be wanted in the middle.
        wake(project_id, FILL)
    return tally


def work_here(*, project: Project, progress: Progress, check: Check = bool) -> Tally:
    """For a terminal: work off everything now, beside the workers or without any. `progress` is
    told how many documents are done, and of how many."""
    whole = Tally()
    while more_to_do(project.pk):
        left = waiting_documents(project.pk)

        def done(turn: Tally, left: int = left) -> None:
            progress(whole.total + turn.total, whole.total + max(left, turn.total))

        turn = take_turn(project.pk, check=check, done=done)
        whole.completed += turn.completed
        whole.failed += turn.failed
        if not turn.total:
            # What waits is in other hands.
            break
    return whole


def waiting_documents(project_id: int) -> int:
    waiting = IndexRequest.objects.open().filter(project_id=project_id)
    return waiting.values("document").distinct().count()


def more_to_do(project_id: int) -> bool:
    return IndexRequest.objects.due(clock.now()).filter(project_id=project_id).exists()


def _call_another(project_id: int) -> None:
    """While more waits than we have taken, and not all workers are at it."""
    if not more_to_do(project_id):
        return
    at_it = JobRun.objects.for_scope(stream_of(project_id)).filter(kind=DRAIN, state__in=ACTIVE)
    if at_it.count() < settings.LANES["short"]:
        wake(project_id)


@dataclass(frozen=True)
class Plan:
    """Whose vectors are made at once: those of the embedder that is wanted and of the one that
    serves, if they are quick. Others are asked by a job of their own (filling.py): a document must
    not wait for them to be found by its words."""

    project_id: int
    # The key of the one that serves from now on, if none does yet.
    serving: str
    embedders: list[Embedder]
    # The keys of those whose vectors are taken along where the text is the same.
    kept: set[str]
    # Whether something is left to that job.
    fill: bool


def _plan(project_id: int) -> Plan:
    index = ProjectIndex.objects.filter(pk=project_id).first()
    serving = embedder_of_key(index.serving_embedder, project_id) if index else None
    wanted = embedder_for(project_id)
    quick = {each.key: each for each in (serving, wanted) if each is not None and each.at_once}
    kept = {each.key for each in (serving, wanted) if each is not None}
    if wanted is None:
        return Plan(project_id, "", list(quick.values()), kept=kept, fill=False)
    serves = serving is not None and serving.key == wanted.key
    is_new = index is None or not index.serving_embedder
    return Plan(
        project_id,
        serving=wanted.key if wanted.at_once else "",
        embedders=list(quick.values()),
        kept=kept,
        fill=not wanted.at_once or not (serves or is_new),
    )


def _process(claims: Sequence[Claim], plan: Plan, *, tally: Tally, check: Check) -> None:
    ids = [claim.document_id for claim in claims]
    builds: list[Built] = []
    try:
        documents = Document.objects.in_bulk(ids)
        # Nobody but us changes these while the requests are ours.
        there = IndexedDocument.objects.in_bulk(ids)
        for claim in claims:
            check()
            pk = claim.document_id
            built = _build(claim, documents.get(pk), there.get(pk), plan, tally)
            if built is not None:
                builds.append(built)
        if builds:
            _write(builds, plan, tally=tally)
    except BaseException:
        # Told to stop, or the database is in trouble: what is not written is for somebody else.
        with suppress(DatabaseError, InterfaceError):
            requests.give_back(claims)
        raise


def _build(
    claim: Claim,
    document: Document | None,
    there: IndexedDocument | None,
    plan: Plan,
    tally: Tally,
) -> Built | None:
    """What is to be written of the document; None where nothing is."""
    if document is None:
        # Deleted meanwhile, and its requests with it.
        return None
    if document.file_hash != claim.document_hash or _is_there(claim, there):
        # A newer text came, with a request of its own; or the sections are those of this text.
        if requests.complete(claim):
            tally.completed += 1
            tally.unchanged.append(claim.document_id)
        return None
    try:
        return build(claim, document, embedders=plan.kept, limits=limits(), is_first=there is None)
    except Exception as error:
        _fail(claim, error, tally)
        return None


def _is_there(claim: Claim, there: IndexedDocument | None) -> bool:
    return (
        there is not None
        and not claim.force
        and there.document_hash == claim.document_hash
        and there.document_version == claim.document_version
    )


def _write(builds: list[Built], plan: Plan, *, tally: Tally) -> None:
    """Together; where that fails, each by itself, so that one does not sink the others."""
    try:
        for embedder in plan.embedders:
            embed_missing(builds, embedder)
        tally.completed += len(replace_all(builds, serving=plan.serving))
    except Stopped:
        raise
    except Exception as error:
        if len(builds) == 1:
            _fail(builds[0].claim, error, tally)
            return
        logger.warning("Documents could not be indexed together: %s", error)
        for built in builds:
            _write([built], plan, tally=tally)


def _fail(claim: Claim, error: Exception, tally: Tally) -> None:
    if isinstance(error, DatabaseError | InterfaceError) and not connection.is_usable():
        # The connection's trouble, and not the document's: the job fails and is tried again.
        raise error
    logger.error("Document %d could not be indexed", claim.document_id, exc_info=error)
    if requests.fail(claim, mask(f"{type(error).__name__}: {error}")):
        tally.failed += 1
        requests.tell_of_document(claim.document_id)
