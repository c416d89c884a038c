"""How a collection and its targets end. Each move is a compare-and-set that names the state it
comes from, and the counts of the collection change in the transaction that makes them true.

Rows are locked in one order: project, repository, collection, results, feed, job. The job is the
last: whoever works makes sure at the end of each transaction that it is still theirs.
"""

from contextlib import suppress

from django.db import transaction
from django.db.models import Count, F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from collection import news
from collection.choices import ResultStatus, RunStatus
from collection.models import BulkCollectionResult, BulkCollectionRun
from collection.models.run import MESSAGE_LENGTH
from glossary_site.errors import Refusal
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.payloads import storable
from glossary_site.jobs.querysets import JobRunQuerySet
from glossary_site.jobs.services import audit
from glossary_site.jobs.services.runs import cancel_run
from glossary_site.observe.masking import mask
from projects.access import Actor, name_of
from projects.models import Project

COLLECT = "collection.collect"


def succeed(result: BulkCollectionResult, *, new_commits: int, note: str = "") -> bool:
    """PENDING → SUCCESS; False when it has ended, or gone, before."""
    if not _end_target(
        result, ResultStatus.SUCCESS, new_commits_count=new_commits, note=sayable(note)
    ):
        return False
    BulkCollectionRun.objects.filter(pk=result.run_id).update(
        completed_count=F("completed_count") + 1,
        success_count=F("success_count") + 1,
    )
    return True


def give_up(result: BulkCollectionResult, message: str) -> bool:
    """PENDING → FAILED, with a sentence for people; False when it has ended before."""
    message = sayable(message) or _("Something went wrong.")
    if not _end_target(result, ResultStatus.FAILED, error_message=message, last_error=message):
        return False
    BulkCollectionRun.objects.filter(pk=result.run_id).update(failed_count=F("failed_count") + 1)
    return True


def _end_target(result: BulkCollectionResult, status: ResultStatus, **fields: object) -> bool:
    pending = BulkCollectionResult.objects.pending().filter(pk=result.pk)
    ended = pending.update(
        status=status,
        processed_at=timezone.now(),
        next_retry_at=None,
        in_hand_since=None,
        attempts=F("attempts") + 1,
        **fields,
    )
    return bool(ended)


def complete(run: BulkCollectionRun) -> bool:
    """RUNNING → COMPLETED, when nothing is pending; False otherwise. Call it last in a
    transaction."""
    running = BulkCollectionRun.objects.running().filter(pk=run.pk)
    if not running.select_for_update(no_key=True, of=("self",)).exists():
        return False
    if run.results.pending().exists():
        return False
    # Targets go with a project that is deleted while it is visited.
    recount(run)
    running.update(status=RunStatus.COMPLETED, completed_at=timezone.now())
    run.refresh_from_db()
    news.happened(run, news.COMPLETED)
    return True


def cancel(run: BulkCollectionRun, *, actor: Actor) -> BulkCollectionRun:
    """To CANCELLED. Whoever works on it is told within a second, and nothing that it still writes
    is taken. What is there stays; what is pending stays so, for `resume`."""
    who = name_of(actor) or audit.SITE
    with transaction.atomic():
        running = BulkCollectionRun.objects.running().filter(pk=run.pk)
        if not running.update(status=RunStatus.CANCELLED, completed_at=timezone.now()):
            run.refresh_from_db()
            raise Refusal(
                "collection_not_running",
                _("This collection has ended already: %(status)s.")
                % {"status": run.get_status_display()},
                run_id=str(run.pk),
                run_status=run.status,
            )
        run.results.pending().update(in_hand_since=None, next_retry_at=None)
        audit.record(who, "cancel", run, after={"status": RunStatus.CANCELLED})
        run.refresh_from_db()
        news.happened(run, news.CANCELLED, by=name_of(actor))
        for job in jobs_of(run).active():
            # One that has ended by itself meanwhile is as good.
            with suppress(Refusal):
                cancel_run(job, actor=who, reason=_("The collection was stopped."))
    return run


def scope_of(run: BulkCollectionRun) -> str:
    """Whose work it is; that of the whole site is the operators'."""
    return run.project.stream if run.project is not None else ""


def jobs_of(run: BulkCollectionRun) -> JobRunQuerySet:
    """The work done for it: the first, and those that went on after a kill or a pause."""
    jobs = JobRun.objects.filter(kind=COLLECT, payload__run_id=str(run.pk))
    return jobs.filter(scope=scope_of(run))


def leave_collections(project: Project, actor: Actor) -> None:
    """Of a project that is about to be deleted: its own are stopped, and those of all go on
    without it."""
    for run in BulkCollectionRun.objects.running().filter(project=project):
        with suppress(Refusal):
            cancel(run, actor=actor)
    drop_targets(Q(repository__project=project) & ~Q(run__project=project))


@transaction.atomic
def drop_targets(which: Q) -> None:
    """Take targets out of the collections that they are in, whose counts stay true. For those who
    delete a repository, before they do."""
    results = BulkCollectionResult.objects.filter(which)
    ids = sorted(set(results.values_list("run_id", flat=True)))
    runs = list(BulkCollectionRun.objects.select_for_update().filter(pk__in=ids).order_by("pk"))
    for run in runs:
        run.results.filter(which).delete()
        recount(run)


def recount(run: BulkCollectionRun) -> None:
    """From the rows, in the transaction that has changed them otherwise than by ending them."""
    counts = run.results.aggregate(
        total=Count("pk"),
        good=Count("pk", filter=Q(status=ResultStatus.SUCCESS)),
        bad=Count("pk", filter=Q(status=ResultStatus.FAILED)),
    )
    BulkCollectionRun.objects.filter(pk=run.pk).update(
        total_targets=counts["total"],
        completed_count=counts["good"],
        success_count=counts["good"],
        failed_count=counts["bad"],
    )


def sayable(message: str) -> str:
    """As it may stand in a row: no secret, nothing that a database refuses, not too long."""
    return storable(mask(message.strip()))[:MESSAGE_LENGTH]
