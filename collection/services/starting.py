"""The one door for new collections."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from collection import news
from collection.access import visible_runs
from collection.models import BulkCollectionResult, BulkCollectionRun, Repository
from collection.services.ending import COLLECT, scope_of
from collection.services.targets import Target, collectable, targets_of
from glossary_site.errors import Refusal
from glossary_site.jobs.services import audit
from glossary_site.jobs.services.enqueue import enqueue
from projects.access import Actor, author_of, name_of
from projects.models import Project

# Of results that are written in one go.
BATCH = 1000


def start(
    *,
    actor: Actor,
    project: Project | None = None,
    repositories: Sequence[Repository] | None = None,
    branch_names: Sequence[str] = (),
    since: datetime | None = None,
    triggered_by: str = "api",
) -> BulkCollectionRun:
    """Collect every branch that is followed: of the whole site, of a project, or of chosen
    repositories; or the chosen branches of these. `since` is where a first collection begins."""
    if since is not None and since > timezone.now():
        raise Refusal("since_in_future", _("The date to begin with is in the future."), status=400)
    wanted = collectable()
    if project is not None:
        wanted = wanted.filter(project=project)
    if repositories is not None:
        # Chosen by name: paused ones, too.
        wanted = Repository.objects.filter(pk__in=[each.pk for each in repositories])
    return _begin(
        targets=lambda: targets_of(wanted, branch_names=branch_names),
        project=project,
        actor=actor,
        triggered_by=triggered_by,
        since=since,
        grows=not branch_names,
    )


def retry_failed(
    run: BulkCollectionRun, *, actor: Actor, triggered_by: str = "api"
) -> BulkCollectionRun:
    """A new collection of what failed in an ended one."""
    return _again(run, run.results.failed(), actor=actor, triggered_by=triggered_by)


def resume(run: BulkCollectionRun, *, actor: Actor, triggered_by: str = "api") -> BulkCollectionRun:
    """A new collection of what was still pending when one was cancelled."""
    return _again(run, run.results.pending(), actor=actor, triggered_by=triggered_by)


def _again(
    run: BulkCollectionRun,
    results: Iterable[BulkCollectionResult],
    *,
    actor: Actor,
    triggered_by: str,
) -> BulkCollectionRun:
    if run.is_running:
        raise _running(run, actor)
    return _begin(
        targets=lambda: (Target(each.repository_id, each.branch_name) for each in results),
        project=run.project,
        actor=actor,
        triggered_by=triggered_by,
        since=run.since,
        grows=run.grows,
        continues=run,
    )


def _begin(
    *,
    targets: Callable[[], Iterable[Target]],
    project: Project | None,
    actor: Actor,
    triggered_by: str,
    since: datetime | None,
    grows: bool,
    continues: BulkCollectionRun | None = None,
) -> BulkCollectionRun:
    """Write it with its targets and have a worker begin, all or nothing. However many ask at once,
    one is running: the constraint decides."""
    active = BulkCollectionRun.objects.running().first()
    if active is not None:
        raise _running(active, actor)
    try:
        with transaction.atomic():
            chosen = list(targets())
            if not chosen:
                raise _nothing(continues)
            run = BulkCollectionRun.objects.create(
                total_targets=len(chosen),
                project=project,
                actor=author_of(actor),
                triggered_by=triggered_by,
                since=since,
                grows=grows,
                continues=continues,
            )
            BulkCollectionResult.objects.bulk_create(
                (
                    BulkCollectionResult(
                        run=run, repository_id=each.repository_id, branch_name=each.branch_name
                    )
                    for each in chosen
                ),
                batch_size=BATCH,
            )
            run.job = enqueue(COLLECT, {"run_id": str(run.pk)}, scope=scope_of(run))
            run.save(update_fields=["job"])
            audit.record(
                name_of(actor) or audit.SITE,
                "start",
                run,
                after={"targets": len(chosen), "project": project.pk if project else None},
            )
            news.happened(run, news.STARTED, by=name_of(actor))
    except IntegrityError as error:
        active = BulkCollectionRun.objects.running().first()
        if active is None:
            # A repository went meanwhile, or the other collection has ended in this moment.
            raise Refusal(
                "collection_changed",
                _("Something was changed in this moment. Try again."),
            ) from error
        raise _running(active, actor) from error
    return run


def _running(run: BulkCollectionRun, actor: Actor) -> Refusal:
    if not visible_runs(actor).filter(pk=run.pk).exists():
        return Refusal(
            "collection_running",
            _("A collection of another project is running. Try again when it has ended."),
        )
    return Refusal(
        "collection_running",
        _("A collection is running already. Wait for it, or stop it."),
        run_id=str(run.pk),
    )


def _nothing(continues: BulkCollectionRun | None) -> Refusal:
    if continues is not None:
        message = _("There is nothing left of it to collect.")
    else:
        message = _("There is nothing to collect. Add a repository first, or let one go on.")
    return Refusal("nothing_to_collect", message)
