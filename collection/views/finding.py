"""What the pages of a project see of repositories and collections, and who may do what with them.

An operator's repositories belong to no project: every project sees them, and those who may collect
everything look after them. Of a collection over all projects each sees its own targets alone.
"""

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import Http404
from django.utils.translation import gettext as _

from collection.access import may_collect_all, runs_of
from collection.models import BulkCollectionRun, Repository
from projects.access import Action, Actor, can, project_for
from projects.models import Project


def repository_of(project: Project, repository_id: int) -> Repository:
    seen = Repository.objects.seen_by(project).select_related("project", "added_by")
    found: Repository | None = seen.filter(pk=repository_id).first()
    if found is None:
        raise Http404(_("This project has no such repository."))
    return found


def repository_for(
    actor: Actor, project_id: int, repository_id: int, action: Action
) -> tuple[Project, Repository]:
    """For somebody who wants to do something with it."""
    project = project_for(actor, project_id)
    repository = repository_of(project, repository_id)
    if repository.project_id is None:
        _must_look_after_all(actor)
    else:
        project_for(actor, project_id, action)
    return project, repository


def may(actor: Actor, action: Action, project: Project, repository: Repository) -> bool:
    if repository.project_id is None:
        return may_collect_all(actor)
    return can(actor, action, project)


def run_of(actor: Actor, project: Project, run_id: UUID) -> BulkCollectionRun:
    runs = runs_of(project)
    if may_collect_all(actor):
        runs = BulkCollectionRun.objects.filter(Q(project=project) | Q(project__isnull=True))
    found: BulkCollectionRun | None = (
        runs.select_related("project", "actor", "continues").filter(pk=run_id).first()
    )
    if found is None:
        raise Http404(_("This project has no such collection."))
    return found


def run_for(actor: Actor, project_id: int, run_id: UUID) -> tuple[Project, BulkCollectionRun]:
    """For somebody who wants to stop it, or to go on from it."""
    project = project_for(actor, project_id)
    run = run_of(actor, project, run_id)
    if run.project_id is None:
        _must_look_after_all(actor)
    else:
        project_for(actor, project_id, Action.EDIT)
    return project, run


def may_steer(actor: Actor, project: Project, run: BulkCollectionRun) -> bool:
    return may_collect_all(actor) if run.project_id is None else can(actor, Action.EDIT, project)


def seen_in(actor: Actor, project: Project, run: BulkCollectionRun) -> Q | None:
    """Which results of a collection these pages show; None: all."""
    return None if run.project_id is not None else seen_of_all(actor, project)


def seen_of_all(actor: Actor, project: Project) -> Q | None:
    """Which results of collections over all projects; None: all."""
    if may_collect_all(actor):
        return None
    return Q(repository__project=project) | Q(repository__project__isnull=True)


def _must_look_after_all(actor: Actor) -> None:
    if not may_collect_all(actor):
        raise PermissionDenied(
            _("This is for all projects: it takes the permission to collect all repositories.")
        )
